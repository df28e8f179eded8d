// HostIdentity: the host name and the boot id, by which programs tell hosts
// apart.  Each run has its own.
#ifndef IBEMU_LAUNCH_HOST_IDENTITY_H_
#define IBEMU_LAUNCH_HOST_IDENTITY_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "launch/mount_plan.h"

namespace ibemu::launch {

// The identity of a host.  Open MPI and MPICH go by its name.  UCX, and all
// that uses it, go by the boot id: processes with the same one talk through
// shared memory.
struct HostIdentity {
  // A host whose name programs can look up.
  struct Other {
    std::string address;  // "198.18.0.2"
    std::string name;
  };

  std::string name;  // as of sethostname(2); empty: the machine's
  std::string address = "127.0.1.1";  // that the name leads to
  // "6a4bd7e0-9b0b-4b5e-8a06-3c8c3b1a3c55"; empty where the machine has none.
  std::string boot_id{};
  std::vector<Other> others{};
};

// A host's name for a node that describes itself as `description`: its first
// word, as far as it fits into a name.  Empty if there is none.
std::string HostName(std::string_view description);

// The boot id of the host that is `node` in `fabric`, on a machine that has
// `machine`.  The same for the same, and for nothing else.
std::string BootId(std::string_view machine, std::string_view fabric,
                   std::string_view node);

// A new /etc/hosts, from the machine's.  A host must know its own name, which
// leads to itself; an empty one is the machine's.  Of the others, those that
// have a name; a name that is known already, the machine's or the host's own,
// stays what it is.
std::string AddToHosts(std::string_view hosts, const HostIdentity& host);

// Makes this process and all that come from it appear as on that host.  To be
// called when the stage of the run is there.
absl::Status BecomeHost(const HostIdentity& host);

}  // namespace ibemu::launch

#endif  // IBEMU_LAUNCH_HOST_IDENTITY_H_

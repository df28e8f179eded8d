// What one `ibemu run` (or the CUSE front end) shows: devices under one
// numbering.
#ifndef IBEMU_SYSFS_VIEW_H_
#define IBEMU_SYSFS_VIEW_H_

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "mad/host.h"

namespace ibemu::sysfs {

// What a device looks like to programs that look at more than its ports.
enum class Profile {
  kQib,  // QLogic QLE7322 (1077:7322): stock libibverbs drives it by write()
  kCx7,  // ConnectX-7 identity (15b3:1021), for tools that look at it
};

struct ViewDevice {
  std::string name;  // "ibemu0": at most 19 characters
  std::shared_ptr<mad::Host> host;
  int first_umad = 0;         // port first_port() is umadN and issmN, and so on
  std::optional<int> uverbs;  // the N of uverbsN; none: no verbs objects
};

struct View {
  Profile profile = Profile::kQib;
  std::vector<ViewDevice> devices;
  int cpu_count = 1;  // the machine's, for PCI's local_cpus
};

// libibumad 44 knows no more (UMAD_MAX_DEVICES, UMAD_MAX_PORTS) and has room
// for names of 19 characters (UMAD_CA_NAME_LEN).
inline constexpr int kMaxViewDevices = 32;
inline constexpr int kMaxViewPorts = 64;
inline constexpr int kMaxDeviceName = 19;

// Numbers `hosts`, in order: names after `name_format` ("ibemu%d"; a single
// host may do without %d), umad and issm numbers running on over all ports.
//
// Errors: InvalidArgument when the format is not one or a name gets too long,
// ResourceExhausted past the limits above.
absl::StatusOr<View> MakeView(std::vector<std::shared_ptr<mad::Host>> hosts,
                              std::string_view name_format, Profile profile);

}  // namespace ibemu::sysfs

#endif  // IBEMU_SYSFS_VIEW_H_

// ClientIdentity: the identity that a thread of a client has to the file
// system.
#ifndef IBEMU_LAUNCH_SUPERVISOR_CLIENT_IDENTITY_H_
#define IBEMU_LAUNCH_SUPERVISOR_CLIENT_IDENTITY_H_

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace ibemu::launch {

// The identity of a thread by which the kernel decides whether it may open a
// file.  Capabilities are left out, for they may come from namespaces of the
// client's own.
struct ClientIdentity {
  pid_t process = 0;
  uid_t user = 0;  // the real one, who pays for the process
  uid_t file_user = 0;
  gid_t file_group = 0;
  std::vector<gid_t> groups;

  // Reads /proc/TID/status.  Empty if the thread has gone.  The caller must
  // know that `tid` still is the thread it means.
  static std::optional<ClientIdentity> Of(pid_t tid);
  // Parses the text of /proc/TID/status.  Empty if something is missing.
  static std::optional<ClientIdentity> Parse(std::string_view status);

  bool operator==(const ClientIdentity&) const = default;
};

// An ActingAs gives the calling thread the identity of a client as long as it
// lives: files are opened as the client would open them.  Other threads keep
// their identity, and the client can't send it signals.
class ActingAs {
 public:
  explicit ActingAs(const ClientIdentity& client);
  ActingAs(const ActingAs&) = delete;
  ActingAs& operator=(const ActingAs&) = delete;
  // Ends the process if the thread can't be itself again.
  ~ActingAs();

  // Whether it worked.  If not, nothing may be opened for the client.
  bool ok() const { return ok_; }

 private:
  struct Capabilities {
    uint32_t effective, permitted, inheritable;
  };

  bool Become(const ClientIdentity& client);

  const uid_t own_user_;
  const gid_t own_group_;
  std::vector<gid_t> own_groups_;
  Capabilities own_capabilities_[2] = {};
  bool other_groups_ = false;
  bool ok_ = false;
};

}  // namespace ibemu::launch

#endif  // IBEMU_LAUNCH_SUPERVISOR_CLIENT_IDENTITY_H_

// CallerCredentials: with which rights a thread makes a request to us.
#ifndef IBEMU_CUSE_CLIENT_CALLER_CREDENTIALS_H_
#define IBEMU_CUSE_CLIENT_CALLER_CREDENTIALS_H_

#include <sys/types.h>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "absl/container/flat_hash_map.h"

namespace ibemu::cuse {

// The credentials of a thread: all that /proc shows of its struct cred, and
// whether its process may be dumped.  Who has the same ones has the same
// rights.
struct Credentials {
  // Lines of /proc/TID/status: the real, effective, saved and file system ids,
  // the groups, the sets of capabilities.
  std::string lines;
  // The user namespace, if the thread has capabilities, which count there.
  std::string user_namespace;
  // The owner of /proc/TID/status: the thread's effective ids, or root where
  // the process may not be dumped.  So it is after a set-id program was
  // started, even if that has given up its rights since.
  uid_t owner = 0;
  gid_t owner_group = 0;

  // Returns the lines that count of the text of /proc/TID/status; empty if one
  // is missing.
  static std::string LinesOf(std::string_view status);

  bool operator==(const Credentials&) const = default;
};

// The credentials of threads that are blocked in requests to us.
//
// A thread may come back with other credentials, as it may have started another
// program or changed its ids.  To read them takes half as long as a command, so
// they are read when one of their signs has changed.
class CallerCredentials {
 public:
  // Returns the credentials of thread `tid` as they are now; null if they can't
  // be found out.  Valid until the next call.
  const Credentials* Of(pid_t tid);

 private:
  // What changes with a thread's credentials, and costs little to look at.
  struct Signs {
    // Those of /proc/TID/status: another thread of the same number has other
    // ones.
    ino_t inode = 0;
    int64_t made_seconds = 0;
    int64_t made_nanoseconds = 0;
    // Effective ids, or root for a process that may not be dumped.
    uid_t owner = 0;
    gid_t owner_group = 0;
    // Effective ids: the owner of /proc/TID.
    uid_t user = 0;
    gid_t group = 0;
    std::array<uint32_t, 6> capabilities{};
    // The address of its list of robust futexes, which libc sets when a program
    // starts, and the kernel clears.  A set-id program that then wants to be
    // dumped again has another one.
    uint64_t robust_list = 0;

    bool operator==(const Signs&) const = default;
  };
  struct Known {
    Signs signs;
    Credentials credentials;
  };

  static std::optional<Signs> SignsOf(pid_t tid);
  static std::optional<Credentials> Read(pid_t tid, const Signs& signs);

  absl::flat_hash_map<pid_t, Known> known_;
};

}  // namespace ibemu::cuse

#endif  // IBEMU_CUSE_CLIENT_CALLER_CREDENTIALS_H_

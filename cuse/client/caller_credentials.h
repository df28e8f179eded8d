// CallerCredentials: the rights with which the threads of clients make requests
// to us.
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
  // Of a process that may not be dumped: its auxiliary vector.  A forked child
  // has the same one, another program other addresses.
  std::string program;
  // True if that program was started with more rights than its starter had,
  // set-id or with capabilities (AT_SECURE), or if that can't be found out.
  bool secure = false;

  // Returns the lines that count of the text of /proc/TID/status; empty if one
  // is missing.
  static std::string LinesOf(std::string_view status);

  // Returns AT_SECURE of an auxiliary vector, of a program of 64 bits or of 32.
  // One that has none counts as secure.
  static bool IsSecure(std::string_view auxv);

  // Returns true if no other rights show than those of one plain user: his ids,
  // and no capability.
  bool IsPlain() const;

  // Returns true if these are the file system ids.
  bool ActsAs(uid_t user, gid_t group) const;

  // Returns true if who has these may make requests to a file that somebody
  // with the credentials `opener` opened.  A secure program that looks plain
  // may not at all: the opener could have been the same program, started
  // without its rights (PR_SET_NO_NEW_PRIVS) and with his code in it.
  bool MayUseFileOf(const Credentials& opener) const {
    return *this == opener && !(secure && IsPlain());
  }

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
    // Effective ids: the owner of /proc/TID, if that may be another.
    uid_t user = 0;
    gid_t group = 0;
    std::array<uint32_t, 6> capabilities{};
    // Its executable, which is another one after a set-id program or one with
    // capabilities was started.  0 if we may not look, and then we have no
    // access to its memory either.
    dev_t device = 0;
    ino_t executable = 0;
    // The address of its list of robust futexes, which libc sets when a program
    // starts: the same file may be started with its rights and without.
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

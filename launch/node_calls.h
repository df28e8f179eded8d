// Answers the system calls that the filter of a run stops.
#ifndef IBEMU_LAUNCH_NODE_CALLS_H_
#define IBEMU_LAUNCH_NODE_CALLS_H_

#include <linux/seccomp.h>

#include <mutex>

#include "base/unique_fd.h"
#include "launch/client_identity.h"

namespace ibemu::launch {

// See NodeSupervisor.  A thread that waits for a page of a client, or for a
// daemon, waits alone.
class NodeCalls {
 public:
  NodeCalls(int listener, int first_fd)
      : listener_(listener), first_fd_(first_fd) {}

  // Returns when no process has the filter any more.
  void Serve();

 private:
  void Loop();
  void Handle(const seccomp_notif& call);

  // Each answers `call` unless it returns false: then it goes on as it is.
  bool Open(const seccomp_notif& call, uint64_t path, uint64_t flags);
  bool Stat(const seccomp_notif& call);
  bool StatX(const seccomp_notif& call);
  // Never answers, but prepares.
  void Write(const seccomp_notif& call);
  // Puts event files into the client until it has enough.  `node`: of an open
  // file of its device, or O_PATH.
  void GiveEventFiles(const seccomp_notif& call, const ClientIdentity& client,
                      const UniqueFd& node) const;

  bool IsValid(const seccomp_notif& call) const;
  // Sends the result of a call: 0, or an errno.
  void Finish(const seccomp_notif& call, int error) const;
  void GoOn(const seccomp_notif& call) const;
  // Answers an open() with `fd`, as `number` of the client.
  bool GiveOpened(const seccomp_notif& call, int fd, int number,
                  bool close_on_exec) const;
  // Puts `fd` into the client; its number there, or -1 and errno.
  int Give(const seccomp_notif& call, int fd) const;

  const int listener_;
  const int first_fd_;
  std::mutex receiving_;
  std::mutex giving_;
};

}  // namespace ibemu::launch

#endif  // IBEMU_LAUNCH_NODE_CALLS_H_

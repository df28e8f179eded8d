// NodeCalls: the system calls that the filter of a run stops, and their
// answers.
#ifndef IBEMU_LAUNCH_SUPERVISOR_NODE_CALLS_H_
#define IBEMU_LAUNCH_SUPERVISOR_NODE_CALLS_H_

#include <linux/seccomp.h>

#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <utility>

#include "base/unique_fd.h"
#include "launch/supervisor/call_shares.h"
#include "launch/supervisor/client_identity.h"
#include "launch/supervisor/seccomp.h"

namespace ibemu::launch {

// A NodeCalls answers the calls that NodeSupervisor lists, in its process.
//
// A client may name memory or files that never answer.  So each call has a
// thread of its own while it lasts: there is always one more that waits for the
// next call.  Beyond a client's share (CallShares), or where there are no more
// threads, calls go on as if nobody had stopped them: then a device of ours
// can't be opened, and other files can.
class NodeCalls : public std::enable_shared_from_this<NodeCalls> {
 public:
  // Serves the filter of `listener`; puts devices at `fds`.
  // Returns when no process has the filter any more.  Threads that are held up
  // are left behind: they end when they may, or with the process.
  static void Serve(UniqueFd listener, NodeFds fds);

 private:
  NodeCalls(UniqueFd listener, NodeFds fds);

  void Run();
  // Each thread's.
  void Loop();
  // Waits for a call.  False: there will be none.
  bool Receive(seccomp_notif& call);
  // Whether this thread, which is one of those that wait, may turn to a call of
  // `tid`.
  std::optional<CallShares::Ticket> Begin(pid_t tid);
  // Whether it should wait for calls again.
  bool End(CallShares::Ticket ticket);
  bool StartThread();
  void Leave();

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

  // Chooses a number of the client for `file` and answers with it.
  void GiveNode(const seccomp_notif& call, pid_t process, const UniqueFd& file,
                bool close_on_exec);

  const UniqueFd listener_;
  const NodeFds fds_;
  std::mutex receiving_;

  std::mutex mutex_;  // guards what follows; held for moments only
  std::condition_variable left_;
  bool ended_ = false;
  size_t threads_ = 0;  // all of them
  size_t waiting_ = 0;  // of them, for calls
  CallShares shares_;
  // The descriptor numbers that calls under way have chosen, by process: no two
  // calls may choose the same.
  std::set<std::pair<pid_t, int>> numbers_;
};

}  // namespace ibemu::launch

#endif  // IBEMU_LAUNCH_SUPERVISOR_NODE_CALLS_H_

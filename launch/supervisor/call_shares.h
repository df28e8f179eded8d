// CallShares: the limits on the calls of clients that may be under way at a
// time.
#ifndef IBEMU_LAUNCH_SUPERVISOR_CALL_SHARES_H_
#define IBEMU_LAUNCH_SUPERVISOR_CALL_SHARES_H_

#include <sys/types.h>

#include <functional>
#include <list>
#include <optional>

namespace ibemu::launch {

// A CallShares counts the calls under way, of which a process has a share, and
// a user one.  A call may be held up for ever by the memory or the files that
// its client names: who keeps his share under way leaves the rest to others.
class CallShares {
 public:
  struct Limits {
    size_t free;  // with fewer calls under way nobody is asked for an owner
    size_t of_process;
    size_t of_user;
  };
  struct Owner {
    pid_t process = 0;
    uid_t user = 0;
  };
  // Finds the owner of a thread; empty when it has gone.
  using FindOwner = std::function<std::optional<Owner>(pid_t tid)>;

  CallShares(Limits limits, FindOwner find)
      : limits_(limits), find_(std::move(find)) {}

  // A call under way; to be given to End() once.
  struct Call {
    pid_t tid = 0;
    std::optional<Owner> owner;  // once somebody asked
  };
  using Ticket = std::list<Call>::iterator;

  // Notes a call of thread `tid`.  Empty: it would be beyond its owner's share,
  // or there is none.
  std::optional<Ticket> Begin(pid_t tid);
  void End(Ticket call) { calls_.erase(call); }

 private:
  const Limits limits_;
  const FindOwner find_;
  std::list<Call> calls_;
};

}  // namespace ibemu::launch

#endif  // IBEMU_LAUNCH_SUPERVISOR_CALL_SHARES_H_

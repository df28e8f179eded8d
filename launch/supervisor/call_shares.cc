#include "launch/supervisor/call_shares.h"

namespace ibemu::launch {

std::optional<CallShares::Ticket> CallShares::Begin(pid_t tid) {
  Call call{.tid = tid, .owner = std::nullopt};
  if (calls_.size() >= limits_.free) {
    call.owner = find_(tid);
    if (!call.owner) return std::nullopt;
    size_t of_process = 0;
    size_t of_user = 0;
    for (Call& other : calls_) {
      if (!other.owner) other.owner = find_(other.tid);
      if (!other.owner) continue;  // it has gone, and ends soon
      if (other.owner->process == call.owner->process) ++of_process;
      if (other.owner->user == call.owner->user) ++of_user;
    }
    if (of_process >= limits_.of_process || of_user >= limits_.of_user) {
      return std::nullopt;
    }
  }
  return calls_.insert(calls_.end(), call);
}

}  // namespace ibemu::launch

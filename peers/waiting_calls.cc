#include "peers/waiting_calls.h"

#include <grpc/grpc.h>
#include <grpc/support/time.h>
#include <grpcpp/alarm.h>
#include <grpcpp/grpcpp.h>

#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "peers/caller.h"

namespace ibemu::peers {

// A Limit is what a Wait shares with gRPC's timer, which may go off when the
// Wait has just ended.
struct WaitingCalls::Wait::Limit {
  std::mutex mutex;
  std::function<void()> cancel;  // until the end of the Wait; guarded by it
};

WaitingCalls::Wait::Wait(WaitingCalls& all, std::string peer,
                         std::function<void()> cancel)
    : all_(all),
      peer_(std::move(peer)),
      limit_(std::make_shared<Limit>()),
      alarm_(std::make_unique<grpc::Alarm>()) {
  limit_->cancel = std::move(cancel);
  alarm_->Set(gpr_time_add(gpr_now(GPR_CLOCK_MONOTONIC),
                           gpr_time_from_millis(
                               absl::ToInt64Milliseconds(all_.waits_for_),
                               GPR_TIMESPAN)),
              [limit = limit_](bool is_over) {
                const std::lock_guard lock(limit->mutex);
                if (is_over && limit->cancel) limit->cancel();
              });
}

WaitingCalls::Wait::~Wait() {
  {
    const std::lock_guard lock(limit_->mutex);
    limit_->cancel = nullptr;
  }
  const std::lock_guard lock(all_.mutex_);
  const auto waiting = all_.waiting_.find(peer_);
  if (--waiting->second == 0) all_.waiting_.erase(waiting);
}

absl::StatusOr<std::unique_ptr<WaitingCalls::Wait>> WaitingCalls::Begin(
    const std::string& peer, std::function<void()> cancel) {
  {
    const std::lock_guard lock(mutex_);
    size_t& count = waiting_[peer];
    if (count == kMaxOfOne) {
      return absl::ResourceExhaustedError(
          absl::StrCat(kMaxOfOne, " calls of ", peer,
                       " have not said yet what they want: no more may wait"));
    }
    ++count;
  }
  return std::make_unique<Wait>(*this, peer, std::move(cancel));
}

absl::StatusOr<std::unique_ptr<WaitingCalls::Wait>> WaitingCalls::Begin(
    grpc::ServerContext& context) {
  return Begin(NameOf(context), [this, call = context.c_call()] {
    const std::string why =
        absl::StrCat("the call has not begun, or not ended, within ",
                     absl::FormatDuration(waits_for_));
    grpc_call_cancel_with_status(call, GRPC_STATUS_DEADLINE_EXCEEDED,
                                 why.c_str(), nullptr);
  });
}

}  // namespace ibemu::peers

// WaitingCalls: calls that hold a thread, and have not said what they want.
#ifndef IBEMU_PEERS_WAITING_CALLS_H_
#define IBEMU_PEERS_WAITING_CALLS_H_

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace grpc {
class Alarm;
class ServerContext;
}  // namespace grpc

namespace ibemu::peers {

// A WaitingCalls bounds, for each peer, how many of its calls wait and for how
// long, so that others find a thread.  May be used by several threads.
class WaitingCalls {
 public:
  // Of one certificate.  A machine joins with one host after the other, and
  // says at once with which: these are hundreds of its daemons in one moment.
  static constexpr size_t kMaxOfOne = 256;
  // Who joins gives up after half of it: SubnetProxy.
  static constexpr absl::Duration kWaitsFor = absl::Seconds(10);

  // A Wait is the time in which a call waits.
  class Wait {
   public:
    Wait(WaitingCalls& all, std::string peer, std::function<void()> cancel);
    ~Wait();
    Wait(const Wait&) = delete;
    Wait& operator=(const Wait&) = delete;

   private:
    struct Limit;

    WaitingCalls& all_;
    const std::string peer_;
    const std::shared_ptr<Limit> limit_;
    const std::unique_ptr<grpc::Alarm> alarm_;
  };

  explicit WaitingCalls(absl::Duration waits_for = kWaitsFor)
      : waits_for_(waits_for) {}

  // A call of `peer` waits as long as the result lives, which is not longer
  // than this.  `cancel` is called, by another thread, if that is too long.
  //
  // Errors: ResourceExhausted, as many of its calls wait as may.
  absl::StatusOr<std::unique_ptr<Wait>> Begin(const std::string& peer,
                                              std::function<void()> cancel);

  // The same for the caller of `context`, whose call ends as DeadlineExceeded.
  absl::StatusOr<std::unique_ptr<Wait>> Begin(grpc::ServerContext& context);

 private:
  const absl::Duration waits_for_;
  std::mutex mutex_;
  std::map<std::string, size_t> waiting_;  // by peer; guarded by it
};

}  // namespace ibemu::peers

#endif  // IBEMU_PEERS_WAITING_CALLS_H_

// LeasedSender: the sending end of a lease's connection.
#ifndef IBEMU_DAEMON_REMOTE_NODE_LEASES_LEASED_SENDER_H_
#define IBEMU_DAEMON_REMOTE_NODE_LEASES_LEASED_SENDER_H_

#include <cstdint>
#include <functional>
#include <memory>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "base/unique_fd.h"
#include "control/bounded_stream.h"
#include "fabric/packet/packet.h"
#include "loop/loop.h"

namespace ibemu::daemon {

// A LeasedSender sends packets over a stream socket, several at once where a
// handler makes several, and tells how many it has sent.  What the other end
// does not take is kept; where BoundedStream is full packets are lost, as in a
// switch whose buffer overflows.
class LeasedSender {
 public:
  // After that time it tells what was sent.
  static constexpr absl::Duration kReportAfter = absl::Milliseconds(20);

  // Packets, and words of 4 bytes, since the last report.
  using Report = std::function<void(uint64_t packets, uint64_t words)>;

  // `loop` must outlive this.
  LeasedSender(Loop& loop, UniqueFd socket, Report report);
  ~LeasedSender();
  LeasedSender(const LeasedSender&) = delete;
  LeasedSender& operator=(const LeasedSender&) = delete;

  // Calls `lost` when nobody takes packets any more; it may not destroy this.
  absl::Status Start(const std::function<void()>& lost);

  // Sends a packet, or several of one message.
  void Send(int port, const fabric::Packet& packets);
  // Reports what is not reported yet, and ends the stream after what is kept.
  void Finish();

 private:
  void ReportNow();

  Loop& loop_;
  control::BoundedStream stream_;
  const Report report_;
  uint64_t packets_ = 0, words_ = 0;  // not reported yet
  TimerId report_timer_ = TimerId::kNone;
  // Expires with this: for tasks.
  const std::shared_ptr<LeasedSender*> self_ =
      std::make_shared<LeasedSender*>(this);
};

}  // namespace ibemu::daemon

#endif  // IBEMU_DAEMON_REMOTE_NODE_LEASES_LEASED_SENDER_H_

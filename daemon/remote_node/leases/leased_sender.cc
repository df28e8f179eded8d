#include "daemon/remote_node/leases/leased_sender.h"

#include <utility>

#include "daemon/remote_node/format/packet_train.h"

namespace ibemu::daemon {

LeasedSender::LeasedSender(Loop& loop, UniqueFd socket, Report report)
    : loop_(loop),
      stream_(loop, std::move(socket)),
      report_(std::move(report)) {}

LeasedSender::~LeasedSender() { loop_.Cancel(report_timer_); }

absl::Status LeasedSender::Start(const std::function<void()>& lost) {
  return stream_.Start(lost, lost);
}

void LeasedSender::Send(int port, const fabric::Packet& packets) {
  if (stream_.full()) return;
  packets_ += packets.Count();
  words_ += packets.Words();
  if (report_timer_ == TimerId::kNone) {
    report_timer_ = loop_.RunAfter(kReportAfter, [weak = std::weak_ptr(self_)] {
      if (const auto self = weak.lock()) (*self)->ReportNow();
    });
  }
  AppendPackets(port, packets, stream_.buffer());
  stream_.SendSoon();
}

void LeasedSender::Finish() {
  ReportNow();
  stream_.Finish();
}

void LeasedSender::ReportNow() {
  loop_.Cancel(std::exchange(report_timer_, TimerId::kNone));
  const uint64_t packets = std::exchange(packets_, 0);
  const uint64_t words = std::exchange(words_, 0);
  if (packets > 0) report_(packets, words);
}

}  // namespace ibemu::daemon

// Arbitrary ACKs and timeouts: the sender never sends what it does not have,
// nor beyond the window.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <vector>

#include "mad/rmpp_sender.h"

using ibemu::mad::MadBytes;
using ibemu::mad::RmppHeader;
using ibemu::mad::RmppSender;
using ibemu::mad::RmppType;

namespace {

void DrainWindow(RmppSender& sender, uint32_t window) {
  MadBytes mad;
  for (uint32_t n = 0; sender.NextSegment(mad); ++n) {
    if (n > sender.segments()) std::abort();
    const auto header = ibemu::wire::Decode<RmppHeader>(
        std::span(mad).subspan(ibemu::mad::kRmppHeaderOffset));
    if (header.segment == 0 || header.segment > sender.segments() ||
        header.segment > window) {
      std::abort();
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  constexpr size_t kHeader = 56;
  constexpr size_t kStep = 4;
  if (size < 2) return 0;
  RmppSender sender(std::vector<std::byte>(kHeader + data[0] * size_t{30}),
                    kHeader, 1, data[1] % 8);
  uint32_t window = 1;
  DrainWindow(sender, window);
  for (size_t at = 2; at + kStep <= size; at += kStep) {
    const uint8_t* in = data + at;
    if (in[0] % 8 == 0) {
      if (sender.OnTimeout()) DrainWindow(sender, window);
      continue;
    }
    const RmppHeader ack{.type = RmppType(in[0] % 8),
                         .segment = in[1],
                         .length_or_window = uint32_t{in[2]} << (in[3] % 25)};
    if (RmppSender::Check(ack) || ack.type != RmppType::kAck) continue;
    const RmppSender::Step step =
        sender.OnAck(ack.segment, ack.length_or_window);
    if (step == RmppSender::Step::kProgress) {
      window = std::max(window, ack.length_or_window);
      DrainWindow(sender, window);
    }
    if ((step == RmppSender::Step::kAllAcknowledged) &&
        !sender.all_acknowledged()) {
      std::abort();
    }
  }
  return 0;
}

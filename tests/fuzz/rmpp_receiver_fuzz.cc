// Arbitrary DATA packets: the message never outgrows what arrived.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <span>

#include "mad/rmpp_receiver.h"

using ibemu::mad::MadBytes;
using ibemu::mad::RmppHeader;
using ibemu::mad::RmppReceiver;
using ibemu::mad::RmppType;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  constexpr size_t kHeaders[] = {40, 56, 64};
  constexpr size_t kStep = 4;
  if (size == 0) return 0;
  RmppReceiver receiver(kHeaders[data[0] % 3]);
  bool done = false;
  size_t packets = 0;
  for (size_t at = 1; at + kStep <= size; at += kStep) {
    const uint8_t* in = data + at;
    const RmppHeader header{
        .type = RmppType::kData,
        .last = (in[0] & 1) != 0,
        .first = (in[0] & 2) != 0,
        .segment = (in[0] & 4) != 0 ? ~uint32_t{in[1]} : uint32_t{in[1]},
        .length_or_window = uint32_t{in[2]} << (in[3] % 25)};
    if (RmppReceiver::Check(header)) continue;
    MadBytes mad;
    mad.fill(std::byte{in[3]});
    ++packets;
    const RmppReceiver::Outcome outcome = receiver.OnData(header, mad);
    if (outcome.reply && outcome.reply->type != RmppType::kAck) std::abort();
    if (!outcome.complete) continue;
    if (done || !outcome.reply) std::abort();
    done = true;
    const size_t bytes = receiver.TakeMessage().size();
    if (bytes < 36 || bytes > packets * mad.size()) std::abort();
  }
  return 0;
}

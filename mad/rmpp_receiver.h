// The receiving side of the reliable multi-packet protocol.
#ifndef IBEMU_MAD_RMPP_RECEIVER_H_
#define IBEMU_MAD_RMPP_RECEIVER_H_

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "mad/address.h"
#include "mad/wire/mad_header.h"
#include "mad/wire/rmpp.h"

namespace ibemu::mad {

// One message on its way in, IBA vol 1 §13.6.  A pure state machine: the owner
// sends the replies and gives up after its time.
class RmppReceiver {
 public:
  // Segments in flight after the first one; Linux's default receive queue / 8.
  static constexpr uint32_t kWindow = 64;

  struct Outcome {
    std::optional<RmppHeader> reply = std::nullopt;
    bool complete = false;  // just now; take the message
  };

  // `header_bytes`: the class's header, which each segment repeats.
  explicit RmppReceiver(size_t header_bytes) : header_bytes_(header_bytes) {}

  // What is wrong with a DATA packet, whatever came before; the answer is an
  // ABORT with this code.
  static std::optional<RmppStatus> Check(const RmppHeader& data);

  // A DATA packet.  Requires that Check() found nothing and that `mad` is a
  // whole MAD with this RMPP header.
  Outcome OnData(const RmppHeader& data, Bytes mad);

  bool complete() const { return complete_; }

  // The header of the first segment and all data.  May be shorter than the
  // header: the sender's length says so.  Requires complete(); once.
  std::vector<std::byte> TakeMessage() { return std::move(message_); }

  // Bytes set aside for the message so far, for tests.  Whatever the sender
  // announces: at most 8 times what has arrived without a gap, or what ends
  // with the window; after the first megabyte up to 256 MiB or twice that,
  // which are addresses until something is written there.
  size_t capacity() const { return message_.capacity(); }

 private:
  Outcome Ack();
  void Keep(const RmppHeader& data, Bytes mad);
  void Trim();

  size_t header_bytes_;
  uint32_t received_ = 0;     // everything up to this segment is here
  uint32_t window_last_ = 1;  // the last segment that the sender may send
  uint32_t acknowledged_ = 0;
  uint64_t held_ = 0;  // bit n: segment received_ + 1 + n is here too
  uint32_t last_ = 0;  // the segment with the Last flag; 0: not seen
  uint32_t last_length_ = 0;
  bool complete_ = false;
  size_t announced_ = 0;  // bytes of the message, says its first segment
  std::vector<std::byte> message_;
};

}  // namespace ibemu::mad

#endif  // IBEMU_MAD_RMPP_RECEIVER_H_

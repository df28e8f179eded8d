// RmppReceiver: the receiving side of the reliable multi-packet protocol.
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

// An RmppReceiver assembles one message from its segments, IBA vol 1 §13.6.  It
// is a pure state machine: the owner sends the replies, and gives up when it
// takes too long.
class RmppReceiver {
 public:
  // The number of segments in flight after the first one: an eighth of Linux's
  // default receive queue.
  static constexpr uint32_t kWindow = 64;

  struct Outcome {
    std::optional<RmppHeader> reply = std::nullopt;
    bool complete = false;  // since this packet: take the message
  };

  // `header_bytes` is the length of the class's header, which each segment
  // repeats.
  explicit RmppReceiver(size_t header_bytes) : header_bytes_(header_bytes) {}

  // Returns what is wrong with a DATA packet, regardless of earlier ones, or
  // nothing.  The answer to a wrong packet is an ABORT with this code.
  static std::optional<RmppStatus> Check(const RmppHeader& data);

  // Handles a DATA packet.  Requires that Check() found nothing and that `mad`
  // is a whole MAD with this RMPP header.
  Outcome OnData(const RmppHeader& data, Bytes mad);

  bool complete() const { return complete_; }

  // Returns the header of the first segment and all data.  The result may be
  // shorter than the header, because the sender gives the length.  Requires
  // complete(), and may be called once.
  std::vector<std::byte> TakeMessage() { return std::move(message_); }

  // Returns the number of bytes reserved for the message so far, for tests.
  // Whatever length the sender announces, this is at most 8 times what has
  // arrived without a gap, or what the window requires.  After the first
  // megabyte it is at most 256 MiB, or twice what has arrived; bytes that were
  // never written take up address space but no memory.
  size_t capacity() const { return message_.capacity(); }

 private:
  Outcome Ack();
  void Keep(const RmppHeader& data, Bytes mad);
  void Trim();

  size_t header_bytes_;
  uint32_t received_ = 0;     // all segments up to this one are here
  uint32_t window_last_ = 1;  // the last segment that the sender may send
  uint32_t acknowledged_ = 0;
  uint64_t held_ = 0;  // bit n: segment received_ + 1 + n is here too
  uint32_t last_ = 0;  // the segment with the Last flag; 0: not seen
  uint32_t last_length_ = 0;
  bool complete_ = false;
  size_t announced_ = 0;  // length according to the first segment
  std::vector<std::byte> message_;
};

}  // namespace ibemu::mad

#endif  // IBEMU_MAD_RMPP_RECEIVER_H_

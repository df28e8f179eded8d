// RmppSender: the sending side of the reliable multi-packet protocol.
#ifndef IBEMU_MAD_RMPP_SENDER_H_
#define IBEMU_MAD_RMPP_SENDER_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "mad/address.h"
#include "mad/wire/mad_header.h"
#include "mad/wire/rmpp.h"

namespace ibemu::mad {

// An RmppSender cuts one message into segments, IBA vol 1 §13.6.  It is a pure
// state machine: the owner transmits what NextSegment() gives until it gives
// nothing, then waits for an ACK or for its timer.
class RmppSender {
 public:
  // `message` is the class's header of `header_bytes`, followed by all data.
  // The contents of its RMPP header are replaced.  `window` segments are sent
  // before the first ACK.
  RmppSender(std::vector<std::byte> message, size_t header_bytes,
             uint32_t window, int retries);

  // Fills `segment` with the next one to send.  Returns false if the owner must
  // wait for an ACK.
  bool NextSegment(MadBytes& segment);

  // Returns true if NextSegment() has a segment now.
  bool ready() const { return sent_ < segments_ && sent_ < window_last_; }

  // Returns what is wrong with a packet of the receiver, regardless of what was
  // sent, or nothing.  The answer to a wrong packet is an ABORT with this code.
  // Requires a type other than DATA.
  static std::optional<RmppStatus> Check(const RmppHeader& control);

  // The consequence of an ACK.
  enum class Step {
    kIgnore,
    kProgress,         // send more, start the timer anew
    kAllAcknowledged,  // the last ACK: the receiver has everything
    kRepeatedAck,      // the last ACK again: our ACK of it was lost
    kSegmentTooBig,    // an ACK of a segment never sent: abort
  };

  // Handles an ACK.  Requires that Check() found nothing.
  Step OnAck(uint32_t segment, uint32_t new_window_last);

  // Handles the end of the wait for an ACK.  Returns true if the owner must
  // send again, from the first segment without ACK on, and false if no retry is
  // left.
  bool OnTimeout();

  bool all_acknowledged() const { return acknowledged_ == segments_; }
  uint32_t segments() const { return segments_; }
  uint32_t acknowledged() const { return acknowledged_; }
  // Returns how often the first segment without ACK was sent.
  int tries() const { return retries_ - retries_left_ + 1; }

 private:
  uint32_t PayloadLength(uint32_t segment) const;

  std::vector<std::byte> message_;
  size_t header_bytes_;
  uint32_t segments_;
  uint32_t sent_ = 0;          // the last segment sent
  uint32_t acknowledged_ = 0;  // the last one with an ACK
  uint32_t window_last_;       // the last one that may be sent
  int retries_;
  int retries_left_;
};

}  // namespace ibemu::mad

#endif  // IBEMU_MAD_RMPP_SENDER_H_

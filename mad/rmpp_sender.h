// The sending side of the reliable multi-packet protocol.
#ifndef IBEMU_MAD_RMPP_SENDER_H_
#define IBEMU_MAD_RMPP_SENDER_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "mad/address.h"
#include "mad/wire/mad_header.h"
#include "mad/wire/rmpp.h"

namespace ibemu::mad {

// One message on its way, IBA vol 1 §13.6.  A pure state machine: the owner
// transmits what NextSegment() gives until it gives nothing, then waits for an
// ACK or for its timer.
class RmppSender {
 public:
  // `message`: the class's header of `header_bytes`, then all data.  Whatever
  // its RMPP header holds is replaced.  `window` segments go out before the
  // first ACK.
  RmppSender(std::vector<std::byte> message, size_t header_bytes,
             uint32_t window, int retries);

  // Fills `segment` with the next one to send.  False: wait.
  bool NextSegment(MadBytes& segment);

  // Whether NextSegment() has one now.
  bool ready() const { return sent_ < segments_ && sent_ < window_last_; }

  // What is wrong with a packet of the receiver, whatever was sent; the answer
  // is an ABORT with this code.  Requires a type other than DATA.
  static std::optional<RmppStatus> Check(const RmppHeader& control);

  enum class Step {
    kIgnore,
    kProgress,         // send more, start the timer anew
    kAllAcknowledged,  // the last ACK: the receiver has everything
    kRepeatedAck,      // after the last one: our ACK of it was lost
    kSegmentTooBig,    // of something never sent: abort
  };
  // Requires that Check() found nothing.
  Step OnAck(uint32_t segment, uint32_t new_window_last);

  // No ACK came in time.  True: go back to the first segment without ACK and
  // send again.  False: nothing is left to try.
  bool OnTimeout();

  bool all_acknowledged() const { return acknowledged_ == segments_; }
  uint32_t segments() const { return segments_; }

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

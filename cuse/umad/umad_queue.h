// UmadQueue: the packets that wait to be read from a umad file.
#ifndef IBEMU_CUSE_UMAD_UMAD_QUEUE_H_
#define IBEMU_CUSE_UMAD_UMAD_QUEUE_H_

#include <cstddef>
#include <deque>
#include <utility>
#include <vector>

#include "cuse/errno.h"
#include "cuse/umad/umad_header.h"

namespace ibemu::cuse {

// A MAD with the header that a reader gets.
struct UmadPacket {
  ib_user_mad_hdr header{};
  std::vector<std::byte> mad;
};

// The queue of one file, first in, first out over all its agents.
class UmadQueue {
 public:
  // Beyond this many entries Linux drops received MADs, but still reports
  // timeouts (MAX_UMAD_RECV_LIST_SIZE in user_mad.c).
  static constexpr size_t kLimit = 200000;

  // The number of bytes of a long message that fit into a buffer which is too
  // small for all of it.
  static constexpr size_t kFirstSegment = 256;

  bool empty() const { return packets_.empty(); }
  // `others`: packets of the file that wait elsewhere.
  bool IsFull(size_t others) const { return packets_.size() + others > kLimit; }
  void Push(UmadPacket packet) { packets_.push_back(std::move(packet)); }

  // The functions below require !empty().
  const UmadPacket& front() const { return packets_.front(); }
  UmadPacket TakeFront() {
    UmadPacket packet = std::move(packets_.front());
    packets_.pop_front();
    return packet;
  }

  // Checks if a buffer of `room` bytes can take the first packet.  Returns kOk,
  // kInvalid (not even a segment fits) or kNoSpace (a segment fits, but the
  // message doesn't).
  Errno Fits(size_t header_size, size_t room) const {
    const size_t length = front().mad.size();
    if (room >= header_size + length) return Errno::kOk;
    if (length <= kFirstSegment || room < header_size + kFirstSegment) {
      return Errno::kInvalid;
    }
    return Errno::kNoSpace;
  }

  void Clear() { packets_.clear(); }

 private:
  std::deque<UmadPacket> packets_;
};

}  // namespace ibemu::cuse

#endif  // IBEMU_CUSE_UMAD_UMAD_QUEUE_H_

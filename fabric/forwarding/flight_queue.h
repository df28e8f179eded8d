// Packets under way that wait for nothing but their turn.
#ifndef IBEMU_FABRIC_FORWARDING_FLIGHT_QUEUE_H_
#define IBEMU_FABRIC_FORWARDING_FLIGHT_QUEUE_H_

#include <cstddef>
#include <utility>
#include <vector>

#include "fabric/packet/packet.h"
#include "fabric/subnet/node.h"

namespace ibemu::fabric {

struct Flight {
  enum class Step {
    kLeave,   // leaves through `port`
    kArrive,  // comes out of the cable at `port`
    kRoute,   // starts at `port`, a switch's port 0, and goes by its DLID
    kLoop,    // is for `port` itself
  };
  Step step = Step::kLeave;
  uint8_t vl = 0;  // on the link it is on; meaningless for VL15
  PortId port = kNoPort;
  int hops = 0;  // links crossed so far
  Packet packet;
};

// A ring that grows and never shrinks: no allocation once warm.
class FlightQueue {
 public:
  bool empty() const { return size_ == 0; }

  // The new last one, its old contents to be overwritten.
  Flight& Push() {
    if (size_ == ring_.size()) Grow();
    return ring_[(first_ + size_++) & (ring_.size() - 1)];
  }
  void Push(const Flight& flight) { Push() = flight; }

  void PopInto(Flight& flight) {
    flight = ring_[first_];
    first_ = (first_ + 1) & (ring_.size() - 1);
    --size_;
  }

 private:
  void Grow() {
    std::vector<Flight> larger(ring_.empty() ? 16 : 2 * ring_.size());
    for (size_t i = 0; i < size_; ++i) {
      larger[i] = ring_[(first_ + i) & (ring_.size() - 1)];
    }
    ring_ = std::move(larger);
    first_ = 0;
  }

  std::vector<Flight> ring_;  // its size is a power of two
  size_t first_ = 0, size_ = 0;
};

}  // namespace ibemu::fabric

#endif  // IBEMU_FABRIC_FORWARDING_FLIGHT_QUEUE_H_

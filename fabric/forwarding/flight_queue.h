// FlightQueue: the packets that are ready for their next step.
#ifndef IBEMU_FABRIC_FORWARDING_FLIGHT_QUEUE_H_
#define IBEMU_FABRIC_FORWARDING_FLIGHT_QUEUE_H_

#include <cstddef>
#include <utility>
#include <vector>

#include "fabric/packet/packet.h"
#include "fabric/subnet/node.h"

namespace ibemu::fabric {

// A packet on its way through the fabric, and its next step.
struct Flight {
  enum class Step {
    kLeave,   // it leaves through `port`
    kArrive,  // it comes out of the cable at `port`
    kRoute,   // it starts at `port`, a switch's port 0, and is routed by DLID
    kLoop,    // it is for `port` itself
  };
  Step step = Step::kLeave;
  uint8_t vl = 0;  // on its current link; meaningless for VL15
  PortId port = kNoPort;
  int hops = 0;  // links crossed so far
  Packet packet;
};

// A first-in first-out ring that grows and never shrinks, so that it does not
// allocate in steady state.
class FlightQueue {
 public:
  bool empty() const { return size_ == 0; }
  size_t size() const { return size_; }

  // Appends a flight and returns it.  It has old contents, which the caller
  // overwrites.
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

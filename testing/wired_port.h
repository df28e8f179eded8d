// WiredPort: one of two ports that are connected to each other.
#ifndef IBEMU_TESTING_WIRED_PORT_H_
#define IBEMU_TESTING_WIRED_PORT_H_

#include <cstdint>

#include "base/timers.h"
#include "mad/port.h"
#include "testing/fake_port.h"

namespace ibemu::testing {

// A WiredPort is a port whose MADs arrive at its peer, soon.  It has no agents
// of its own and does not keep what was sent.
class WiredPort : public FakePort {
 public:
  explicit WiredPort(Timers& timers) : timers_(timers) {}

  void Connect(WiredPort& peer) {
    peer_ = &peer;
    peer.peer_ = this;
  }

  absl::Status Transmit(const mad::Outgoing& packet) override {
    if (removed) return absl::UnavailableError("the device is gone");
    timers_.RunSoon([this, packet] {
      peer_->Receive({.qp = packet.qp,
                      .slid = info.lid,
                      .sl = packet.to.sl,
                      .pkey_index = packet.to.pkey_index,
                      .source_qpn = static_cast<uint32_t>(packet.qp),
                      .mad = packet.mad});
    });
    return absl::OkStatus();
  }

 private:
  Timers& timers_;
  WiredPort* peer_ = nullptr;
};

}  // namespace ibemu::testing

#endif  // IBEMU_TESTING_WIRED_PORT_H_

// A stand-in for a port.
#ifndef IBEMU_TESTING_FAKE_PORT_H_
#define IBEMU_TESTING_FAKE_PORT_H_

#include <functional>
#include <vector>

#include "mad/port.h"

namespace ibemu::testing {

// A FakePort is a port without a link: it keeps what is sent, and receives what
// the test passes to Receive().
class FakePort : public mad::Port {
 public:
  using Local = std::function<mad::LocalVerdict(const mad::Arrival& request,
                                                mad::MadBytes& reply)>;

  absl::Status Transmit(const mad::Outgoing& packet) override {
    if (removed) return absl::UnavailableError("the device is gone");
    sent.push_back(packet);
    if (on_transmit) on_transmit(packet);
    return absl::OkStatus();
  }

  mad::LocalVerdict ProcessLocal(const mad::Arrival& request,
                                 mad::MadBytes& reply) override {
    local_requests.push_back(request);
    return local ? local(request, reply) : mad::LocalVerdict::kUnhandled;
  }

  void SetListener(mad::PortListener* to) override { listener = to; }
  mad::PortInfo Info() const override {
    mad::PortInfo now = info;
    if (is_sm) now.capability_mask |= mad::capability::kIsSm;
    return now;
  }
  int GidCount() const override { return static_cast<int>(gids.size()); }
  wire::Gid GidAt(int index) const override {
    const bool known = index >= 0 && index < GidCount();
    return known ? gids[static_cast<size_t>(index)] : wire::Gid{};
  }
  int PKeyCount() const override { return static_cast<int>(pkeys.size()); }
  uint16_t PKeyAt(int index) const override {
    const bool known = index >= 0 && index < PKeyCount();
    return known ? pkeys[static_cast<size_t>(index)] : uint16_t{0};
  }
  bool HasQp0() const override { return has_qp0; }
  void SetIsSm(bool value) override { is_sm = value; }

  void Receive(const mad::Arrival& arrival) {
    if (listener != nullptr) listener->OnReceive(arrival);
  }

  mad::PortListener* listener = nullptr;
  std::vector<mad::Outgoing> sent;
  std::function<void(const mad::Outgoing&)> on_transmit;  // a peer may listen
  std::vector<mad::Arrival> local_requests;
  Local local;  // null: leaves everything unhandled
  mad::PortInfo info;
  std::vector<wire::Gid> gids = {{wire::kDefaultGidPrefix, 0x1001}};
  std::vector<uint16_t> pkeys = {0xffff};
  bool has_qp0 = true;
  bool is_sm = false;
  bool removed = false;
};

}  // namespace ibemu::testing

#endif  // IBEMU_TESTING_FAKE_PORT_H_

// Any packets, into a subnet whose links come and go, end somewhere.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <span>

#include "fabric/fabric.h"
#include "fabric/links.h"
#include "fabric/subnet.h"
#include "testing/row_topology.h"
#include "testing/virtual_timers.h"

namespace ibemu::fabric {
namespace {

constexpr int kSwitches = 3;

// The fuzzer's bytes, zeros after their end.
class Script {
 public:
  explicit Script(std::span<const uint8_t> bytes) : bytes_(bytes) {}

  bool done() const { return bytes_.empty(); }
  uint8_t Byte() {
    if (bytes_.empty()) return 0;
    const uint8_t byte = bytes_.front();
    bytes_ = bytes_.subspan(1);
    return byte;
  }
  uint16_t Short() {
    const unsigned high = Byte();
    return static_cast<uint16_t>(high << 8 | Byte());
  }
  NodeId Node() { return NodeId{Byte() % (kSwitches + 2u)}; }
  mad::MadBytes Mad() {
    const size_t length = std::min<size_t>(Byte() + 1u, bytes_.size());
    mad::MadBytes mad{};
    std::ranges::copy(std::as_bytes(bytes_.first(length)), mad.begin());
    bytes_ = bytes_.subspan(length);
    return mad;
  }

 private:
  std::span<const uint8_t> bytes_;
};

// A loop among the switches: unicast and multicast may go round.
Topology Ring() {
  Topology topology = testing::Row(kSwitches);
  topology.links.push_back({.a = NodeId{1},
                            .b = NodeId{kSwitches},
                            .port_a = 3,
                            .port_b = 3,
                            .rate = DefaultLinkRate()});
  return topology;
}

class Listener : public mad::PortListener {
 public:
  void OnReceive(const mad::Arrival&) override {}
};

void Transmit(Fabric& fabric, Script& script) {
  mad::Device& device = fabric.device(script.Node());
  mad::Outgoing packet;
  const uint8_t flags = script.Byte();
  packet.qp = flags & 1;
  packet.to.qpn = (flags & 2) != 0 ? script.Byte() : (flags & 1);
  packet.to.dlid = mad::Lid{script.Short()};
  packet.to.sl = script.Byte();
  packet.to.pkey_index = script.Byte();
  packet.to.path_bits = script.Byte();
  if ((flags & 4) != 0) {
    packet.to.grh =
        mad::GlobalRoute{.gid = {mad::kDefaultGidPrefix, script.Short()},
                         .gid_index = script.Byte()};
  }
  packet.mad = script.Mad();
  device.port(device.first_port()).Transmit(packet).IgnoreError();
}

void Step(Fabric& fabric, testing::VirtualTimers& timers, Script& script) {
  const uint8_t code = script.Byte();
  switch (code % 8) {
    case 0: {
      const NodeId node = script.Node();
      fabric.SetLink(node, script.Byte() % 10, (code & 8) != 0).IgnoreError();
      break;
    }
    case 1:
      fabric.SetNode(script.Node(), (code & 8) != 0);
      break;
    case 2: {
      LinkFaults faults;
      faults.loss = script.Byte() / 255.0;
      faults.duplicate = script.Byte() / 255.0;
      faults.reorder = script.Byte() / 255.0;
      faults.delay = absl::Microseconds(script.Byte());
      faults.jitter = absl::Microseconds(script.Byte());
      const NodeId node = script.Node();
      fabric
          .SetFaults(node, script.Byte() % 10, Fabric::Direction::kReceive,
                     faults)
          .IgnoreError();
      break;
    }
    case 3:
      timers.RunFor(absl::Microseconds(script.Short()));
      break;
    default:
      Transmit(fabric, script);
      timers.RunPending();
  }
}

}  // namespace
}  // namespace ibemu::fabric

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace ibemu;
  using namespace ibemu::fabric;
  testing::VirtualTimers timers;
  Listener listener;
  Fabric fabric(Ring(), timers, {.seed = 1});
  if (!ConfigureStatically(fabric).ok()) std::abort();
  fabric.device(NodeId{0}).port(1).SetListener(&listener);

  Script script({data, size});
  while (!script.done()) Step(fabric, timers, script);
  timers.RunFor(absl::Seconds(1));  // longer than any delay

  const ForwardingTotals& totals = fabric.totals();
  if (totals.delivered + totals.dropped < totals.sent) std::abort();
  return 0;
}

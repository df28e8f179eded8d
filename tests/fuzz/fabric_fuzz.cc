// Any packets, into a subnet whose links come and go, end somewhere.  The last
// byte says who configures the subnet; a manager inside it meets another one.
#include <cstdint>
#include <cstdlib>
#include <vector>

#include "fabric/fabric.h"
#include "fabric/subnet/links.h"
#include "fabric/subnet/subnet.h"
#include "mad/smi.h"
#include "mad/wire/sm_info.h"
#include "mad/wire/smp.h"
#include "testing/fuzz_input.h"
#include "testing/topologies.h"
#include "testing/virtual_timers.h"

namespace ibemu::fabric {
namespace {

using Input = testing::FuzzInput;

constexpr int kSwitches = 3;

topology::NodeId NodeFrom(Input& input) {
  return topology::NodeId{input.Byte() % (kSwitches + 2u)};
}

// A loop among the switches: unicast and multicast may go round.
topology::Topology Ring() {
  topology::Topology topology = testing::Chain(kSwitches);
  testing::AddLink(topology, 1, 3, kSwitches, 3);
  return topology;
}

// A subnet manager of any claim, which answers what it is asked.
class Listener : public mad::PortListener {
 public:
  explicit Listener(mad::Port& port) : port_(port) { port.SetListener(this); }

  void Claim(bool is_sm, uint8_t claim) {
    info_.priority = claim >> 4;
    info_.sm_state = mad::SmState{static_cast<uint8_t>(claim & 15)};
    port_.SetIsSm(is_sm);
  }

  void OnReceive(const mad::Arrival& arrival) override {
    auto smp = wire::Decode<mad::Smp>(arrival.mad);
    if (arrival.qp != 0 || mad::IsResponse(smp.method) ||
        smp.attr_id != mad::AttributeId::kSmInfo) {
      return;
    }
    smp.method = mad::Method::kGetResp;
    smp.direction = true;
    wire::Encode(info_, smp.data);
    mad::Outgoing answer;
    answer.to.dlid = wire::Lid::kPermissive;
    wire::Encode(smp, answer.mad);
    mad::SmiAnswer(answer.mad, {.is_switch = false, .port_count = 1}, 1);
    port_.Transmit(answer).IgnoreError();
  }

 private:
  mad::Port& port_;
  mad::SmInfo info_;
};

void Transmit(Fabric& fabric, Input& input) {
  mad::Device& device = fabric.device(NodeFrom(input));
  mad::Outgoing packet;
  const uint8_t flags = input.Byte();
  packet.qp = flags & 1;
  packet.to.qpn = (flags & 2) != 0 ? input.Byte() : (flags & 1);
  packet.to.dlid = wire::Lid{input.Short()};
  packet.to.sl = input.Byte();
  packet.to.pkey_index = input.Byte();
  packet.to.path_bits = input.Byte();
  if ((flags & 4) != 0) {
    packet.to.grh =
        mad::GlobalRoute{.gid = {wire::kDefaultGidPrefix, input.Short()},
                         .gid_index = input.Byte()};
  }
  packet.mad = input.Mad(input.Byte() + 1u);
  device.port(device.first_port()).Transmit(packet).IgnoreError();
}

void Step(Fabric& fabric, Listener& listener, std::vector<FaultId>& faults,
          testing::VirtualTimers& timers, Input& input) {
  const uint8_t code = input.Byte();
  switch (code % 8) {
    case 0: {
      const topology::NodeId node = NodeFrom(input);
      fabric.SetLink(node, input.Byte() % 10, (code & 8) != 0).IgnoreError();
      break;
    }
    case 1:
      fabric.SetNode(NodeFrom(input), (code & 8) != 0);
      break;
    case 4: {
      const topology::NodeId node = NodeFrom(input);
      const auto done =
          (code & 8) != 0 ? fabric.AddDevice(node) : fabric.RemoveDevice(node);
      done.IgnoreError();
      break;
    }
    case 2: {
      if ((code & 8) != 0 && !faults.empty()) {
        fabric.RemoveFault(faults.back());
        faults.pop_back();
        break;
      }
      LinkFaults wrong;
      wrong.loss = input.Byte() / 255.0;
      wrong.duplicate = input.Byte() / 255.0;
      wrong.reorder = input.Byte() / 255.0;
      wrong.delay = absl::Microseconds(input.Byte());
      wrong.jitter = absl::Microseconds(input.Byte());
      const topology::NodeId node = NodeFrom(input);
      const absl::StatusOr<FaultId> fault = fabric.AddFault(
          node, input.Byte() % 10, Fabric::Direction::kReceive, wrong);
      if (fault.ok()) faults.push_back(*fault);
      break;
    }
    case 3:
      timers.RunFor(absl::Microseconds(input.Short()) *
                    ((code & 8) != 0 ? 1000 : 1));
      break;
    case 7:
      listener.Claim((code & 8) != 0, input.Byte());
      break;
    default:
      Transmit(fabric, input);
      timers.RunPending();
  }
}

}  // namespace
}  // namespace ibemu::fabric

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace ibemu;
  using namespace ibemu::fabric;
  testing::VirtualTimers timers;
  Fabric fabric(Ring(), timers, {.seed = 1});
  const bool builtin = size != 0 && (data[size - 1] & 1) != 0;
  const absl::Status status =
      builtin ? StartSubnetManager(fabric) : ConfigureStatically(fabric);
  if (!status.ok()) std::abort();
  Listener listener(fabric.device(topology::NodeId{0}).port(1));

  testing::FuzzInput input(data, size);
  std::vector<FaultId> faults;
  while (!input.empty()) Step(fabric, listener, faults, timers, input);
  timers.RunFor(absl::Seconds(1));  // longer than any delay

  const ForwardingTotals& totals = fabric.totals();
  if (totals.delivered + totals.dropped < totals.sent) std::abort();
  return 0;
}

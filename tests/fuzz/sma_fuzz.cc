// Arbitrary SMPs for the subnet management agents of a small subnet.  Input:
// one byte that picks the port, then a MAD; and again.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <span>

#include "fabric/agents/sma.h"
#include "mad/wire/smp.h"
#include "testing/topologies.h"
#include "testing/virtual_timers.h"
#include "tests/fabric/recorders.h"

namespace ibemu::fabric {
namespace {

void Require(bool holds) {
  if (!holds) std::abort();
}

void RequireSaneSubnet(const Subnet& subnet) {
  for (const NodePort& port : subnet.ports()) {
    const mad::PortInfo& info = port.info;
    Require(info.port_state >= mad::PortState::kDown &&
            info.port_state <= mad::PortState::kActive);
    Require(info.lid <= wire::Lid::kLastUnicast);
    Require(info.master_sm_lid <= wire::Lid::kLastUnicast);
    Require(info.neighbor_mtu >= 1 && info.neighbor_mtu <= info.mtu_cap);
    Require(info.operational_vls >= 1 && info.operational_vls <= info.vl_cap);
    Require(info.link_width_enabled != 0 &&
            (info.link_width_enabled & ~info.link_width_supported) == 0);
    for (uint8_t sl = 0; sl < 16; ++sl) Require(port.VlOf(sl, 0) < 16);
  }
}

void Run(std::span<const uint8_t> input) {
  ibemu::testing::VirtualTimers timers;
  Subnet subnet(ibemu::testing::SmallSubnet());
  RecordedEvents events;
  RecordedMads mads;
  Links links(subnet, events);
  Sma sma(subnet, links, events, mads, timers);

  while (!input.empty()) {
    const PortId port{
        static_cast<uint32_t>(input.front() % subnet.ports().size())};
    input = input.subspan(1);
    mad::Arrival arrival;
    const size_t size = std::min(input.size(), arrival.mad.size());
    const auto bytes = std::as_bytes(input.first(size));
    std::copy(bytes.begin(), bytes.end(), arrival.mad.begin());
    input = input.subspan(size);

    mad::MadBytes reply;
    if (sma.Handle(port, arrival, reply) == mad::LocalVerdict::kReply) {
      Require(wire::Get<&mad::Smp::method>(reply) == mad::Method::kGetResp);
      Require(wire::Get<&mad::Smp::tid>(reply) ==
              wire::Get<&mad::Smp::tid>(arrival.mad));
    }
    RequireSaneSubnet(subnet);
    timers.RunFor(absl::Seconds(1));
  }
}

}  // namespace
}  // namespace ibemu::fabric

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  ibemu::fabric::Run({data, size});
  return 0;
}

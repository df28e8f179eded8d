// Arbitrary MADs to the agents that answer on QP1: none may crash, and an
// answer keeps the transaction and has a status.  Input: a byte that says to
// whom and how long the clock runs before, then a MAD; repeated.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "fabric/agents/other_agents.h"
#include "fabric/agents/pma.h"
#include "mad/wire/mad_header.h"
#include "testing/virtual_timers.h"

namespace {

using namespace ibemu;          // NOLINT(google-build-using-namespace)
using namespace ibemu::fabric;  // NOLINT(google-build-using-namespace)

topology::Topology Nodes() {
  topology::Topology nodes;
  topology::NodeSpec adapter;
  adapter.port_count = 2;
  adapter.vendor_id = 0x0002c9;
  topology::NodeSpec sw;
  sw.type = mad::NodeType::kSwitch;
  sw.port_count = 36;
  sw.vendor_id = 0x0002c9;
  sw.device_id = 47396;
  nodes.nodes = {adapter, sw};
  return nodes;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  ibemu::testing::VirtualTimers timers;
  Subnet subnet(Nodes());
  Pma pma(subnet, timers);
  OtherAgents others(subnet, timers);
  while (size > 1) {
    const uint8_t control = data[0];
    mad::Arrival request;
    const size_t length = std::min(size - 1, request.mad.size());
    std::memcpy(request.mad.data(), data + 1, length);
    data += 1 + length;
    size -= 1 + length;

    timers.RunFor(absl::Microseconds(control >> 2));
    const PortId to = (control & 1) != 0
                          ? subnet.port_id(topology::NodeId{1}, 0)
                          : subnet.port_id(topology::NodeId{0}, 1);
    mad::MadBytes reply{};
    const mad::LocalVerdict verdict = (control & 2) != 0
                                          ? others.Handle(to, request, reply)
                                          : pma.Handle(to, request, reply);
    if (verdict != mad::LocalVerdict::kReply) continue;
    const auto asked = wire::Decode<mad::MadHeader>(request.mad);
    const auto answered = wire::Decode<mad::MadHeader>(reply);
    if (answered.method != mad::Method::kGetResp || answered.tid != asked.tid ||
        answered.attr_id != asked.attr_id ||
        answered.mgmt_class != asked.mgmt_class) {
      std::abort();
    }
  }
  return 0;
}

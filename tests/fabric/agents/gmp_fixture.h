// A small subnet and the words for asking its general service agents.
#ifndef IBEMU_TESTS_FABRIC_AGENTS_GMP_FIXTURE_H_
#define IBEMU_TESTS_FABRIC_AGENTS_GMP_FIXTURE_H_

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <span>

#include "fabric/subnet/subnet.h"
#include "mad/address.h"
#include "mad/port.h"
#include "mad/wire/mad_header.h"
#include "mad/wire/port_counters.h"
#include "testing/virtual_timers.h"

namespace ibemu::fabric {

// An adapter with two ports and a switch with three, no cables.
inline topology::Topology AdapterAndSwitch(bool enhanced_port_0 = false) {
  topology::Topology topology;
  topology::NodeSpec adapter;
  adapter.description = "node-1";
  adapter.port_count = 2;
  topology::NodeSpec sw;
  sw.type = mad::NodeType::kSwitch;
  sw.description = "sw1";
  sw.port_count = 3;
  sw.enhanced_port_0 = enhanced_port_0;
  topology.nodes = {adapter, sw};
  return topology;
}

struct GmpAnswer {
  mad::LocalVerdict verdict = mad::LocalVerdict::kUnhandled;
  mad::MadBytes mad{};

  mad::MadHeader header() const { return wire::Decode<mad::MadHeader>(mad); }
  mad::MadStatus status() const { return header().status; }
  template <class T>
  T As(size_t offset) const {
    return wire::Decode<T>(std::span(mad).subspan(offset));
  }
};

class GmpTest : public ::testing::Test {
 protected:
  explicit GmpTest(const topology::Topology& topology = AdapterAndSwitch())
      : subnet_(topology) {}

  // Port of the adapter (1, 2) or of the switch (0 to 3).
  NodePort& Adapter(int number) {
    return subnet_.port(subnet_.port_id(topology::NodeId{0}, number));
  }
  NodePort& Switch(int number) {
    return subnet_.port(subnet_.port_id(topology::NodeId{1}, number));
  }
  PortId adapter() const { return subnet_.port_id(topology::NodeId{0}, 1); }
  PortId switch0() const { return subnet_.port_id(topology::NodeId{1}, 0); }

  static mad::MadHeader Header(mad::MgmtClass mgmt_class, mad::Method method,
                               mad::AttributeId attribute,
                               uint32_t modifier = 0) {
    mad::MadHeader header;
    header.mgmt_class = mgmt_class;
    header.method = method;
    header.tid = 0x1234;
    header.attr_id = attribute;
    header.attr_mod = modifier;
    return header;
  }

  template <class Agent>
  static GmpAnswer Send(Agent& agent, PortId to, const mad::MadBytes& mad) {
    mad::Arrival request;
    request.qp = 1;
    request.mad = mad;
    GmpAnswer answer;
    answer.verdict = agent.Handle(to, request, answer.mad);
    return answer;
  }

  ibemu::testing::VirtualTimers timers_;
  Subnet subnet_;
};

}  // namespace ibemu::fabric

#endif  // IBEMU_TESTS_FABRIC_AGENTS_GMP_FIXTURE_H_

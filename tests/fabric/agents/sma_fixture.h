// The subnet management agents of SmallSubnet().
#ifndef IBEMU_TESTS_FABRIC_AGENTS_SMA_FIXTURE_H_
#define IBEMU_TESTS_FABRIC_AGENTS_SMA_FIXTURE_H_

#include <optional>

#include "fabric/agents/sma.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "mad/wire/notice.h"
#include "mad/wire/smp.h"
#include "mad/wire/switch_info.h"
#include "testing/topologies.h"
#include "testing/virtual_timers.h"
#include "tests/fabric/recorders.h"

namespace ibemu::fabric {

using testing::SmallSubnet, testing::kHost, testing::kOtherHost,
    testing::kSwitch;

// All links of SmallSubnet() are at INIT.
class SmaFixture : public ::testing::Test {
 protected:
  NodePort& PortOf(topology::NodeId node, int number) {
    return subnet_.port(subnet_.port_id(node, number));
  }
  Node& NodeOf(topology::NodeId node) { return subnet_.node(node); }

  mad::Smp Request(mad::Method method, mad::AttributeId attribute,
                   uint32_t modifier) {
    mad::Smp smp;
    smp.method = method;
    smp.attr_id = attribute;
    smp.attr_mod = modifier;
    smp.tid = 77;
    smp.m_key = m_key_;
    return smp;
  }

  // Sends an SMP that comes in at a port; nullopt: there is no answer.
  std::optional<mad::Smp> Send(topology::NodeId node, int port,
                               const mad::Smp& smp) {
    mad::Arrival arrival;
    arrival.slid = wire::Lid{9};
    wire::Encode(smp, arrival.mad);
    mad::MadBytes reply;
    verdict_ = sma_.Handle(subnet_.port_id(node, port), arrival, reply);
    if (verdict_ != mad::LocalVerdict::kReply) return std::nullopt;
    return wire::Decode<mad::Smp>(reply);
  }

  mad::MadStatus StatusOf(mad::Method method, topology::NodeId node, int port,
                          mad::AttributeId attribute, uint32_t modifier = 0) {
    const auto reply = Send(node, port, Request(method, attribute, modifier));
    EXPECT_TRUE(reply.has_value());
    return reply ? reply->status : mad::MadStatus{0x7fff};
  }

  template <class T>
  T Get(topology::NodeId node, int port, uint32_t modifier = 0) {
    const auto reply =
        Send(node, port, Request(mad::Method::kGet, T::kId, modifier));
    EXPECT_TRUE(reply.has_value());
    if (!reply) return T();
    EXPECT_EQ(reply->method, mad::Method::kGetResp);
    EXPECT_EQ(reply->status, mad::MadStatus::kOk);
    return wire::Decode<T>(reply->data);
  }

  // Sets, and keeps what comes back in `answer_data_`.
  template <class T>
  mad::MadStatus Set(topology::NodeId node, int port, const T& value,
                     uint32_t modifier = 0) {
    mad::Smp request = Request(mad::Method::kSet, T::kId, modifier);
    wire::Encode(value, request.data);
    const auto reply = Send(node, port, request);
    EXPECT_TRUE(reply.has_value());
    if (!reply) return mad::MadStatus{0x7fff};
    answer_data_ = reply->data;
    return reply->status;
  }
  template <class T>
  T Answer() {
    return wire::Decode<T>(answer_data_);
  }

  // LID, subnet manager and ACTIVE, so that the port may send traps.
  void Activate(topology::NodeId node, int number, wire::Lid lid,
                wire::Lid sm_lid) {
    mad::PortInfo& info = PortOf(node, number).info;
    info.lid = lid;
    info.master_sm_lid = sm_lid;
    info.port_state = mad::PortState::kActive;
  }

  ibemu::testing::VirtualTimers timers_;
  Subnet subnet_{SmallSubnet()};
  RecordedEvents events_;
  RecordedMads mads_;
  Links links_{subnet_, events_};
  Sma sma_{subnet_, links_, events_, mads_, timers_};
  uint64_t m_key_ = 0;
  mad::LocalVerdict verdict_{};
  std::array<std::byte, mad::kSmpDataBytes> answer_data_{};
};

}  // namespace ibemu::fabric

#endif  // IBEMU_TESTS_FABRIC_AGENTS_SMA_FIXTURE_H_

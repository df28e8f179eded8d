// What an adapter with two ports, or one without interrupts, does otherwise.
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>

#include "gmock/gmock.h"
#include "hca/mlx4/mlx4_device.h"
#include "mad/host.h"
#include "mad/wire/smp.h"
#include "testing/mad_builder.h"
#include "testing/mlx4_machine.h"
#include "testing/recording_client.h"

namespace ibemu::hca::mlx4 {
namespace {

using mad::AttributeId, wire::Lid;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::Lab, testing::Chain, testing::Mlx4Lab, testing::Mlx4Machine,
    testing::RecordingDeviceListener;
using testing::RecordingClient;
using ::testing::SizeIs;

mad::OutgoingMessage RequestOf(mad::Outgoing packet) {
  if (mad::MadBytes& mad = packet.mad; wire::Get<&mad::Smp::mgmt_class>(mad) ==
                                       mad::MgmtClass::kSubnetDirectedRoute) {
    wire::Put<&mad::Smp::hop_pointer>(mad, 0);
  }
  return {.to = packet.to,
          .mad = {packet.mad.begin(), packet.mad.end()},
          .timeout = absl::Milliseconds(20)};
}

// Both cables of one adapter lead to the same switch.
topology::Topology TwoCables() {
  topology::Topology topology = Chain(1);
  topology::NodeSpec& host = topology.nodes[0];
  host.port_count = 2;
  host.port_guids = {wire::Guid{0x1001}, wire::Guid{0x1002}};
  topology::LinkSpec& link = topology.links[1];  // of the other host
  link.a = topology::NodeId{1};
  link.port_a = 2;
  link.b = topology::NodeId{0};
  link.port_b = 2;
  return topology;
}

class TwoPortsTest : public Mlx4Lab {
 protected:
  TwoPortsTest() : Mlx4Lab(TwoCables()) {
    device_->SetListener(&listener_);
    RunFor(absl::Milliseconds(10), {device_.get()});
  }

  Mlx4Machine& host_ = PlugIn();
  std::unique_ptr<Mlx4Device> device_ = Start(host_);
  RecordingDeviceListener listener_;
  RecordingClient asker_;
};

TEST_F(TwoPortsTest, BothAreUp) {
  ASSERT_EQ(device_->last_port(), 2);
  EXPECT_EQ(device_->port(1).Info().port_state, mad::PortState::kActive);
  EXPECT_EQ(device_->port(2).Info().port_state, mad::PortState::kActive);
  EXPECT_NE(device_->port(1).Info().lid, device_->port(2).Info().lid);
}

TEST_F(TwoPortsTest, EachHasQueuePairsOfItsOwn) {
  mad::Host host(timers_, *device_);
  for (const int port : {1, 2}) {
    const auto agent = host.Register(port, {.qp = 0}, asker_);
    ASSERT_TRUE(agent.ok()) << agent.status();
    asker_.inbox.clear();
    ASSERT_TRUE((*agent)
                    ->Send(RequestOf(
                        testing::DirectedGet(AttributeId::kNodeInfo, {port})))
                    .ok());
    RunFor(absl::Milliseconds(2), {device_.get()});
    ASSERT_THAT(asker_.inbox, SizeIs(1)) << "port " << port;
    const auto smp = wire::Decode<mad::Smp>(asker_.inbox[0].mad);
    EXPECT_EQ(wire::Decode<mad::NodeInfo>(smp.data).local_port_num, port)
        << "the switch's port that this one's cable leads to";
  }
}

TEST_F(TwoPortsTest, OneReachesTheOther) {
  mad::Host host(timers_, *device_);
  const auto agent = host.Register(1, {.qp = 1}, asker_);
  ASSERT_TRUE(agent.ok()) << agent.status();
  const Lid other = device_->port(2).Info().lid;
  ASSERT_TRUE(
      (*agent)
          ->Send(RequestOf(testing::LidGet(1, mad::MgmtClass::kPerformance,
                                           other, AttributeId::kClassPortInfo)))
          .ok());
  RunFor(absl::Milliseconds(2), {device_.get()});
  ASSERT_THAT(asker_.inbox, SizeIs(1));
  EXPECT_EQ(asker_.inbox[0].slid, other);
}

TEST_F(TwoPortsTest, EventsTellWhichPort) {
  listener_.events.clear();
  ASSERT_TRUE(fabric_.SetLink(lab_.Find("host-1"), 2, false).ok());
  RunFor(absl::Milliseconds(1), {device_.get()});
  EXPECT_EQ(device_->port(1).Info().port_state, mad::PortState::kActive);
  EXPECT_EQ(device_->port(2).Info().port_state, mad::PortState::kDown);
  EXPECT_THAT(listener_.events, ElementsAre(2));
}

// As where sysfs is all there is.
class SilentFunction : public model::InProcessFunction {
 public:
  using InProcessFunction::InProcessFunction;
  absl::Status EnableInterrupts(int) override {
    return absl::FailedPreconditionError("no interrupts");
  }
};

TEST(WithoutInterrupts, QueuesArePolled) {
  Lab lab(Chain(1), Lab::kStatically);
  testing::VirtualTimers& timers = lab.timers;
  Mlx4Machine host(lab, "host-1");
  std::vector<std::string> notes;
  {
    SilentFunction function(host.model);
    auto device = Mlx4Device::Start(
        function, timers,
        {.pause = [&](absl::Duration span) { timers.RunFor(span); },
         .note = [&](std::string_view text) { notes.emplace_back(text); },
         .name = "0000:3b:00.0"});
    ASSERT_TRUE(device.ok()) << device.status();
    EXPECT_EQ((*device)->interrupt_fd(), -1);
    EXPECT_THAT(notes, ElementsAre(HasSubstr("the queues are polled")));
    RecordingClient asker;
    mad::Host agents(timers, **device);
    const auto agent = agents.Register(1, {.qp = 0}, asker);
    ASSERT_TRUE(agent.ok()) << agent.status();
    ASSERT_TRUE(
        (*agent)
            ->Send(RequestOf(testing::DirectedGet(AttributeId::kNodeInfo, {1})))
            .ok());
    timers.RunFor(absl::Milliseconds(5));
    EXPECT_THAT(asker.inbox, SizeIs(1));
  }
}

}  // namespace
}  // namespace ibemu::hca::mlx4

// More than queues hold, and what goes wrong in them.
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>

#include "gmock/gmock.h"
#include "mad/wire/node_info.h"
#include "tests/hca/mlx4/device_lab.h"

namespace ibemu::hca::mlx4 {
namespace {

using mad::AttributeId, wire::Lid, mad::MgmtClass;
using model::mlx4::QueueKind;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using DeviceLoadTest = DeviceLab;

TEST_F(DeviceLoadTest, SendsMoreThanItsQueuesHold) {
  auto host = std::make_unique<mad::Host>(timers_, *device_);
  auto agent = Register(*host, 1);
  const Lid peer = fabric_.device(lab_.Find("host-2")).port(1).Info().lid;
  constexpr uint32_t kMany = 5000;  // every queue wraps
  constexpr uint32_t kBurst = 250;  // more than a send queue holds
  for (uint32_t i = 0; i < kMany; ++i) {
    const mad::Outgoing packet = testing::LidGet(
        1, MgmtClass::kPerformance, peer, AttributeId::kClassPortInfo);
    Post(*agent, packet, i, absl::Seconds(1));
    if (i % kBurst == kBurst - 1) Run(absl::Milliseconds(5));
  }
  Run(absl::Milliseconds(100));
  EXPECT_EQ(asker_.inbox.size(), kMany);
  EXPECT_THAT(asker_.timed_out, IsEmpty());
  agent.reset();
  host.reset();
  device_.reset();
  for (const QueueKind kind :
       {QueueKind::kSends, QueueKind::kReceives, QueueKind::kCompletions}) {
    EXPECT_GE(RoundsOf(kind), 1u) << model::mlx4::QueueKindName(kind);
  }
}

TEST_F(DeviceLoadTest, HearsMoreEventsThanItsQueueHolds) {
  auto host = std::make_unique<mad::Host>(timers_, *device_);
  auto agent = Register(*host, 0);
  constexpr uint64_t kMany = 9000;
  do {
    ASSERT_THAT(Ask(*agent, Directed(AttributeId::kNodeInfo, {1})), SizeIs(1));
  } while (device_->events().at("completion") < kMany);
  agent.reset();
  host.reset();
  device_.reset();
  EXPECT_GE(RoundsOf(QueueKind::kEvents), 1u);
}

TEST_F(DeviceLoadTest, SurvivesALostInterrupt) {
  mad::Host host(timers_, *device_);
  const auto agent = Register(host, 0);
  host_.model.faults().LoseInterrupts(1);
  const mad::Outgoing packet = Directed(AttributeId::kNodeInfo, {1});
  Post(*agent, packet, absl::Seconds(5));
  Run(absl::Milliseconds(1100));
  EXPECT_THAT(asker_.inbox, SizeIs(1));
}

TEST_F(DeviceLoadTest, GoesOnAfterASendThatFailed) {
  mad::Host host(timers_, *device_);
  const auto agent = Register(host, 0);
  host_.model.faults().FailSends(1);
  for (uint32_t i = 0; i < 3; ++i) {  // two are posted behind the first
    const mad::Outgoing packet = Directed(AttributeId::kNodeInfo, {1});
    Post(*agent, packet, i, absl::Milliseconds(20));
  }
  Run(absl::Milliseconds(2));
  EXPECT_THAT(asker_.inbox, SizeIs(2));
  EXPECT_THAT(notes_, ElementsAre(HasSubstr("queue pair 0 of port 1")));
  Run(absl::Milliseconds(30));
  EXPECT_THAT(asker_.timed_out, SizeIs(1)) << "it is lost, as on a wire";
  EXPECT_THAT(Ask(*agent, Directed(AttributeId::kNodeInfo, {1})), SizeIs(1));
  EXPECT_EQ(host_.model.violations(), 0);
}

// Each costs a command.
TEST_F(DeviceLoadTest, LetsOthersHaveTheirTurnWhileMadsComeWithoutEnd) {
  mad::Host other(timers_, fabric_.device(lab_.Find("host-2")));
  const auto agent = Register(other, 1);
  const Lid lid = device_->port(1).Info().lid;
  constexpr uint64_t kMany = 3 * Mlx4Device::kMaxCompletions;
  for (uint64_t i = 0; i < kMany; ++i) {
    const mad::Outgoing packet = testing::LidGet(
        1, MgmtClass::kPerformance, lid, AttributeId::kClassPortInfo);
    Post(*agent, packet, i, absl::Seconds(1));
  }
  timers_.RunFor(absl::Milliseconds(5));  // they are all there
  const uint64_t before = device_->mads(1, 1).received;
  device_->OnInterrupt();
  EXPECT_EQ(device_->mads(1, 1).received - before,
            uint64_t{Mlx4Device::kMaxCompletions});
  Run(absl::Milliseconds(50));
  EXPECT_EQ(device_->mads(1, 1).received - before, kMany)
      << "the queue tells again of what is left";
  EXPECT_EQ(asker_.inbox.size(), kMany);
}

}  // namespace
}  // namespace ibemu::hca::mlx4

// Adapters that die, and why.
#include <gtest/gtest.h>

#include "gmock/gmock.h"
#include "hca/bus/pci_config.h"
#include "tests/hca/mlx4/device_lab.h"

namespace ibemu::hca::mlx4 {
namespace {

using mad::AttributeId, mad::LocalVerdict;
using prm::CommandStatus, prm::Opcode;
using ::testing::Contains;
using ::testing::HasSubstr;
using DeviceEndTest = DeviceLab;

TEST_F(DeviceEndTest, IsGoneWhenAQueuePairCanNotBeLedOn) {
  mad::Host host(timers_, *device_);
  const auto agent = Register(host, 0);
  host_.model.faults().FailSends(1);
  host_.model.faults().Refuse(Opcode::kSqErr2RtsQp, CommandStatus::kBadQpState);
  Ask(*agent, Directed(AttributeId::kNodeInfo, {1}));
  Run(absl::Milliseconds(2200));
  EXPECT_EQ(device_->port(1).Transmit({}).code(),
            absl::StatusCode::kUnavailable);
  EXPECT_THAT(notes_, Contains(HasSubstr("SQERR2RTS_QP")));
}

TEST_F(DeviceEndTest, IsGoneWithoutTheQueuesOfItsPorts) {
  uint32_t first_qpn = 0, cqn = 0;
  for (const model::CommandRecord& record : host_.trace.records) {
    if (record.opcode == Opcode::kConfSpecialQp) first_qpn = record.in_modifier;
    if (record.opcode == Opcode::kSw2HwCq) cqn = record.in_modifier;
  }
  const struct {
    prm::EqeType type;
    uint32_t number;
    const char* reason;
  } kCases[] = {
      {prm::EqeType::kWqCatastrophicError, first_qpn + 2, "queue pairs"},
      {prm::EqeType::kCqError, cqn, "completion queue"},
      {prm::EqeType::kEqOverflow, 0, "overflowed"},
  };
  for (const auto& [type, number, reason] : kCases) {
    SCOPED_TRACE(reason);
    device_.reset();
    // The case before has ended with a reset of the adapter.
    timers_.RunFor(model::ConnectX3Model::kResetTime);
    device_ = Start(host_);
    device_->SetListener(&listener_);
    listener_.removals = 0;
    host_.model.Pretend(type, number);
    Run(absl::Milliseconds(1));
    EXPECT_EQ(listener_.removals, 1);
    EXPECT_THAT(notes_, Contains(HasSubstr(reason)));
  }
}

TEST_F(DeviceEndTest, IsGoneAfterACatastrophicError) {
  host_.model.Fail(0x0badcafe);
  Run(absl::Milliseconds(1100));
  EXPECT_EQ(listener_.removals, 1);
  EXPECT_THAT(notes_, Contains(HasSubstr("0badcafe")));
  EXPECT_EQ(device_->port(1).Transmit({}).code(),
            absl::StatusCode::kUnavailable);
  device_.reset();
  EXPECT_EQ(host_.function->mapped(), 0u);
  EXPECT_EQ(host_.function->faults(), 0);
  EXPECT_TRUE(Start(host_)) << "the reset has cured it";
}

TEST_F(DeviceEndTest, IsGoneWhenSomebodyElseHasResetTheAdapter) {
  pci_config::SetCommand(*host_.function, /*memory=*/true,
                         /*bus_master=*/false);
  Run(absl::Milliseconds(1100));
  EXPECT_EQ(listener_.removals, 1);
  EXPECT_THAT(notes_, Contains(HasSubstr("somebody else has reset")));
}

TEST_F(DeviceEndTest, IsGoneAfterACommandThatNeverEnds) {
  host_.model.faults().Hang(Opcode::kMadIfc);
  mad::MadBytes reply;
  const mad::Outgoing request = Directed(AttributeId::kNodeInfo, {});
  EXPECT_EQ(device_->port(1).ProcessLocal({.mad = request.mad}, reply),
            LocalVerdict::kConsumed);
  Run(absl::Milliseconds(1100));
  EXPECT_EQ(listener_.removals, 1);
  EXPECT_THAT(notes_, Contains(HasSubstr("MAD_IFC")));
}

TEST_F(DeviceEndTest, DoesNotWaitForFirmwareThatHasDied) {
  host_.model.faults().Hang(Opcode::kMadIfc);
  timers_.RunAfter(absl::Milliseconds(300),
                   [this] { host_.model.Fail(0x0badcafe); });
  mad::MadBytes reply;
  const mad::Outgoing request = Directed(AttributeId::kNodeInfo, {});
  const absl::Time start = timers_.Now();
  EXPECT_EQ(device_->port(1).ProcessLocal({.mad = request.mad}, reply),
            LocalVerdict::kConsumed);
  EXPECT_LT(timers_.Now() - start, absl::Seconds(1)) << "not a minute";
  Run(absl::Milliseconds(1100));
  EXPECT_EQ(listener_.removals, 1);
  EXPECT_THAT(notes_, Contains(HasSubstr("0badcafe")));
}

}  // namespace
}  // namespace ibemu::hca::mlx4

// Event and completion queues, and memory protection, by their commands.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/hca/model/fake_driver.h"

namespace ibemu::hca::model {
namespace {

using prm::EqeType;
using prm::Opcode;
using Status = prm::CommandStatus;

class Mlx4Queues : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_EQ(driver_.Initialise(), Status::kOk); }

  // A command that completes by an event.
  void Nop(uint16_t token) {
    driver_.Command(Opcode::kNop, prm::kNopNow, 0, 0, 0, prm::kHcrEvent, token);
  }
  prm::CommandEvent CommandAt(uint32_t eqn, uint32_t index) {
    return driver_.machine.Get<prm::CommandEvent>(driver_.eqs[eqn].memory +
                                                  index * 32 + prm::kEqeData);
  }

  testing::VirtualTimers timers_;
  FakeDriver driver_{timers_};
};

TEST_F(Mlx4Queues, GiveEveryEventEntryToTheAdapterFirst) {
  ASSERT_EQ(driver_.StartEq(4, 3), Status::kOk);
  for (uint32_t i = 0; i < 8; ++i) EXPECT_TRUE(driver_.EventAt(4, i).owner);
}

TEST_F(Mlx4Queues, StartAnEventQueueOnceAndStopItOnce) {
  EXPECT_EQ(driver_.Command(Opcode::kHw2SwEq, 4, 1), Status::kBadResourceState);
  EXPECT_EQ(driver_.Ask(Opcode::kQueryEq, 4), Status::kBadResourceState);
  ASSERT_EQ(driver_.StartEq(4, 3), Status::kOk);
  EXPECT_EQ(driver_.StartEq(4, 3), Status::kBadResourceState);
  ASSERT_EQ(driver_.Ask(Opcode::kQueryEq, 4), Status::kOk);
  EXPECT_EQ(driver_.Out<prm::EqContext>().log_eq_size, 3);
  EXPECT_EQ(driver_.Command(Opcode::kHw2SwEq, 4, 1), Status::kOk);
  EXPECT_EQ(driver_.Command(Opcode::kHw2SwEq, 4, 1), Status::kBadResourceState);
}

TEST_F(Mlx4Queues, RefuseEventQueuesThatAreNotSoftwares) {
  EXPECT_EQ(driver_.StartEq(3, 3), Status::kBadResource);
  EXPECT_EQ(driver_.StartEq(64, 3), Status::kBadIndex);
}

TEST_F(Mlx4Queues, RefuseAnEventQueueWithoutTranslation) {
  prm::EqContext context;
  context.state = prm::kEqArmed;
  context.log_eq_size = 3;
  context.mtt_base_addr = 8000 * 8;
  EXPECT_EQ(driver_.Give(Opcode::kSw2HwEq, 4, context), Status::kIcmError);
  context.state = 3;
  EXPECT_EQ(driver_.Give(Opcode::kSw2HwEq, 4, context), Status::kBadParam);
  context.state = prm::kEqArmed;
  context.intr = 64;
  EXPECT_EQ(driver_.Give(Opcode::kSw2HwEq, 4, context), Status::kBadParam);
  context.intr = 0;
  context.log_page_size = 60;
  EXPECT_EQ(driver_.Give(Opcode::kSw2HwEq, 4, context), Status::kBadParam);
}

TEST_F(Mlx4Queues, RefuseAContextWithReservedBits) {
  prm::EqContext context;
  context.state = prm::kEqArmed;
  context.log_eq_size = 3;
  context.mtt_base_addr = driver_.MakeBuffer(4096).mtt;
  driver_.machine.Put(driver_.inbox, context);
  driver_.machine.PutWord(driver_.inbox + 0x20, 1);
  EXPECT_EQ(driver_.Command(Opcode::kSw2HwEq, 4, 0, driver_.inbox),
            Status::kBadParam);
  EXPECT_EQ(driver_.Give(Opcode::kSw2HwEq, 4, context), Status::kOk);
}

TEST_F(Mlx4Queues, CompleteCommandsByEventsWithTheirTokens) {
  ASSERT_EQ(driver_.StartEq(4, 3), Status::kOk);
  ASSERT_EQ(
      driver_.Command(Opcode::kMapEq, 4, 0, prm::EventBit(EqeType::kCommand)),
      Status::kOk);
  Nop(0x1234);
  EXPECT_FALSE(driver_.EventAt(4, 0).owner);
  EXPECT_EQ(driver_.EventAt(4, 0).type, EqeType::kCommand);
  EXPECT_EQ(CommandAt(4, 0).token, 0x1234);
  EXPECT_EQ(CommandAt(4, 0).status, 0);
  EXPECT_EQ(driver_.machine.interrupts[4], 1);
  EXPECT_TRUE(driver_.trace.back().by_event);
}

TEST_F(Mlx4Queues, RefuseACommandWhoseEventGoesNowhere) {
  Nop(1);
  EXPECT_EQ(driver_.trace.back().status, Status::kBadSysState);
}

TEST_F(Mlx4Queues, InterruptOnceForEachTimeTheyWereArmed) {
  ASSERT_EQ(driver_.StartEq(4, 3), Status::kOk);
  driver_.Command(Opcode::kMapEq, 4, 0, prm::EventBit(EqeType::kCommand));
  Nop(1);
  Nop(2);
  EXPECT_EQ(driver_.machine.interrupts[4], 1);
  driver_.ArmEq(4, 1);
  EXPECT_EQ(driver_.machine.interrupts[4], 2) << "one event was not read yet";
  driver_.ArmEq(4, 2);
  EXPECT_EQ(driver_.machine.interrupts[4], 2);
  Nop(3);
  EXPECT_EQ(driver_.machine.interrupts[4], 3);
}

TEST_F(Mlx4Queues, CountDoorbellsForNoQueueOrForEventsThatAreNotThere) {
  ASSERT_EQ(driver_.StartEq(4, 3), Status::kOk);
  driver_.Command(Opcode::kMapEq, 4, 0, prm::EventBit(EqeType::kCommand));
  Nop(1);
  driver_.ArmEq(4, 2);
  EXPECT_EQ(driver_.device.violations(), 1) << "there is one event";
  driver_.ArmEq(4, 1);
  driver_.ArmEq(4, 0);
  EXPECT_EQ(driver_.device.violations(), 2) << "it was read already";
  driver_.ArmEq(5, 0);
  EXPECT_EQ(driver_.device.violations(), 3);
  driver_.Command(Opcode::kCloseHca);
  driver_.ArmEq(5, 0);
  EXPECT_EQ(driver_.device.violations(), 3) << "it has no doorbells now";
  EXPECT_EQ(driver_.machine.interrupts[4], 1);
}

TEST_F(Mlx4Queues, LoseAnInterruptWhenATestWantsIt) {
  ASSERT_EQ(driver_.StartEq(4, 3), Status::kOk);
  driver_.Command(Opcode::kMapEq, 4, 0, prm::EventBit(EqeType::kCommand));
  driver_.device.faults().LoseInterrupts(1);
  Nop(1);
  EXPECT_EQ(driver_.machine.interrupts[4], 0);
  EXPECT_FALSE(driver_.EventAt(4, 0).owner);
}

TEST_F(Mlx4Queues, TurnTheEventsOwnershipRoundWithEachRound) {
  ASSERT_EQ(driver_.StartEq(4, 3), Status::kOk);
  driver_.Command(Opcode::kMapEq, 4, 0, prm::EventBit(EqeType::kCommand));
  for (uint32_t i = 0; i < 20; ++i) {
    Nop(static_cast<uint16_t>(i));
    EXPECT_EQ(driver_.EventAt(4, i % 8).owner, (i >> 3 & 1) != 0) << i;
    EXPECT_EQ(CommandAt(4, i % 8).token, i);
    driver_.ArmEq(4, i + 1);
  }
  EXPECT_EQ(driver_.machine.interrupts[4], 20);
  driver_.device.Reset();
  mlx4::QueueUses uses = driver_.device.ended_queues();
  EXPECT_EQ((uses[{mlx4::QueueKind::kEvents, 8}].most), 20u);
}

TEST_F(Mlx4Queues, OverrunAnEventQueueThatNobodyReads) {
  ASSERT_EQ(driver_.StartEq(4, 3), Status::kOk);
  driver_.Command(Opcode::kMapEq, 4, 0, prm::EventBit(EqeType::kCommand));
  for (int i = 0; i < 9; ++i) Nop(static_cast<uint16_t>(i));
  EXPECT_EQ(CommandAt(4, 0).token, 0) << "the first was overwritten";
  driver_.Ask(Opcode::kQueryEq, 4);
  EXPECT_EQ(driver_.Out<prm::EqContext>().status, prm::kQueueOverflow);
}

TEST_F(Mlx4Queues, KeepAnEventQueueThatIsStillMapped) {
  ASSERT_EQ(driver_.StartEq(4, 3), Status::kOk);
  EXPECT_EQ(driver_.Command(Opcode::kMapEq, 5, 0, 1 << 9),
            Status::kBadResourceState);
  ASSERT_EQ(driver_.Command(Opcode::kMapEq, 4, 0, 1 << 9), Status::kOk);
  EXPECT_EQ(driver_.Command(Opcode::kHw2SwEq, 4, 1), Status::kResourceBusy);
  ASSERT_EQ(driver_.Command(Opcode::kMapEq, 4 | prm::kMapEqUnmap, 0, 1 << 9),
            Status::kOk);
  EXPECT_EQ(driver_.Command(Opcode::kHw2SwEq, 4, 1), Status::kOk);
}

TEST_F(Mlx4Queues, StartACompletionQueueOnceAndStopItOnce) {
  EXPECT_EQ(driver_.StartCq(130, 3, 4), Status::kBadResource) << "no such EQ";
  ASSERT_EQ(driver_.StartEq(4, 3), Status::kOk);
  EXPECT_EQ(driver_.Command(Opcode::kHw2SwCq, 130, 1),
            Status::kBadResourceState);
  EXPECT_EQ(driver_.Ask(Opcode::kQueryCq, 130), Status::kBadResourceState);
  ASSERT_EQ(driver_.StartCq(130, 3, 4), Status::kOk);
  for (uint32_t i = 0; i < 8; ++i) {
    EXPECT_TRUE(driver_.CompletionAt(130, i).owner);
  }
  EXPECT_EQ(driver_.StartCq(130, 3, 4), Status::kBadResourceState);
  ASSERT_EQ(driver_.Ask(Opcode::kQueryCq, 130), Status::kOk);
  EXPECT_EQ(driver_.Out<prm::CqContext>().comp_eqn, 4);
  EXPECT_EQ(driver_.Command(Opcode::kHw2SwEq, 4, 1), Status::kResourceBusy);
  EXPECT_EQ(driver_.Command(Opcode::kHw2SwCq, 130, 1), Status::kOk);
  EXPECT_EQ(driver_.Command(Opcode::kHw2SwCq, 130, 1),
            Status::kBadResourceState);
}

TEST_F(Mlx4Queues, RefuseCompletionQueuesThatAreNotSoftwares) {
  ASSERT_EQ(driver_.StartEq(4, 3), Status::kOk);
  EXPECT_EQ(driver_.StartCq(127, 3, 4), Status::kBadResource);
  EXPECT_EQ(driver_.StartCq(256, 3, 4), Status::kBadIndex);
}

TEST_F(Mlx4Queues, ModerateACompletionQueueThatIsThere) {
  ASSERT_EQ(driver_.StartEq(4, 3), Status::kOk);
  prm::CqContext context;
  context.cq_max_count = 16;
  EXPECT_EQ(driver_.Give(Opcode::kModifyCq, 130, context, 1),
            Status::kBadResourceState);
  ASSERT_EQ(driver_.StartCq(130, 3, 4), Status::kOk);
  ASSERT_EQ(driver_.Give(Opcode::kModifyCq, 130, context, 1), Status::kOk);
  driver_.Ask(Opcode::kQueryCq, 130);
  EXPECT_EQ(driver_.Out<prm::CqContext>().cq_max_count, 16);
}

TEST_F(Mlx4Queues, GiveAMemoryRegionToTheAdapterAndTakeItBack) {
  const prm::Mpt entry = FakeDriver::Region(20, 7, 0x10000, 4096);
  EXPECT_EQ(driver_.Command(Opcode::kHw2SwMpt, 20, 1),
            Status::kBadResourceState);
  ASSERT_EQ(driver_.Give(Opcode::kSw2HwMpt, 20, entry), Status::kOk);
  EXPECT_EQ(driver_.Give(Opcode::kSw2HwMpt, 20, entry),
            Status::kBadResourceState);
  ASSERT_EQ(driver_.Ask(Opcode::kQueryMpt, 20), Status::kOk);
  EXPECT_EQ(driver_.Out<prm::Mpt>().status, prm::MptStatus::kHardware);
  EXPECT_EQ(driver_.Command(Opcode::kSyncTpt), Status::kOk);
  EXPECT_EQ(driver_.Command(Opcode::kHw2SwMpt, 20, 1), Status::kOk);
  EXPECT_EQ(driver_.Command(Opcode::kHw2SwMpt, 20, 1),
            Status::kBadResourceState);
}

TEST_F(Mlx4Queues, RefuseAMemoryRegionThatMakesNoSense) {
  prm::Mpt entry = FakeDriver::Region(20, 7, 0x10000, 4096);
  EXPECT_EQ(driver_.Give(Opcode::kSw2HwMpt, 3, entry), Status::kBadResource);
  EXPECT_EQ(driver_.Give(Opcode::kSw2HwMpt, 256, entry), Status::kBadIndex);
  EXPECT_EQ(driver_.Give(Opcode::kSw2HwMpt, 21, entry), Status::kBadParam)
      << "its key is that of another one";
  entry.status = prm::MptStatus::kHardware;
  EXPECT_EQ(driver_.Give(Opcode::kSw2HwMpt, 20, entry),
            Status::kBadResourceState);
  entry.status = prm::MptStatus::kSoftware;
  entry.entity_size = 4;
  EXPECT_EQ(driver_.Give(Opcode::kSw2HwMpt, 20, entry), Status::kBadParam);
}

TEST_F(Mlx4Queues, ShowNothingThatIsNot) {
  EXPECT_EQ(driver_.Ask(Opcode::kQueryMpt, 256), Status::kBadIndex);
  EXPECT_EQ(driver_.Ask(Opcode::kQuerySrq, 70), Status::kBadResourceState);
  EXPECT_EQ(driver_.Ask(Opcode::kQueryQp, 10), Status::kBadResourceState);
}

TEST_F(Mlx4Queues, DieWhenTheirMemoryIsGone) {
  ASSERT_EQ(driver_.StartEq(4, 3), Status::kOk);
  driver_.Command(Opcode::kMapEq, 4, 0, prm::EventBit(EqeType::kCommand));
  driver_.machine.unmapped = driver_.eqs[4].memory;
  Nop(1);
  driver_.machine.unmapped = 0;
  EXPECT_EQ(driver_.machine.interrupts[4], 0);
  driver_.Ask(Opcode::kQueryEq, 4);
  EXPECT_EQ(driver_.Out<prm::EqContext>().status, prm::kQueueWriteFailure);
}

TEST_F(Mlx4Queues, WriteTranslationsIntoContextMemoryAlone) {
  driver_.machine.Put(driver_.inbox, prm::WriteMtt{.first = 300});
  EXPECT_EQ(driver_.Command(Opcode::kWriteMtt, 1, 0, driver_.inbox),
            Status::kOk);
  EXPECT_EQ(driver_.Command(Opcode::kWriteMtt, 0, 0, driver_.inbox),
            Status::kBadParam);
  EXPECT_EQ(driver_.Command(Opcode::kWriteMtt, 511, 0, driver_.inbox),
            Status::kBadParam);
  driver_.machine.Put(driver_.inbox, prm::WriteMtt{.first = 1 << 20});
  EXPECT_EQ(driver_.Command(Opcode::kWriteMtt, 1, 0, driver_.inbox),
            Status::kIcmError);
}

TEST_F(Mlx4Queues, AnswerDiagnosticsWithCountersOfNothing) {
  EXPECT_EQ(driver_.Ask(Opcode::kDiagRprt, 0, 2), Status::kOk);
  EXPECT_EQ(driver_.Ask(Opcode::kDiagRprt, 0, 3), Status::kBadOp);
}

TEST_F(Mlx4Queues, ReadAndWriteMulticastGroups) {
  prm::McgHeader group;
  group.gid[0] = 0xff;
  EXPECT_EQ(driver_.Give(Opcode::kWriteMcg, 5, group), Status::kOk);
  ASSERT_EQ(driver_.Ask(Opcode::kReadMcg, 5), Status::kOk);
  EXPECT_EQ(driver_.Out<prm::McgHeader>().gid[0], 0xff);
  EXPECT_EQ(driver_.Ask(Opcode::kReadMcg, 64), Status::kBadIndex);
  group.member_count = 25;
  EXPECT_EQ(driver_.Give(Opcode::kWriteMcg, 5, group), Status::kBadParam)
      << "an entry of 128 bytes has 24 members";
}

TEST_F(Mlx4Queues, HashMulticastGidsIntoTheTable) {
  driver_.machine.PutWord(driver_.inbox, 0xff12401b);
  ASSERT_EQ(driver_.Command(Opcode::kMgidHash, 0, 0, driver_.inbox),
            Status::kOk);
  EXPECT_LT(driver_.out_value, 32u);
  EXPECT_EQ(driver_.Command(Opcode::kMgidHash, 0, 0, 0x100),
            Status::kInternalError);
}

}  // namespace
}  // namespace ibemu::hca::model

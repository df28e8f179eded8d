// What the adapter tells of how far its queues were used.
#include <gtest/gtest.h>

#include "hca/model/mlx4/core/queue_use.h"
#include "tests/hca/model/fake_verbs_driver.h"

namespace ibemu::hca::model::mlx4 {
namespace {

constexpr QueueSort kSort{.kind = QueueKind::kCompletions, .size = 8};

TEST(QueueUseTest, CountsQueuesThatTookAnEntryWhenTheyEnd) {
  QueueUses uses;
  {
    EntryCount one(uses, kSort);
    EntryCount other(uses, kSort);
    const EntryCount unused(uses, kSort);
    for (int i = 0; i < 20; ++i) one.Add();
    other.Add();
    EXPECT_TRUE(uses.empty());
  }
  ASSERT_EQ(uses.size(), 1u);
  EXPECT_EQ(uses[kSort].queues, 2u);
  EXPECT_EQ(uses[kSort].least, 1u);
  EXPECT_EQ(uses[kSort].most, 20u);
}

TEST(QueueUseTest, TakesAQueueOfAnotherSizeForAnotherQueue) {
  QueueUses uses;
  {
    EntryCount count(uses, kSort);
    count.Add();
    count.Add();
    count.Resize(16);
    count.Add();
  }
  EXPECT_EQ(uses[kSort].most, 2u);
  EXPECT_EQ((uses[{QueueKind::kCompletions, 16}].most), 1u);
}

TEST(QueueUseTest, KnowsEachKindOfQueueOfAnAdapter) {
  constexpr uint32_t kQpn = 200;
  testing::VirtualTimers timers;
  FakeVerbsDriver driver(timers, 5);
  prm::QpContext context = driver.Context(prm::QpService::kUd);
  ASSERT_EQ(driver.Create(kQpn, context), prm::CommandStatus::kOk);
  driver.ToRts(kQpn, context);
  prm::DatagramSegment to;
  to.remote_qpn = kQpn;
  to.address.port = 1;
  to.address.pd = FakeVerbsDriver::kPd;
  to.address.rlid = 5;
  for (int i = 0; i < 5; ++i) {
    driver.PostReceive(kQpn, {FakeVerbsDriver::At(0, 64)});
    driver.Post(kQpn,
                prm::ControlSegment{.opcode = prm::WqeOpcode::kSend,
                                    .completion = prm::kCompletionRequested},
                Concat(to, FakeVerbsDriver::At(0, 4)));
    timers.RunPending();
  }
  EXPECT_TRUE(driver.device.ended_queues().empty());
  driver.device.Reset();
  QueueUses uses = driver.device.ended_queues();
  EXPECT_EQ((uses[{QueueKind::kSends, 8}].most), 5u);
  EXPECT_EQ((uses[{QueueKind::kReceives, 8}].most), 5u);
  EXPECT_EQ((uses[{QueueKind::kCompletions, 16}].queues), 2u);
  EXPECT_EQ((uses[{QueueKind::kCompletions, 16}].least), 5u);
}

TEST(QueueUseTest, NamesEachKind) {
  EXPECT_EQ(QueueKindName(QueueKind::kEvents), "eq");
  EXPECT_EQ(QueueKindName(QueueKind::kCompletions), "cq");
  EXPECT_EQ(QueueKindName(QueueKind::kSends), "sq");
  EXPECT_EQ(QueueKindName(QueueKind::kReceives), "rq");
  EXPECT_EQ(QueueKindName(QueueKind::kShared), "srq");
}

}  // namespace
}  // namespace ibemu::hca::model::mlx4

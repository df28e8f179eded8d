// What the adapter tells of how far its queues were used.
#include "hca/model/mlx4/core/queue_use.h"

#include <gtest/gtest.h>

#include "tests/hca/model/fake_host.h"

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
  FakeHost host(timers, 5);
  prm::QpContext context = host.Context(prm::QpService::kUd);
  ASSERT_EQ(host.Create(kQpn, context), prm::CommandStatus::kOk);
  host.ToRts(kQpn, context);
  prm::DatagramSegment to;
  to.remote_qpn = kQpn;
  to.address.port = 1;
  to.address.pd = FakeHost::kPd;
  to.address.rlid = 5;
  for (int i = 0; i < 5; ++i) {
    host.PostReceive(kQpn, {FakeHost::At(0, 64)});
    host.Post(kQpn,
              prm::ControlSegment{.opcode = prm::WqeOpcode::kSend,
                                  .completion = prm::kCompletionRequested},
              Concat(to, FakeHost::At(0, 4)));
    timers.RunPending();
  }
  EXPECT_TRUE(host.device.ended_queues().empty());
  host.device.Reset();
  QueueUses uses = host.device.ended_queues();
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

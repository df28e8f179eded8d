// Datagrams: unicast and multicast, what ends them, and completion queues at
// work.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "hca/prm/mlx4_management.h"
#include "tests/hca/model/fake_host.h"

namespace ibemu::hca::model {
namespace {

using prm::CqeSyndrome;
using prm::EqeType;
using prm::Opcode;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;
using Status = prm::CommandStatus;

constexpr uint32_t kQKey = 0x1234;

class Mlx4Datagrams : public ::testing::Test {
 protected:
  Mlx4Datagrams() {
    FakeCable::Join(timers_, here_.cables[0], there_.cables[0]);
    Start(here_);
    Start(there_);
  }

  static void Start(FakeHost& host, uint32_t qpn = kQpn) {
    prm::QpContext context = host.Context(prm::QpService::kUd);
    context.qkey = kQKey;
    ASSERT_EQ(host.Create(qpn, context), Status::kOk);
    host.ToRts(qpn, context);
  }
  static prm::ControlSegment Send() {
    return {.opcode = prm::WqeOpcode::kSend,
            .completion = prm::kCompletionRequested};
  }
  static prm::DatagramSegment To(uint16_t lid, uint32_t qkey = kQKey) {
    prm::DatagramSegment segment;
    segment.remote_qpn = kQpn;
    segment.qkey = qkey;
    segment.address.port = 1;
    segment.address.pd = FakeHost::kPd;
    segment.address.rlid = lid;
    return segment;
  }

  // Makes queue pairs of `there_` the members of a group, and returns where its
  // datagrams go.
  prm::DatagramSegment Group(const std::vector<uint32_t>& members) {
    const std::array<uint8_t, 16> gid{0xff, 0x12};
    there_.machine.PutWord(there_.inbox, 0xff120000);
    for (int i = 1; i < 4; ++i) there_.machine.PutWord(there_.inbox + 4 * i, 0);
    there_.Command(Opcode::kMgidHash, 0, 0, there_.inbox);
    group_ = static_cast<uint32_t>(there_.out_value);
    for (size_t i = 0; i < members.size(); ++i) {
      there_.machine.Put(there_.inbox + 32 + 4 * i,
                         prm::McgMember{.qpn = members[i]});
    }
    EXPECT_EQ(there_.Give(Opcode::kWriteMcg, group_,
                          prm::McgHeader{.member_count = static_cast<uint32_t>(
                                             members.size()),
                                         .gid = gid}),
              Status::kOk);
    prm::DatagramSegment to = To(0xc001);
    to.remote_qpn = 0xffffff;
    to.address.grh = true;
    to.address.rgid = gid;
    return to;
  }

  testing::VirtualTimers timers_;
  FakeHost here_{timers_, 5};
  FakeHost there_{timers_, 6};
  uint32_t group_ = 0;  // its index
};

TEST_F(Mlx4Datagrams, CarryAMessageAcrossTheWire) {
  here_.Fill(0, "seven bytes");
  there_.PostReceive(kQpn, {FakeHost::At(0, 64)});
  here_.Post(kQpn, Send(), Concat(To(6), FakeHost::At(0, 7)));
  timers_.RunPending();
  EXPECT_EQ(here_.NextSyndrome(FakeHost::kSendCq), CqeSyndrome::kNone);
  const prm::Cqe got = there_.NextCqe(FakeHost::kReceiveCq);
  EXPECT_EQ(got.qpn, kQpn);
  EXPECT_EQ(got.remote_qpn, kQpn);
  EXPECT_EQ(got.remote_lid, 5);
  EXPECT_EQ(got.byte_count, 47u);
  EXPECT_EQ(got.opcode, prm::kReceivedSend);
  EXPECT_EQ(there_.Text(40, 7), "seven b");
}

TEST_F(Mlx4Datagrams, CarryImmediateDataAndAGlobalRoute) {
  there_.PostReceive(kQpn, {FakeHost::At(0, 64)});
  prm::DatagramSegment to = To(6);
  to.address.grh = true;
  to.address.hop_limit = 3;
  to.address.rgid[15] = 6;
  prm::ControlSegment control = Send();
  control.opcode = prm::WqeOpcode::kSendImmediate;
  control.immediate = 0xcafe0001;
  here_.Post(kQpn, control, Concat(to, FakeHost::At(0, 4)));
  timers_.RunPending();
  const prm::Cqe got = there_.NextCqe(FakeHost::kReceiveCq);
  EXPECT_EQ(got.opcode, prm::kReceivedSendImmediate);
  EXPECT_EQ(got.immediate, 0xcafe0001);
  EXPECT_TRUE(got.grh);
  const auto grh = there_.machine.Get<wire::GlobalRouteHeader>(there_.region);
  EXPECT_EQ(grh.sgid.interface_id, 5u);
  EXPECT_EQ(grh.dgid.interface_id, 6u);
  EXPECT_EQ(grh.hop_limit, 3);
}

TEST_F(Mlx4Datagrams, GatherAndScatterPiecesAndInlineBytes) {
  here_.Fill(0, "abcdef");
  there_.PostReceive(kQpn, {FakeHost::At(0, 41), FakeHost::At(100, 64)});
  std::vector<std::byte> segments =
      Concat(To(6), FakeHost::At(0, 2), prm::InlineSegment{.byte_count = 3});
  for (const char c : {'x', 'y', 'z'}) {
    segments.push_back(static_cast<std::byte>(c));
  }
  segments.resize((segments.size() + 15) / 16 * 16);
  for (std::byte byte : Concat(FakeHost::At(4, 2))) segments.push_back(byte);
  here_.Post(kQpn, Send(), segments);
  timers_.RunPending();
  EXPECT_EQ(there_.NextCqe(FakeHost::kReceiveCq).byte_count, 47u);
  EXPECT_EQ(there_.Text(40, 1), "a");
  EXPECT_EQ(there_.Text(100, 6), "bxyzef");
}

TEST_F(Mlx4Datagrams, AreDroppedForAWrongKeyOrWithoutAPlace) {
  here_.Post(kQpn, Send(), Concat(To(6), FakeHost::At(0, 4)));
  timers_.RunPending();
  there_.PostReceive(kQpn, {FakeHost::At(0, 64)});
  EXPECT_THAT(there_.cables[0].bad_keys, IsEmpty());
  here_.Post(kQpn, Send(), Concat(To(6, kQKey + 1), FakeHost::At(0, 4)));
  timers_.RunPending();
  mad::BadKeyDetails told{.lid1 = wire::Lid{5},
                          .lid2 = wire::Lid{6},
                          .key = kQKey + 1,
                          .qp1 = kQpn,
                          .qp2 = kQpn};
  EXPECT_THAT(there_.cables[0].bad_keys,
              ElementsAre(Pair(mad::TrapNumber::kBadQKey, 1u)));
  EXPECT_EQ(there_.cables[0].last_bad_key, told);
  there_.cables[0].p_key = 0x8001;
  here_.Post(kQpn, Send(), Concat(To(6), FakeHost::At(0, 4)));
  timers_.RunPending();
  told.key = 0xffff;
  EXPECT_THAT(there_.cables[0].bad_keys,
              ElementsAre(Pair(mad::TrapNumber::kBadPKey, 1u),
                          Pair(mad::TrapNumber::kBadQKey, 1u)));
  EXPECT_EQ(there_.cables[0].last_bad_key, told);
  EXPECT_TRUE(there_.Empty(FakeHost::kReceiveCq));
  EXPECT_EQ(there_.Query(kQpn).state, prm::QpContextState::kRts);
}

TEST_F(Mlx4Datagrams, UseTheContextsKeyWhenTheWqesIsControlled) {
  there_.PostReceive(kQpn, {FakeHost::At(0, 64)});
  here_.Post(kQpn, Send(), Concat(To(6, 0x80000000), FakeHost::At(0, 4)));
  timers_.RunPending();
  EXPECT_FALSE(there_.Empty(FakeHost::kReceiveCq));
}

TEST_F(Mlx4Datagrams, FailWithoutARightToTheMemory) {
  prm::DataSegment wrong = FakeHost::At(0, 4);
  wrong.lkey += 1;
  here_.Post(kQpn, Send(), Concat(To(6), wrong));
  EXPECT_EQ(here_.NextSyndrome(FakeHost::kSendCq),
            CqeSyndrome::kLocalProtection);
}

TEST_F(Mlx4Datagrams, FailBeyondTheEndOfTheMemory) {
  here_.Post(kQpn, Send(),
             Concat(To(6), FakeHost::At(FakeHost::kRegionBytes - 2, 4)));
  EXPECT_EQ(here_.NextSyndrome(FakeHost::kSendCq),
            CqeSyndrome::kLocalProtection);
}

TEST_F(Mlx4Datagrams, FailWhenTheHostsMemoryIsGone) {
  here_.machine.unmapped = here_.region;
  here_.Post(kQpn, Send(), Concat(To(6), FakeHost::At(0, 4)));
  EXPECT_EQ(here_.NextSyndrome(FakeHost::kSendCq),
            CqeSyndrome::kLocalProtection);
}

TEST_F(Mlx4Datagrams, BreakWhenTheirQueuesMemoryIsGone) {
  here_.Post(kQpn, Send(), Concat(To(6), FakeHost::At(0, 4)), false);
  here_.machine.unmapped = here_.pairs[kQpn].sends;
  here_.Ring(kQpn);
  EXPECT_EQ(here_.Query(kQpn).state, prm::QpContextState::kError);
  EXPECT_THAT(here_.Events(), Contains(EqeType::kWqCatastrophicError));
}

TEST_F(Mlx4Datagrams, BreakWhenTheCompletionQueuesMemoryIsGone) {
  here_.machine.unmapped = here_.cqs[FakeHost::kSendCq].memory;
  here_.Post(kQpn, Send(), Concat(To(6), FakeHost::At(0, 4)));
  EXPECT_EQ(here_.Query(kQpn).state, prm::QpContextState::kError);
  ASSERT_THAT(here_.Events(), Contains(EqeType::kCqError));
  const auto event = here_.machine.Get<prm::QueueEvent>(
      here_.eqs[FakeHost::kAsyncEq].memory + prm::kEqeData);
  EXPECT_EQ(event.number, FakeHost::kSendCq);
  EXPECT_EQ(event.syndrome, prm::kCqAccessViolation);
}

TEST_F(Mlx4Datagrams, BreakWhenTheReceiversDoorbellRecordIsGone) {
  there_.PostReceive(kQpn, {FakeHost::At(0, 64)});
  there_.machine.unmapped = there_.pairs[kQpn].record;
  here_.Post(kQpn, Send(), Concat(To(6), FakeHost::At(0, 4)));
  timers_.RunPending();
  EXPECT_EQ(there_.Query(kQpn).state, prm::QpContextState::kError);
}

TEST_F(Mlx4Datagrams, FailInAnotherProtectionDomainOrOnAnotherPort) {
  prm::DatagramSegment to = To(6);
  to.address.pd = 8;
  here_.Post(kQpn, Send(), Concat(to, FakeHost::At(0, 4)));
  EXPECT_EQ(here_.NextSyndrome(FakeHost::kSendCq),
            CqeSyndrome::kLocalQpOperation);
}

TEST_F(Mlx4Datagrams, FailAboveTheMtu) {
  here_.cables[0].info.mtu_cap = 1;
  here_.Post(kQpn, Send(), Concat(To(6), FakeHost::At(0, 257)));
  EXPECT_EQ(here_.NextSyndrome(FakeHost::kSendCq), CqeSyndrome::kLocalLength);
}

TEST_F(Mlx4Datagrams, FailAWqeThatIsShorterThanItSays) {
  here_.Post(kQpn, Send(), Concat(FakeHost::At(0, 4)));
  EXPECT_EQ(here_.NextSyndrome(FakeHost::kSendCq),
            CqeSyndrome::kLocalQpOperation);
}

TEST_F(Mlx4Datagrams, BreakTheReceiverWhoseBuffersAreTooShort) {
  there_.PostReceive(kQpn, {FakeHost::At(0, 41)});
  there_.PostReceive(kQpn, {FakeHost::At(0, 64)});
  here_.Post(kQpn, Send(), Concat(To(6), FakeHost::At(0, 4)));
  timers_.RunPending();
  EXPECT_EQ(there_.NextSyndrome(FakeHost::kReceiveCq),
            CqeSyndrome::kLocalLength);
  EXPECT_EQ(there_.NextSyndrome(FakeHost::kReceiveCq), CqeSyndrome::kFlushed);
  EXPECT_EQ(there_.Query(kQpn).state, prm::QpContextState::kError);
  // What is posted now is flushed without a doorbell.
  there_.PostReceive(kQpn, {FakeHost::At(0, 64)});
  EXPECT_TRUE(there_.Empty(FakeHost::kReceiveCq));
  timers_.RunFor(absl::Milliseconds(20));
  EXPECT_EQ(there_.NextSyndrome(FakeHost::kReceiveCq), CqeSyndrome::kFlushed);
}

TEST_F(Mlx4Datagrams, ReachTheMembersOfAMulticastGroup) {
  Start(there_, kQpn + 1);
  const prm::DatagramSegment to = Group({kQpn, kQpn + 1});
  there_.PostReceive(kQpn, {FakeHost::At(0, 64)});
  there_.PostReceive(kQpn + 1, {FakeHost::At(64, 64)});
  here_.Post(kQpn, Send(), Concat(to, FakeHost::At(0, 4)));
  timers_.RunPending();
  EXPECT_EQ(there_.NextCqe(FakeHost::kReceiveCq).qpn, kQpn);
  EXPECT_EQ(there_.NextCqe(FakeHost::kReceiveCq).qpn, kQpn + 1);
  EXPECT_TRUE(there_.Empty(FakeHost::kReceiveCq));
}

TEST_F(Mlx4Datagrams, OfAGroupMayBeOfAnotherPartitionWithoutAWord) {
  const prm::DatagramSegment to = Group({kQpn});
  there_.PostReceive(kQpn, {FakeHost::At(0, 64)});
  there_.PostReceive(kQpn, {FakeHost::At(0, 64)});
  here_.Post(kQpn, Send(), Concat(to, FakeHost::At(0, 4)));
  timers_.RunPending();
  EXPECT_EQ(there_.NextCqe(FakeHost::kReceiveCq).qpn, kQpn);
  there_.cables[0].p_key = 0x8001;
  here_.Post(kQpn, Send(), Concat(to, FakeHost::At(0, 4)));
  timers_.RunPending();
  EXPECT_TRUE(there_.Empty(FakeHost::kReceiveCq));
  EXPECT_THAT(there_.cables[0].bad_keys, IsEmpty());
}

TEST_F(Mlx4Datagrams, SurviveAGroupThatSoftwareWroteItself) {
  const prm::DatagramSegment to = Group({});
  const uint64_t entry = there_.multicast_table + uint64_t{group_} * 128;
  const auto header = there_.machine.Get<prm::McgHeader>(entry);
  ASSERT_EQ(header.gid, to.address.rgid);
  there_.machine.Put(
      entry, prm::McgHeader{.member_count = 0xffffff, .gid = header.gid});
  here_.Post(kQpn, Send(), Concat(to, FakeHost::At(0, 4)));
  timers_.RunPending();
  EXPECT_TRUE(there_.Empty(FakeHost::kReceiveCq));
}

TEST_F(Mlx4Datagrams, NotifyOnceForEachTimeTheQueueWasArmed) {
  int& interrupts = there_.machine.interrupts[FakeHost::kEq];
  const auto send = [this] {
    there_.PostReceive(kQpn, {FakeHost::At(0, 64)});
    here_.Post(kQpn, Send(), Concat(To(6), FakeHost::At(0, 4)));
    timers_.RunPending();
    here_.NextCqe(FakeHost::kSendCq);
    there_.NextCqe(FakeHost::kReceiveCq);
  };
  send();
  EXPECT_EQ(interrupts, 0);
  there_.ArmCq(FakeHost::kReceiveCq, 1, prm::kCqArmNext, 1);
  send();
  EXPECT_EQ(interrupts, 1);
  EXPECT_EQ(there_.EventAt(FakeHost::kEq, 0).type, EqeType::kCompletion);
  there_.ArmEq(FakeHost::kEq, 1);
  send();
  EXPECT_EQ(interrupts, 1);
  there_.ArmCq(FakeHost::kReceiveCq, 1, prm::kCqArmNext, 0);
  EXPECT_EQ(interrupts, 1) << "a repetition of what was answered";
  there_.ArmCq(FakeHost::kReceiveCq, 2, prm::kCqArmNext, 2, FakeHost::kUar + 1);
  EXPECT_EQ(interrupts, 1) << "from another's page";
  there_.ArmCq(FakeHost::kReceiveCq, 2, prm::kCqArmNext, 2);
  EXPECT_EQ(interrupts, 2) << "one is there that it does not know";
}

TEST_F(Mlx4Datagrams, NotifyOfSolicitedOnesAlone) {
  int& interrupts = there_.machine.interrupts[FakeHost::kEq];
  there_.ArmCq(FakeHost::kReceiveCq, 1, prm::kCqArmSolicitedOnly, 0);
  there_.PostReceive(kQpn, {FakeHost::At(0, 64)});
  there_.PostReceive(kQpn, {FakeHost::At(0, 64)});
  prm::ControlSegment control = Send();
  here_.Post(kQpn, control, Concat(To(6), FakeHost::At(0, 4)));
  timers_.RunPending();
  EXPECT_EQ(interrupts, 0);
  control.solicited = true;
  here_.Post(kQpn, control, Concat(To(6), FakeHost::At(0, 4)));
  timers_.RunPending();
  EXPECT_EQ(interrupts, 1);
}

TEST_F(Mlx4Datagrams, OverrunACompletionQueueThatNobodyReads) {
  for (int i = 0; i < 17; ++i) {
    here_.Post(kQpn, Send(), Concat(To(6), FakeHost::At(0, 4)));
  }
  EXPECT_THAT(here_.Events(), Contains(EqeType::kCqError));
  EXPECT_EQ(here_.Query(kQpn).state, prm::QpContextState::kError);
  here_.Ask(Opcode::kQueryCq, FakeHost::kSendCq);
  EXPECT_EQ(here_.Out<prm::CqContext>().status, prm::kQueueOverflow);
}

TEST_F(Mlx4Datagrams, MoveUnreadCompletionsPastAResize) {
  here_.Post(kQpn, Send(), Concat(To(6), FakeHost::At(0, 4)));
  const FakeDriver::Buffer old = here_.cqs[FakeHost::kSendCq];
  const FakeDriver::Buffer larger = here_.MakeBuffer(32 * 32);
  prm::CqContext context;
  context.log_cq_size = 5;
  context.mtt_base_addr = larger.mtt;
  ASSERT_EQ(here_.Give(Opcode::kModifyCq, FakeHost::kSendCq, context),
            Status::kOk);
  EXPECT_EQ(here_.machine.Get<prm::Cqe>(old.memory + 32).opcode, 0x16)
      << "it says that the rest is elsewhere";
  here_.Post(kQpn, Send(), Concat(To(6), FakeHost::At(0, 4)));
  const auto moved = here_.machine.Get<prm::Cqe>(larger.memory + 2 * 32);
  EXPECT_FALSE(moved.owner);
  EXPECT_EQ(moved.wqe_counter, 1);
  EXPECT_TRUE(here_.machine.Get<prm::Cqe>(larger.memory + 3 * 32).owner);
  context.log_cq_size = 0;
  EXPECT_EQ(here_.Give(Opcode::kModifyCq, FakeHost::kSendCq, context),
            Status::kBadSize);
}

TEST_F(Mlx4Datagrams, KeepWhatAQueuePairStillUses) {
  EXPECT_EQ(here_.Command(Opcode::kHw2SwCq, FakeHost::kSendCq, 1),
            Status::kResourceBusy);
  EXPECT_EQ(here_.Command(Opcode::k2RstQp, kQpn, 2), Status::kOk);
  EXPECT_EQ(here_.Command(Opcode::kHw2SwCq, FakeHost::kSendCq, 1), Status::kOk);
  EXPECT_EQ(here_.Query(kQpn).state, prm::QpContextState::kReset);
}

TEST_F(Mlx4Datagrams, MoveTheirQueuePairAsTheSpecificationSays) {
  const prm::QpContext context = here_.Context(prm::QpService::kUd);
  EXPECT_EQ(here_.Modify(Opcode::kRtr2RtsQp, kQpn, context),
            Status::kBadQpState);
  EXPECT_EQ(here_.Modify(Opcode::kRst2InitQp, kQpn, context),
            Status::kBadQpState);
  EXPECT_EQ(here_.Modify(Opcode::kRts2RtsQp, kQpn, context), Status::kOk);
  EXPECT_EQ(here_.Modify(Opcode::kRts2SqdQp, kQpn, context, 0, prm::kSqdEvent),
            Status::kOk);
  EXPECT_THAT(here_.Events(), Contains(EqeType::kSendQueueDrained));
  here_.Post(kQpn, Send(), Concat(To(6), FakeHost::At(0, 4)));
  EXPECT_TRUE(here_.Empty(FakeHost::kSendCq));
  EXPECT_EQ(here_.Modify(Opcode::kSqd2SqdQp, kQpn, context), Status::kOk);
  EXPECT_EQ(here_.Modify(Opcode::kSqd2RtsQp, kQpn, context), Status::kOk);
  EXPECT_FALSE(here_.Empty(FakeHost::kSendCq)) << "it goes on by itself";
  EXPECT_EQ(here_.Modify(Opcode::kSqErr2RtsQp, kQpn, context),
            Status::kBadQpState);
  here_.NextCqe(FakeHost::kSendCq);
  here_.Post(kQpn, Send(), Concat(FakeHost::At(0, 4)));  // malformed
  EXPECT_EQ(here_.Query(kQpn).state, prm::QpContextState::kSqError);
  EXPECT_EQ(here_.Modify(Opcode::kSqErr2RtsQp, kQpn, context), Status::kOk);
  EXPECT_EQ(here_.Query(kQpn).state, prm::QpContextState::kRts);
  EXPECT_EQ(here_.Command(Opcode::k2ErrQp, kQpn), Status::kOk);
  EXPECT_EQ(here_.Query(kQpn).state, prm::QpContextState::kError);
  EXPECT_EQ(here_.Modify(Opcode::kInit2RtrQp, kQpn, context),
            Status::kBadQpState);
}

TEST_F(Mlx4Datagrams, ChangeTheirKeyBeforeTheyReceive) {
  prm::QpContext context = here_.Context(prm::QpService::kUd);
  ASSERT_EQ(here_.Create(300, context), Status::kOk);
  context.qkey = 0x77;
  EXPECT_EQ(here_.Modify(Opcode::kInit2InitQp, 300, context, prm::kOptQKey),
            Status::kOk);
  EXPECT_EQ(here_.Query(300).qkey, 0x77u);
  EXPECT_EQ(here_.Query(300).state, prm::QpContextState::kInit);
}

TEST_F(Mlx4Datagrams, RefuseQueuePairsThatMakeNoSense) {
  prm::QpContext context = here_.Context(prm::QpService::kUd);
  EXPECT_EQ(here_.Create(63, context), Status::kBadResource);
  EXPECT_EQ(here_.Command(Opcode::kInit2InitQp, 300, 0, here_.inbox),
            Status::kBadQpState);
  EXPECT_EQ(here_.Create(kQpn + 1024, context), Status::kBadResourceState)
      << "the number has the same place in the table";
  context.cqn_send = 140;
  EXPECT_EQ(here_.Create(300, context), Status::kBadResourceState);
  context = here_.Context(static_cast<prm::QpService>(2));  // RD
  EXPECT_EQ(here_.Create(300, context), Status::kBadParam);
  context = here_.Context(prm::QpService::kUd);
  context.pd = 1 << 16;
  EXPECT_EQ(here_.Create(300, context), Status::kBadParam);
  context = here_.Context(prm::QpService::kUd);
  context.mtt_base_addr = 1 << 17;
  EXPECT_EQ(here_.Modify(Opcode::kRst2InitQp, 300, context), Status::kIcmError);
}

TEST_F(Mlx4Datagrams, TakeReceiveBuffersFromASharedQueue) {
  constexpr uint32_t kSrqn = 70;
  const FakeDriver::Buffer buffer = there_.MakeBuffer(4096);
  const uint64_t record = there_.machine.Allocate(4);
  prm::SrqContext shared;
  shared.log_srq_size = 2;
  shared.log_stride = 1;
  shared.pd = FakeHost::kPd;
  shared.mtt_base_addr = buffer.mtt;
  shared.db_record_addr = record;
  EXPECT_EQ(there_.Command(Opcode::kHw2SwSrq, kSrqn, 1),
            Status::kBadResourceState);
  EXPECT_EQ(there_.Command(Opcode::kArmSrq, kSrqn, 0, 2),
            Status::kBadResourceState);
  EXPECT_EQ(there_.Give(Opcode::kSw2HwSrq, 5, shared), Status::kBadResource);
  ASSERT_EQ(there_.Give(Opcode::kSw2HwSrq, kSrqn, shared), Status::kOk);
  EXPECT_EQ(there_.Give(Opcode::kSw2HwSrq, kSrqn, shared),
            Status::kBadResourceState);
  // A ring of four: 0, 2, 1, 3.
  const std::array<uint16_t, 4> next{2, 3, 1, 0};
  for (uint64_t i = 0; i < 4; ++i) {
    there_.machine.Put(buffer.memory + i * 32,
                       prm::NextSegment{.next_wqe_index = next[i]});
    there_.machine.Put(buffer.memory + i * 32 + 16, FakeHost::At(i * 64, 64));
  }
  there_.machine.PutWord(record, 3);
  ASSERT_EQ(there_.Command(Opcode::kArmSrq, kSrqn, 0, 2), Status::kOk);

  there_.Command(Opcode::k2RstQp, kQpn, 2);
  prm::QpContext context = there_.Context(prm::QpService::kUd);
  context.qkey = kQKey;
  context.srq = true;
  context.srqn = kSrqn;
  ASSERT_EQ(there_.Create(kQpn, context), Status::kOk);
  there_.ToRts(kQpn, context);
  EXPECT_EQ(there_.Command(Opcode::kHw2SwSrq, kSrqn, 1), Status::kResourceBusy);
  for (int i = 0; i < 4; ++i) {
    here_.Post(kQpn, Send(), Concat(To(6), FakeHost::At(0, 4)));
    timers_.RunPending();
  }
  EXPECT_EQ(there_.NextCqe(FakeHost::kReceiveCq).wqe_counter, 0);
  EXPECT_EQ(there_.NextCqe(FakeHost::kReceiveCq).wqe_counter, 2);
  EXPECT_EQ(there_.NextCqe(FakeHost::kReceiveCq).wqe_counter, 1);
  EXPECT_TRUE(there_.Empty(FakeHost::kReceiveCq)) << "three were posted";
  // Round and round the ring.
  const std::array<uint16_t, 4> order{3, 0, 2, 1};
  for (uint32_t i = 0; i < 20; ++i) {
    there_.machine.PutWord(record, 4 + i);
    here_.Post(kQpn, Send(), Concat(To(6), FakeHost::At(0, 4)));
    timers_.RunPending();
    here_.NextCqe(FakeHost::kSendCq);
    EXPECT_EQ(there_.NextCqe(FakeHost::kReceiveCq).wqe_counter, order[i % 4]);
  }
  EXPECT_THAT(there_.Events(), Contains(EqeType::kSrqLimit));
  ASSERT_EQ(there_.Ask(Opcode::kQuerySrq, kSrqn), Status::kOk);
  EXPECT_EQ(there_.Out<prm::SrqContext>().limit_watermark, 0);
  there_.device.Reset();
  mlx4::QueueUses uses = there_.device.ended_queues();
  EXPECT_EQ((uses[{mlx4::QueueKind::kShared, 4}].most), 23u);
}

}  // namespace
}  // namespace ibemu::hca::model

// What firmware refuses of each command, beside the stage that it comes in.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "hca/prm/mlx4_management.h"
#include "tests/hca/model/fake_host.h"

namespace ibemu::hca::model {
namespace {

using prm::Opcode;
using Status = prm::CommandStatus;

constexpr uint64_t kNowhere = 0x7700001000;

class Mlx4Refusals : public ::testing::Test {
 protected:
  // Gives `value` with bit `bit` (from its first) set, too.
  template <wire::Structure T>
  Status GiveWithBit(Opcode opcode, uint32_t in_modifier, const T& value,
                     size_t bit, size_t offset = 0) {
    here_.machine.Put(here_.inbox + offset, value);
    here_.machine.Bytes(here_.inbox + offset + bit / 8, 1)[0] |=
        std::byte{0x80} >> bit % 8;
    return here_.Command(opcode, in_modifier, 0, here_.inbox, here_.outbox);
  }
  prm::SrqContext SharedQueue() {
    prm::SrqContext context;
    context.log_srq_size = 3;
    context.log_stride = 1;
    context.pd = FakeHost::kPd;
    context.mtt_base_addr = here_.MakeBuffer(4096).mtt;
    context.db_record_addr = here_.machine.Allocate(8);
    return context;
  }
  prm::CqContext Completions() {
    prm::CqContext context;
    context.log_cq_size = 3;
    context.usr_page = FakeHost::kUar;
    context.comp_eqn = FakeHost::kEq;
    context.mtt_base_addr = here_.MakeBuffer(4096).mtt;
    context.db_record_addr = here_.machine.Allocate(8);
    return context;
  }

  testing::VirtualTimers timers_;
  FakeHost here_{timers_};
};

TEST_F(Mlx4Refusals, MailboxesThatAreNotAlignedOrNotThere) {
  // An object for each, so that nothing else is wrong.
  const prm::QpContext context = here_.Context(prm::QpService::kUd);
  ASSERT_EQ(here_.Create(kQpn, context), Status::kOk);
  ASSERT_EQ(here_.Give(Opcode::kSw2HwSrq, 70, SharedQueue()), Status::kOk);
  const std::pair<Opcode, uint32_t> outboxes[] = {
      {Opcode::kQueryFw, 0},      {Opcode::kQueryDevCap, 0},
      {Opcode::kQueryAdapter, 0}, {Opcode::kQueryPort, 1},
      {Opcode::kQueryHca, 0},     {Opcode::kQueryEq, FakeHost::kEq},
      {Opcode::kQueryMpt, 20},    {Opcode::kQueryCq, FakeHost::kSendCq},
      {Opcode::kQueryQp, kQpn},   {Opcode::kQuerySrq, 70},
      {Opcode::kReadMcg, 5},      {Opcode::kDiagRprt, 0},
      {Opcode::kMadIfc, 1},
  };
  for (const auto& [opcode, number] : outboxes) {
    EXPECT_EQ(here_.Command(opcode, number, 0, here_.inbox, here_.outbox + 8),
              Status::kBadParam)
        << prm::Name(opcode);
    EXPECT_EQ(here_.Command(opcode, number, 0, here_.inbox, kNowhere),
              Status::kInternalError)
        << prm::Name(opcode);
    EXPECT_EQ(here_.Ask(opcode, number), Status::kOk) << prm::Name(opcode);
  }
  EXPECT_EQ(here_.Command(Opcode::kMadDemux, prm::kMadDemuxSubnet,
                          prm::kMadDemuxQueryRestrictions, here_.inbox,
                          here_.outbox + 8),
            Status::kBadParam);
  const std::pair<Opcode, uint32_t> inboxes[] = {
      {Opcode::kSw2HwMpt, 30},     {Opcode::kSw2HwEq, 8},
      {Opcode::kSw2HwCq, 140},     {Opcode::kSw2HwSrq, 71},
      {Opcode::kModifyCq, 130},    {Opcode::kWriteMtt, 1},
      {Opcode::kWriteMcg, 5},      {Opcode::kMgidHash, 0},
      {Opcode::kSetPort, 1},       {Opcode::kMadIfc, 1},
      {Opcode::kRst2InitQp, 201},  {Opcode::kInit2InitQp, kQpn},
      {Opcode::kInit2RtrQp, kQpn}, {Opcode::kMapIcm, 1},
      {Opcode::kModStatCfg, 0},    {Opcode::kRtr2RtsQp, kQpn},
      {Opcode::kRts2RtsQp, kQpn},  {Opcode::kSqErr2RtsQp, kQpn},
      {Opcode::kRts2SqdQp, kQpn},  {Opcode::kSqd2SqdQp, kQpn},
      {Opcode::kSqd2RtsQp, kQpn}};
  for (const auto& [opcode, number] : inboxes) {
    EXPECT_EQ(here_.Command(opcode, number, 0, here_.inbox + 8, here_.outbox),
              Status::kBadParam)
        << prm::Name(opcode);
    EXPECT_EQ(here_.Command(opcode, number, 0, kNowhere, here_.outbox),
              Status::kInternalError)
        << prm::Name(opcode);
  }
  const std::pair<Opcode, uint32_t> back[] = {
      {Opcode::kHw2SwMpt, FakeHost::kRegion}, {Opcode::kHw2SwSrq, 70}};
  for (const auto& [opcode, number] : back) {
    EXPECT_EQ(here_.Command(opcode, number, 0, 0, here_.outbox + 8),
              Status::kBadParam)
        << prm::Name(opcode);
    EXPECT_EQ(here_.Ask(opcode, number), Status::kOk) << "it was not stopped";
  }
}

TEST_F(Mlx4Refusals, MailboxesOfBringUpThatAreNotAligned) {
  ASSERT_EQ(here_.Command(Opcode::kCloseHca), Status::kOk);
  for (const Opcode opcode : {Opcode::kInitHca, Opcode::kMapIcmAux}) {
    EXPECT_EQ(here_.Command(opcode, 1, 0, here_.inbox + 8), Status::kBadParam)
        << prm::Name(opcode);
  }
  FakeDriver fresh(timers_);
  EXPECT_EQ(fresh.Command(Opcode::kMapFa, 1, 0, fresh.inbox + 8),
            Status::kBadParam);
}

TEST_F(Mlx4Refusals, ReservedBitsOfWhatSoftwareGives) {
  const prm::QpContext context = here_.Context(prm::QpService::kUd);
  ASSERT_EQ(here_.Create(kQpn, context), Status::kOk);
  constexpr size_t kAfterPrimaryPath = 0x18 * 8 + 264;
  EXPECT_EQ(GiveWithBit(Opcode::kInit2RtrQp, kQpn, context, kAfterPrimaryPath,
                        prm::kQpContextInMailbox),
            Status::kBadParam);
  EXPECT_EQ(GiveWithBit(Opcode::kSetPort, 1, prm::SetPort{}, 0),
            Status::kBadParam);
  EXPECT_EQ(GiveWithBit(Opcode::kWriteMcg, 5, prm::McgHeader{}, 64),
            Status::kBadParam);
  const prm::McgHeader group{.member_count = 1};
  here_.machine.PutWord(here_.inbox + 0x20, 0x80000001);
  EXPECT_EQ(here_.Give(Opcode::kWriteMcg, 5, group), Status::kBadParam)
      << "a member's";
  EXPECT_EQ(
      GiveWithBit(Opcode::kMapIcm, 1,
                  prm::VirtualPhysicalMapping{.virtual_page = 0xff000}, 63),
      Status::kBadParam);
  here_.Command(Opcode::kCloseHca);
  const prm::InitHca tables{.tables = FakeDriver::Tables()};
  EXPECT_EQ(GiveWithBit(Opcode::kInitHca, 0, tables, 0x140 * 8),
            Status::kBadParam);
  here_.machine.PutWord(here_.inbox + 0x140, 0);
  EXPECT_EQ(here_.Give(Opcode::kInitHca, 0, tables), Status::kOk);
}

// Linux's driver sets all bits there.
TEST_F(Mlx4Refusals, NothingOfTheReceiveQueueThatASharedOneStandsFor) {
  ASSERT_EQ(here_.Give(Opcode::kSw2HwSrq, 70, SharedQueue()), Status::kOk);
  prm::QpContext context = here_.Context(prm::QpService::kRc);
  context.srqn = 70;
  context.mtt_base_addr = here_.MakeBuffer(8192).mtt;
  context.db_record_addr = here_.machine.Allocate(4);
  for (const bool shared : {false, true}) {
    context.srq = shared;
    EXPECT_EQ(
        GiveWithBit(Opcode::kRst2InitQp, kQpn, context,
                    prm::kQpReceiveQueueByte * 8, prm::kQpContextInMailbox),
        shared ? Status::kOk : Status::kBadParam);
  }
}

TEST_F(Mlx4Refusals, PathsThatLeadNowhere) {
  prm::QpContext context = here_.Context(prm::QpService::kUd);
  ASSERT_EQ(here_.Create(kQpn, context), Status::kOk);
  for (const uint8_t mtu : {0, 6}) {
    context.mtu = mtu;
    EXPECT_EQ(here_.Modify(Opcode::kInit2RtrQp, kQpn, context),
              Status::kBadParam);
  }
  context.mtu = 3;
  context.primary.sched_queue = prm::SchedQueue(2, 0);
  EXPECT_EQ(here_.Modify(Opcode::kInit2RtrQp, kQpn, context), Status::kBadParam)
      << "there is one port";
  context.primary.sched_queue = prm::SchedQueue(1, 0);
  EXPECT_EQ(here_.Modify(Opcode::kInit2RtrQp, kQpn, context), Status::kOk);
}

TEST_F(Mlx4Refusals, MulticastGroupsBeyondTheTable) {
  EXPECT_EQ(here_.Give(Opcode::kWriteMcg, 64, prm::McgHeader{}),
            Status::kBadIndex);
  EXPECT_EQ(
      here_.Give(Opcode::kWriteMcg, 5, prm::McgHeader{.next_gid_index = 64}),
      Status::kBadParam);
}

TEST_F(Mlx4Refusals, SharedReceiveQueuesThatMakeNoSense) {
  const prm::SrqContext good = SharedQueue();
  prm::SrqContext bad = good;
  bad.log_stride = 0;
  EXPECT_EQ(here_.Give(Opcode::kSw2HwSrq, 70, bad), Status::kBadParam);
  bad = good;
  bad.xrcd = 1;
  EXPECT_EQ(here_.Give(Opcode::kSw2HwSrq, 70, bad), Status::kBadParam);
  bad = good;
  bad.pd = 1 << 15;
  EXPECT_EQ(here_.Give(Opcode::kSw2HwSrq, 70, bad), Status::kBadParam);
  bad = good;
  bad.log_srq_size = 15;
  EXPECT_EQ(here_.Give(Opcode::kSw2HwSrq, 70, bad), Status::kBadParam);
  bad = good;
  bad.mtt_base_addr += 4;
  EXPECT_EQ(here_.Give(Opcode::kSw2HwSrq, 70, bad), Status::kBadParam);
  bad = good;
  bad.db_record_addr += 2;
  EXPECT_EQ(here_.Give(Opcode::kSw2HwSrq, 70, bad), Status::kBadParam);
  bad = good;
  bad.mtt_base_addr = 8000 * 8;
  EXPECT_EQ(here_.Give(Opcode::kSw2HwSrq, 70, bad), Status::kIcmError);
  EXPECT_EQ(here_.Give(Opcode::kSw2HwSrq, 3, good), Status::kBadResource);
  EXPECT_EQ(here_.Give(Opcode::kSw2HwSrq, 256, good), Status::kBadIndex);
  here_.Command(Opcode::kUnmapIcm, 64, 0,
                prm::TableBase(FakeDriver::Tables().srqc));
  EXPECT_EQ(here_.Give(Opcode::kSw2HwSrq, 70, good), Status::kIcmError);
}

TEST_F(Mlx4Refusals, QueuePairsWhoseMemoryIsNotAligned) {
  prm::QpContext good = here_.Context(prm::QpService::kRc);
  good.mtt_base_addr = here_.MakeBuffer(8192).mtt;
  good.db_record_addr = here_.machine.Allocate(8);
  prm::QpContext bad = good;
  bad.mtt_base_addr += 4;
  EXPECT_EQ(here_.Modify(Opcode::kRst2InitQp, kQpn, bad), Status::kBadParam);
  bad = good;
  bad.db_record_addr += 2;
  EXPECT_EQ(here_.Modify(Opcode::kRst2InitQp, kQpn, bad), Status::kBadParam);
  good.db_record_addr += 4;
  EXPECT_EQ(here_.Modify(Opcode::kRst2InitQp, kQpn, good), Status::kOk);
}

TEST_F(Mlx4Refusals, CompletionQueuesThatMakeNoSense) {
  const prm::CqContext good = Completions();
  prm::CqContext bad = good;
  bad.db_record_addr += 4;
  EXPECT_EQ(here_.Give(Opcode::kSw2HwCq, 140, bad), Status::kBadParam);
  bad = good;
  bad.usr_page = 0;
  EXPECT_EQ(here_.Give(Opcode::kSw2HwCq, 140, bad), Status::kBadParam)
      << "firmware's page of doorbells";
  EXPECT_EQ(here_.Give(Opcode::kSw2HwCq, 140, good), Status::kOk);
}

TEST_F(Mlx4Refusals, OpcodeModifiersThatACommandDoesNotHave) {
  for (const Opcode opcode :
       {Opcode::kQueryDevCap, Opcode::kQueryAdapter, Opcode::kQueryHca,
        Opcode::kNop, Opcode::kSyncTpt, Opcode::kRts2RtsQp, Opcode::kRts2SqdQp,
        Opcode::kSqd2SqdQp, Opcode::kSqd2RtsQp}) {
    EXPECT_EQ(here_.Ask(opcode, 0, 1), Status::kBadOp) << prm::Name(opcode);
  }
  EXPECT_EQ(here_.Ask(Opcode::k2ErrQp, kQpn, 1), Status::kBadOp);
  for (const uint8_t modifier : {0, 1, 3, 4}) {
    EXPECT_EQ(here_.Ask(Opcode::k2RstQp, kQpn, modifier), Status::kBadOp);
  }
  EXPECT_EQ(here_.Ask(Opcode::k2RstQp, kQpn, prm::kFromAnyState), Status::kOk);
}

TEST_F(Mlx4Refusals, ReadingTranslationsAsFirmwareDoesNotOfferIt) {
  EXPECT_EQ(here_.Ask(Opcode::kReadMtt, 1), Status::kBadOp);
}

}  // namespace
}  // namespace ibemu::hca::model

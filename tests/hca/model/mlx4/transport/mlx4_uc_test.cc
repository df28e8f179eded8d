// Unreliable connections between two adapters.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "hca/model/mlx4/core/parsed_packet.h"
#include "tests/hca/model/mlx4/transport/mlx4_connection.h"

namespace ibemu::hca::model {
namespace {

using prm::CqeSyndrome;
using prm::EqeType;
using prm::QpContextState;
using prm::WqeOpcode;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using Status = prm::CommandStatus;

class Mlx4Unreliable : public Mlx4Connection {
 protected:
  Mlx4Unreliable() : Mlx4Connection(prm::QpService::kUc) {}

  // One that says what its peer never would.
  static std::vector<std::byte> Ghost(uint8_t opcode, uint32_t psn,
                                      size_t bytes = 8) {
    return mlx4::BuildPacket({.dlid = wire::Lid{6}, .slid = wire::Lid{5}},
                             std::nullopt,
                             {.opcode = opcode,
                              .p_key = 0xffff,
                              .destination_qpn = kQpn,
                              .psn = psn},
                             {}, std::vector<std::byte>(bytes));
  }
  // How the next message ended that arrived: its length, or nothing came.
  std::optional<uint32_t> NextArrival() {
    if (there_.Empty(FakeHost::kReceiveCq)) return std::nullopt;
    return there_.NextCqe(FakeHost::kReceiveCq).byte_count;
  }
};

TEST_F(Mlx4Unreliable, HearNothingOfAMessageThatHasLeft) {
  there_.PostReceive(kQpn, {FakeHost::At(0, 5000)});
  PostSend(5000);
  EXPECT_EQ(here_.NextSyndrome(FakeHost::kSendCq), CqeSyndrome::kNone);
  Run();
  EXPECT_EQ(NextArrival(), 5000u);
  EXPECT_THAT(there_.cables[0].sent, IsEmpty());
}

TEST_F(Mlx4Unreliable, SayTheirServiceInEveryPacket) {
  there_.PostReceive(kQpn, {FakeHost::At(0, 5000)});
  PostSend(3000);
  std::vector<uint8_t> opcodes;
  for (const auto& bytes : here_.cables[0].sent) {
    opcodes.push_back(mlx4::ParsePacket(bytes)->bth.opcode);
  }
  EXPECT_THAT(opcodes, ElementsAre(0x20, 0x21, 0x22));
}

TEST_F(Mlx4Unreliable, LoseAMessageOfWhichAnyPacketIsLost) {
  const std::string text = Pattern(5000);
  here_.Fill(0, text);
  for (int lost = 1; lost <= 5; ++lost) {
    there_.PostReceive(kQpn, {FakeHost::At(0, 5000)});
    here_.cables[0].lose = lost;
    PostSend(5000);
    Run();
    EXPECT_EQ(here_.NextSyndrome(FakeHost::kSendCq), CqeSyndrome::kNone);
    EXPECT_EQ(NextArrival(), std::nullopt) << "packet " << lost;
    PostSend(lost);
    Run();
    EXPECT_EQ(NextArrival(), lost) << "the next one has its place";
    EXPECT_EQ(there_.Text(0, lost), text.substr(0, lost));
    here_.NextCqe(FakeHost::kSendCq);
  }
  EXPECT_EQ(there_.Query(kQpn).state, QpContextState::kRts);
}

TEST_F(Mlx4Unreliable, TakeTheNextMessageWhenOneBreaksOff) {
  there_.PostReceive(kQpn, {FakeHost::At(0, 4096)});
  FakeCable& cable = there_.cables[0];
  cable.listener->OnPacket(Ghost(0x20, kFirstPsn, 1024));      // first
  cable.listener->OnPacket(Ghost(0x20, kFirstPsn + 1, 1024));  // first
  cable.listener->OnPacket(Ghost(0x22, kFirstPsn + 2, 5));     // last
  EXPECT_EQ(NextArrival(), 1029u);
  EXPECT_EQ(NextArrival(), std::nullopt);
}

TEST_F(Mlx4Unreliable, DropGhostsOfOtherMessagesServicesAndTimes) {
  there_.PostReceive(kQpn, {FakeHost::At(0, 4096)});
  FakeCable& cable = there_.cables[0];
  cable.listener->OnPacket(Ghost(0x21, kFirstPsn, 1024));    // middle of none
  cable.listener->OnPacket(Ghost(0x22, kFirstPsn + 1));      // last of none
  cable.listener->OnPacket(Ghost(0x04, kFirstPsn + 2));      // of RC
  cable.listener->OnPacket(Ghost(0x64, kFirstPsn + 2, 16));  // of UD
  cable.listener->OnPacket(Ghost(0x2c, kFirstPsn + 2, 16));  // an RDMA read
  cable.listener->OnPacket(
      Ghost(0x20, kFirstPsn + 3, 1000));  // shorter than the MTU
  cable.listener->OnPacket(Ghost(0x20, kFirstPsn + 4, 1024));
  cable.listener->OnPacket(
      Ghost(0x27, kFirstPsn + 5, 1024));  // now it is a write
  cable.listener->OnPacket(
      Ghost(0x2a, kFirstPsn + 6, 8));  // without its header
  cable.listener->OnPacket(Ghost(0x20, kFirstPsn + 7, 1024));
  cable.listener->OnPacket(Ghost(0x22, kFirstPsn + 7));  // it came before
  EXPECT_EQ(NextArrival(), std::nullopt);
  EXPECT_EQ(there_.Query(kQpn).state, QpContextState::kRts);
  EXPECT_THAT(there_.Events(), IsEmpty());
  EXPECT_THAT(cable.sent, IsEmpty());

  cable.listener->OnPacket(Ghost(0x24, 0x123456, 6));
  EXPECT_EQ(NextArrival(), 6u) << "with an only one they are in step again";
  EXPECT_EQ(there_.Query(kQpn).next_receive_psn, 0x123457u);
}

TEST_F(Mlx4Unreliable, DropWhatComesOfAnotherPartitionAndTellThePort) {
  there_.PostReceive(kQpn, {FakeHost::At(0, 64)});
  FakeCable& cable = there_.cables[0];
  cable.p_key = 0x8001;
  cable.listener->OnPacket(Ghost(0x24, kFirstPsn));
  EXPECT_EQ(NextArrival(), std::nullopt);
  EXPECT_THAT(cable.bad_keys,
              ElementsAre(::testing::Pair(mad::TrapNumber::kBadPKey, 1u)));
  EXPECT_EQ(cable.last_bad_key, (mad::BadKeyDetails{.lid1 = wire::Lid{5},
                                                    .lid2 = wire::Lid{6},
                                                    .key = 0xffff,
                                                    .qp2 = kQpn}));
}

TEST_F(Mlx4Unreliable, DropAMessageThatNobodyWaitsFor) {
  PostSend(3000);
  Run();
  EXPECT_EQ(here_.NextSyndrome(FakeHost::kSendCq), CqeSyndrome::kNone);
  there_.PostReceive(kQpn, {FakeHost::At(0, 64)});
  PostSend(8);
  Run();
  EXPECT_EQ(NextArrival(), 8u);
}

TEST_F(Mlx4Unreliable, DropAMessageThatIsLongerThanItsBuffers) {
  there_.PostReceive(kQpn, {FakeHost::At(0, 1500)});
  PostSend(1501);
  Run();
  EXPECT_EQ(here_.NextSyndrome(FakeHost::kSendCq), CqeSyndrome::kNone);
  EXPECT_EQ(NextArrival(), std::nullopt);
  PostSend(1500);
  Run();
  EXPECT_EQ(NextArrival(), 1500u) << "they are another's";
  EXPECT_EQ(there_.Query(kQpn).state, QpContextState::kRts);
}

TEST_F(Mlx4Unreliable, DropWritesThatArentAllowed) {
  there_.Fill(0, "before");
  prm::RemoteAddressSegment wrong = Remote(0);
  wrong.rkey += 1;
  here_.Fill(100, "after");
  const auto write = [&](const prm::RemoteAddressSegment& to) {
    here_.Post(kQpn, Control(WqeOpcode::kRdmaWrite),
               Concat(to, FakeHost::At(100, 5)));
    Run();
    EXPECT_EQ(here_.NextSyndrome(FakeHost::kSendCq), CqeSyndrome::kNone);
  };
  write(wrong);
  prm::QpContext context = Context(there_, 5);
  context.remote_write = false;
  there_.Modify(prm::Opcode::kRts2RtsQp, kQpn, context, prm::kOptRemoteWrite);
  write(Remote(0));
  EXPECT_EQ(there_.Text(0, 6), "before");
  EXPECT_EQ(there_.Query(kQpn).state, QpContextState::kRts);
  EXPECT_THAT(there_.Events(), IsEmpty());
}

TEST_F(Mlx4Unreliable, BreakOverAReceiveWhoseKeyIsWrong) {
  prm::DataSegment wrong = FakeHost::At(0, 64);
  wrong.lkey += 1;
  there_.PostReceive(kQpn, {wrong});
  there_.PostReceive(kQpn, {FakeHost::At(0, 64)});
  PostSend(8);
  Run();
  EXPECT_EQ(there_.NextSyndrome(FakeHost::kReceiveCq),
            CqeSyndrome::kLocalProtection);
  EXPECT_EQ(there_.NextSyndrome(FakeHost::kReceiveCq), CqeSyndrome::kFlushed);
  EXPECT_EQ(there_.Query(kQpn).state, QpContextState::kError);
  EXPECT_EQ(here_.Query(kQpn).state, QpContextState::kRts)
      << "nobody tells the peer";
}

TEST_F(Mlx4Unreliable, FailWhatTheServiceDoesNotHave) {
  for (const WqeOpcode opcode :
       {WqeOpcode::kRdmaRead, WqeOpcode::kFetchAdd, WqeOpcode::kCompareSwap}) {
    here_.Post(kQpn, Control(opcode),
               Concat(Remote(0), prm::AtomicSegment{}, FakeHost::At(0, 8)));
    EXPECT_EQ(here_.NextSyndrome(FakeHost::kSendCq),
              CqeSyndrome::kLocalQpOperation);
    EXPECT_EQ(here_.Query(kQpn).state, QpContextState::kSqError);
    EXPECT_EQ(here_.Modify(prm::Opcode::kSqErr2RtsQp, kQpn, {}), Status::kOk);
  }
  EXPECT_THAT(here_.cables[0].sent, IsEmpty());
}

TEST_F(Mlx4Unreliable, ReceiveInTheSendQueueErrorStateAndComeBackFromIt) {
  prm::DataSegment wrong = FakeHost::At(0, 8);
  wrong.lkey += 1;
  here_.Post(kQpn, Control(WqeOpcode::kSend), Concat(wrong), false);
  PostSend(8);
  EXPECT_EQ(here_.NextSyndrome(FakeHost::kSendCq),
            CqeSyndrome::kLocalProtection);
  EXPECT_EQ(here_.NextSyndrome(FakeHost::kSendCq), CqeSyndrome::kFlushed);
  PostSend(8);
  EXPECT_EQ(here_.NextSyndrome(FakeHost::kSendCq), CqeSyndrome::kFlushed);
  EXPECT_EQ(here_.Query(kQpn).state, QpContextState::kSqError);

  here_.PostReceive(kQpn, {FakeHost::At(0, 64)});
  there_.Post(kQpn, Control(WqeOpcode::kSend), Concat(FakeHost::At(0, 8)));
  Run();
  EXPECT_EQ(here_.NextCqe(FakeHost::kReceiveCq).byte_count, 8u);

  EXPECT_EQ(here_.Modify(prm::Opcode::kSqErr2RtsQp, kQpn, {}), Status::kOk);
  there_.PostReceive(kQpn, {FakeHost::At(0, 64)});
  PostSend(8);
  Run();
  EXPECT_EQ(here_.NextSyndrome(FakeHost::kSendCq), CqeSyndrome::kNone);
  EXPECT_EQ(NextArrival(), 8u);
}

TEST_F(Mlx4Unreliable, GiveOthersATurnInALongMessage) {
  const std::string text = Pattern(FakeHost::kRegionBytes);
  here_.Fill(0, text);
  for (int i = 0; i < 2; ++i) {
    here_.Post(kQpn, Control(WqeOpcode::kRdmaWrite),
               Concat(Remote(0), FakeHost::At(0, FakeHost::kRegionBytes)),
               false);
  }
  here_.Ring(kQpn);
  here_.Ring(kQpn);
  EXPECT_EQ(here_.cables[0].sent.size(), 64u);
  Run();
  EXPECT_EQ(here_.cables[0].sent.size(), 128u);
  EXPECT_EQ(here_.NextSyndrome(FakeHost::kSendCq), CqeSyndrome::kNone);
  EXPECT_EQ(here_.NextSyndrome(FakeHost::kSendCq), CqeSyndrome::kNone);
  EXPECT_EQ(there_.Text(0, FakeHost::kRegionBytes), text);
}

// One packet of the long message is left.
TEST_F(Mlx4Unreliable, FinishAMessageThatBeganBeforeTheQueueIsDrained) {
  PostSend(1, false);
  PostSend(FakeHost::kRegionBytes, false);
  PostSend(8);
  EXPECT_EQ(here_.cables[0].sent.size(), 64u);
  here_.Modify(prm::Opcode::kRts2SqdQp, kQpn, {}, 0, prm::kSqdEvent);
  Run();
  EXPECT_EQ(here_.cables[0].sent.size(), 65u);
  EXPECT_THAT(here_.Events(), Contains(EqeType::kSendQueueDrained));
  here_.Modify(prm::Opcode::kSqd2RtsQp, kQpn, {});
  Run();
  EXPECT_EQ(here_.cables[0].sent.size(), 66u);
  EXPECT_EQ(here_.Query(kQpn).next_send_psn, (kFirstPsn + 66) & 0xffffff);
}

TEST_F(Mlx4Unreliable, FlushWhatHasHalfGoneAndHalfComeWhenSoftwareBreaksThem) {
  here_.PostReceive(kQpn, {FakeHost::At(0, 4096)});
  here_.PostReceive(kQpn, {FakeHost::At(0, 4096)});
  there_.cables[0].lose = 2;
  there_.Post(kQpn, Control(WqeOpcode::kSend), Concat(FakeHost::At(0, 3000)));
  Run();
  PostSend(1, false);
  PostSend(FakeHost::kRegionBytes, false);
  PostSend(8);
  EXPECT_EQ(here_.NextSyndrome(FakeHost::kSendCq), CqeSyndrome::kNone);
  here_.Command(prm::Opcode::k2ErrQp, kQpn);
  Run();
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(here_.NextSyndrome(FakeHost::kSendCq), CqeSyndrome::kFlushed);
    EXPECT_EQ(here_.NextSyndrome(FakeHost::kReceiveCq), CqeSyndrome::kFlushed);
  }
  EXPECT_TRUE(here_.Empty(FakeHost::kSendCq));
  EXPECT_EQ(here_.cables[0].sent.size(), 64u);
}

// The buffer of a message that breaks off is the queue pair's next one; it does
// not go back.
TEST_F(Mlx4Unreliable, TakeReceiveBuffersFromASharedQueue) {
  constexpr uint32_t kSrqn = 70;
  const FakeDriver::Buffer buffer = there_.MakeBuffer(4096);
  prm::SrqContext shared;
  shared.log_srq_size = 2;
  shared.log_stride = 1;
  shared.pd = FakeHost::kPd;
  shared.mtt_base_addr = buffer.mtt;
  shared.db_record_addr = there_.machine.Allocate(4);
  for (uint16_t i = 0; i < 3; ++i) {
    const uint64_t place = buffer.memory + i * uint64_t{32};
    there_.machine.Put(
        place,
        prm::NextSegment{.next_wqe_index = static_cast<uint16_t>(i + 1)});
    there_.machine.Put(place + 16, FakeHost::At(i * 4096u, 4096));
  }
  there_.machine.PutWord(shared.db_record_addr, 3);
  ASSERT_EQ(there_.Give(prm::Opcode::kSw2HwSrq, kSrqn, shared), Status::kOk);
  there_.Command(prm::Opcode::k2RstQp, kQpn, 2);
  prm::QpContext context = Context(there_, 5);
  context.srq = true;
  context.srqn = kSrqn;
  ASSERT_EQ(there_.Create(kQpn, context), Status::kOk);
  there_.ToRts(kQpn, context);

  here_.cables[0].lose = 2;
  PostSend(3000);
  PostSend(8);
  PostSend(9);
  Run();
  EXPECT_EQ(there_.NextCqe(FakeHost::kReceiveCq).wqe_counter, 0);
  EXPECT_EQ(there_.NextCqe(FakeHost::kReceiveCq).wqe_counter, 1);
  here_.cables[0].lose = 2;
  PostSend(3000);
  Run();
  there_.Command(prm::Opcode::k2ErrQp, kQpn);
  EXPECT_EQ(there_.NextSyndrome(FakeHost::kReceiveCq), CqeSyndrome::kFlushed);
  EXPECT_EQ(there_.last.wqe_counter, 2);
}

}  // namespace
}  // namespace ibemu::hca::model

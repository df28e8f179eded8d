// Reliable connections between two adapters.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/hca/model/mlx4/transport/mlx4_connection.h"

namespace ibemu::hca::model {
namespace {

using prm::CqeSyndrome;
using prm::EqeType;
using prm::WqeOpcode;
using ::testing::Contains, ::testing::Not;

class Mlx4Reliable : public Mlx4Connection {
 protected:
  Mlx4Reliable() : Mlx4Connection(prm::QpService::kRc) {}
};

TEST_F(Mlx4Reliable, ReadThePeersMemory) {
  const std::string text = Pattern(5000);
  there_.Fill(300, text);
  here_.Post(kQpn, Control(WqeOpcode::kRdmaRead),
             Concat(Remote(300), FakeHost::At(0, 5000)));
  Run();
  const prm::Cqe done = here_.NextCqe(FakeHost::kSendCq);
  EXPECT_EQ(done.opcode, static_cast<uint8_t>(WqeOpcode::kRdmaRead));
  EXPECT_EQ(done.byte_count, 5000u);
  EXPECT_EQ(here_.Text(0, 5000), text);
}

TEST_F(Mlx4Reliable, HaveNoMoreReadsOpenThanTheyMay) {
  for (int i = 0; i < 6; ++i) {
    here_.Post(kQpn, Control(WqeOpcode::kRdmaRead),
               Concat(Remote(0), FakeHost::At(0, 8)));
  }
  EXPECT_EQ(here_.cables[0].sent.size(), 4u);
  Run();
  for (int i = 0; i < 6; ++i) {
    EXPECT_EQ(here_.NextCqe(FakeHost::kSendCq).wqe_counter, i);
  }
}

TEST_F(Mlx4Reliable, AddAndSwapAtomically) {
  there_.machine.Bytes(there_.region, 1)[0] = std::byte{5};
  here_.Post(
      kQpn, Control(WqeOpcode::kFetchAdd),
      Concat(Remote(0), prm::AtomicSegment{.swap_add = 3}, FakeHost::At(0, 8)));
  Run();
  EXPECT_EQ(here_.NextCqe(FakeHost::kSendCq).byte_count, 8u);
  EXPECT_EQ(here_.machine.Bytes(here_.region, 1)[0], std::byte{5});
  EXPECT_EQ(there_.machine.Bytes(there_.region, 1)[0], std::byte{8});
  here_.Post(
      kQpn, Control(WqeOpcode::kCompareSwap),
      Concat(Remote(0), prm::AtomicSegment{.swap_add = 0x99, .compare = 8},
             FakeHost::At(0, 8)));
  Run();
  EXPECT_EQ(here_.machine.Bytes(here_.region, 1)[0], std::byte{8});
  EXPECT_EQ(there_.machine.Bytes(there_.region, 1)[0], std::byte{0x99});
}

TEST_F(Mlx4Reliable, RefuseAnAtomicThatIsNotAligned) {
  here_.Post(kQpn, Control(WqeOpcode::kFetchAdd),
             Concat(Remote(4), prm::AtomicSegment{}, FakeHost::At(0, 8)));
  Run();
  EXPECT_EQ(here_.NextSyndrome(FakeHost::kSendCq),
            CqeSyndrome::kRemoteInvalidRequest);
  EXPECT_THAT(there_.Events(), Contains(EqeType::kWqAccessError));
}

TEST_F(Mlx4Reliable, GoBackWhenAPacketWasLost) {
  const std::string text = Pattern(5000);
  here_.Fill(0, text);
  there_.PostReceive(kQpn, {FakeHost::At(0, 5000)});
  here_.cables[0].lose = 2;
  PostSend(5000);
  Run();
  EXPECT_EQ(here_.NextSyndrome(FakeHost::kSendCq), CqeSyndrome::kNone);
  EXPECT_EQ(there_.NextCqe(FakeHost::kReceiveCq).byte_count, 5000u);
  EXPECT_EQ(there_.Text(0, 5000), text);
}

TEST_F(Mlx4Reliable, TryAgainWhenNoAnswerComes) {
  there_.PostReceive(kQpn, {FakeHost::At(0, 64)});
  here_.cables[0].lose = 1;
  PostSend(8);
  Run();
  EXPECT_TRUE(here_.Empty(FakeHost::kSendCq));
  Run(absl::Milliseconds(20));
  EXPECT_EQ(here_.NextSyndrome(FakeHost::kSendCq), CqeSyndrome::kNone);
}

TEST_F(Mlx4Reliable, AnswerARepetitionWithoutDoingItTwice) {
  there_.PostReceive(kQpn, {FakeHost::At(0, 64)});
  there_.PostReceive(kQpn, {FakeHost::At(64, 64)});
  there_.cables[0].lose = 1;  // the acknowledgement
  PostSend(8);
  Run(absl::Milliseconds(20));
  EXPECT_EQ(here_.NextSyndrome(FakeHost::kSendCq), CqeSyndrome::kNone);
  EXPECT_EQ(there_.NextCqe(FakeHost::kReceiveCq).wqe_counter, 0);
  EXPECT_TRUE(there_.Empty(FakeHost::kReceiveCq));
}

TEST_F(Mlx4Reliable, RepeatTheResultOfAnAtomic) {
  there_.cables[0].lose = 1;
  here_.Post(
      kQpn, Control(WqeOpcode::kFetchAdd),
      Concat(Remote(0), prm::AtomicSegment{.swap_add = 3}, FakeHost::At(0, 8)));
  Run(absl::Milliseconds(20));
  EXPECT_EQ(here_.NextCqe(FakeHost::kSendCq).byte_count, 8u);
  EXPECT_EQ(there_.machine.Bytes(there_.region, 1)[0], std::byte{3});
}

TEST_F(Mlx4Reliable, AskAgainForALostPartOfARead) {
  const std::string text = Pattern(5000);
  there_.Fill(0, text);
  there_.cables[0].lose = 3;
  here_.Post(kQpn, Control(WqeOpcode::kRdmaRead),
             Concat(Remote(0), FakeHost::At(0, 5000)));
  Run(absl::Milliseconds(20));
  EXPECT_EQ(here_.NextSyndrome(FakeHost::kSendCq), CqeSyndrome::kNone);
  EXPECT_EQ(here_.Text(0, 5000), text);
}

TEST_F(Mlx4Reliable, GiveUpWhenThePeerIsGone) {
  there_.Command(prm::Opcode::k2RstQp, kQpn, 2);
  PostSend(8);
  PostSend(8);
  Run(absl::Milliseconds(60));
  EXPECT_EQ(here_.NextSyndrome(FakeHost::kSendCq),
            CqeSyndrome::kTransportRetryExceeded);
  EXPECT_EQ(here_.NextSyndrome(FakeHost::kSendCq), CqeSyndrome::kFlushed);
  EXPECT_EQ(here_.Query(kQpn).state, prm::QpContextState::kError);
  EXPECT_EQ(here_.cables[0].sent.size(), 6u) << "two packets, three times";
}

TEST_F(Mlx4Reliable, WaitForAPeerThatIsNotReady) {
  PostSend(8);
  Run(absl::Microseconds(100));
  EXPECT_TRUE(here_.Empty(FakeHost::kSendCq));
  there_.PostReceive(kQpn, {FakeHost::At(0, 64)});
  Run(absl::Microseconds(700));
  EXPECT_EQ(here_.NextSyndrome(FakeHost::kSendCq), CqeSyndrome::kNone);
}

TEST_F(Mlx4Reliable, WaitWithAllThatFollowed) {
  for (int i = 0; i < 3; ++i) PostSend(8);
  Run(absl::Microseconds(100));
  for (int i = 0; i < 3; ++i) there_.PostReceive(kQpn, {FakeHost::At(0, 64)});
  Run(absl::Microseconds(700));
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(here_.NextSyndrome(FakeHost::kSendCq), CqeSyndrome::kNone);
    EXPECT_EQ(there_.NextCqe(FakeHost::kReceiveCq).wqe_counter, i);
  }
}

TEST_F(Mlx4Reliable, GiveUpOnAPeerThatNeverIsReady) {
  PostSend(8);
  Run(absl::Milliseconds(5));
  EXPECT_EQ(here_.NextSyndrome(FakeHost::kSendCq),
            CqeSyndrome::kRnrRetryExceeded);
}

TEST_F(Mlx4Reliable, RefuseAKeyThatDoesNotOpenTheMemory) {
  prm::RemoteAddressSegment remote = Remote(0);
  remote.rkey += 1;
  here_.Post(kQpn, Control(WqeOpcode::kRdmaWrite),
             Concat(remote, FakeHost::At(0, 8)));
  Run();
  EXPECT_EQ(here_.NextSyndrome(FakeHost::kSendCq), CqeSyndrome::kRemoteAccess);
  EXPECT_EQ(there_.Query(kQpn).state, prm::QpContextState::kError);
  EXPECT_THAT(there_.Events(), Contains(EqeType::kWqAccessError));
}

TEST_F(Mlx4Reliable, RefuseWhatTheQueuePairDoesNotAllow) {
  prm::QpContext context = Context(there_, 5);
  context.remote_read = false;
  there_.Modify(prm::Opcode::kRts2RtsQp, kQpn, context, prm::kOptRemoteRead);
  here_.Post(kQpn, Control(WqeOpcode::kRdmaRead),
             Concat(Remote(0), FakeHost::At(0, 8)));
  Run();
  EXPECT_EQ(here_.NextSyndrome(FakeHost::kSendCq), CqeSyndrome::kRemoteAccess);
}

TEST_F(Mlx4Reliable, RefuseAMessageLongerThanItsBuffers) {
  there_.PostReceive(kQpn, {FakeHost::At(0, 7)});
  PostSend(8);
  Run();
  EXPECT_EQ(here_.NextSyndrome(FakeHost::kSendCq),
            CqeSyndrome::kRemoteInvalidRequest);
  EXPECT_EQ(there_.NextSyndrome(FakeHost::kReceiveCq),
            CqeSyndrome::kLocalLength);
}

TEST_F(Mlx4Reliable, TellThePeerOfAnErrorOfTheirOwn) {
  prm::DataSegment wrong = FakeHost::At(0, 64);
  wrong.lkey += 1;
  there_.PostReceive(kQpn, {wrong});
  PostSend(8);
  Run();
  EXPECT_EQ(here_.NextSyndrome(FakeHost::kSendCq),
            CqeSyndrome::kRemoteOperation);
  EXPECT_EQ(there_.NextSyndrome(FakeHost::kReceiveCq),
            CqeSyndrome::kLocalProtection);
}

TEST_F(Mlx4Reliable, FailAnOpcodeThatTheServiceDoesNotHave) {
  here_.Post(kQpn, Control(WqeOpcode::kBindWindow), {});
  EXPECT_EQ(here_.NextSyndrome(FakeHost::kSendCq),
            CqeSyndrome::kLocalQpOperation);
}

TEST_F(Mlx4Reliable, FlushWhatIsOpenWhenSoftwareBreaksThem) {
  there_.Command(prm::Opcode::k2RstQp, kQpn, 2);
  here_.PostReceive(kQpn, {FakeHost::At(0, 64)});
  PostSend(8);
  here_.Command(prm::Opcode::k2ErrQp, kQpn);
  EXPECT_EQ(here_.NextSyndrome(FakeHost::kSendCq), CqeSyndrome::kFlushed);
  EXPECT_EQ(here_.NextSyndrome(FakeHost::kReceiveCq), CqeSyndrome::kFlushed);
  PostSend(8);
  EXPECT_EQ(here_.NextSyndrome(FakeHost::kSendCq), CqeSyndrome::kFlushed);
}

TEST_F(Mlx4Reliable, FlushAReceiveWhoseMessageHasHalfCome) {
  there_.PostReceive(kQpn, {FakeHost::At(0, 4096)});
  there_.PostReceive(kQpn, {FakeHost::At(0, 4096)});
  here_.cables[0].lose = 2;
  PostSend(2000);
  timers_.RunPending();
  there_.Command(prm::Opcode::k2ErrQp, kQpn);
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(there_.NextSyndrome(FakeHost::kReceiveCq), CqeSyndrome::kFlushed);
    EXPECT_EQ(there_.last.wqe_counter, i);
  }
}

TEST_F(Mlx4Reliable, DropWhatAnotherServiceSends) {
  there_.PostReceive(kQpn, {FakeHost::At(0, 64)});
  PostSend(8);
  std::vector<std::byte> packet = here_.cables[0].sent[0];
  constexpr size_t kOpcode = 8;  // behind the LRH
  packet[kOpcode] |= std::byte{0x20};
  there_.cables[0].listener->OnPacket(packet);
  EXPECT_TRUE(there_.Empty(FakeHost::kReceiveCq));
  Run();
  EXPECT_EQ(here_.NextSyndrome(FakeHost::kSendCq), CqeSyndrome::kNone);
}

TEST_F(Mlx4Reliable, BeginNoMessageWhileTheyAreDrained) {
  for (int i = 0; i < 2; ++i) there_.PostReceive(kQpn, {FakeHost::At(0, 64)});
  PostSend(8);
  here_.Modify(prm::Opcode::kRts2SqdQp, kQpn, {});
  PostSend(8);
  Run();
  EXPECT_EQ(here_.NextSyndrome(FakeHost::kSendCq), CqeSyndrome::kNone);
  EXPECT_TRUE(here_.Empty(FakeHost::kSendCq));
  here_.Modify(prm::Opcode::kSqd2RtsQp, kQpn, {});
  Run();
  EXPECT_EQ(here_.NextCqe(FakeHost::kSendCq).wqe_counter, 1);
}

TEST_F(Mlx4Reliable, AreDrainedWhenThePeerHasAcknowledgedWhatBegan) {
  PostSend(8);
  here_.Modify(prm::Opcode::kRts2SqdQp, kQpn, {}, 0, prm::kSqdEvent);
  Run(absl::Microseconds(100));
  EXPECT_THAT(here_.Events(), Not(Contains(EqeType::kSendQueueDrained)))
      << "the peer has no receive request";
  EXPECT_EQ(here_.Query(kQpn).state, prm::QpContextState::kSqDraining);
  there_.PostReceive(kQpn, {FakeHost::At(0, 64)});
  Run();
  EXPECT_EQ(here_.NextSyndrome(FakeHost::kSendCq), CqeSyndrome::kNone);
  EXPECT_THAT(here_.Events(), Contains(EqeType::kSendQueueDrained));
  EXPECT_EQ(here_.Query(kQpn).state, prm::QpContextState::kSqDrained);
}

TEST_F(Mlx4Reliable, DropAnOldReadThatTheyCanNoLongerAnswer) {
  here_.Post(kQpn, Control(WqeOpcode::kRdmaRead),
             Concat(Remote(0), FakeHost::At(0, 8)));
  std::vector<std::byte> read = here_.cables[0].sent.back();
  Run();
  ASSERT_EQ(here_.NextSyndrome(FakeHost::kSendCq), CqeSyndrome::kNone);
  there_.cables[0].sent.clear();
  there_.cables[0].listener->OnPacket(read);
  EXPECT_EQ(there_.cables[0].sent.size(), 1u) << "it is answered once more";
  there_.Command(prm::Opcode::kHw2SwMpt, FakeHost::kRegion, 1);
  there_.cables[0].listener->OnPacket(read);
  // Without its RETH.
  read.resize(24);
  auto lrh = wire::Decode<wire::LocalRouteHeader>(read);
  lrh.words = 6;
  wire::Encode(lrh, read);
  there_.cables[0].listener->OnPacket(read);
  EXPECT_EQ(there_.cables[0].sent.size(), 1u);
  EXPECT_EQ(there_.Query(kQpn).state, prm::QpContextState::kRts);
}

}  // namespace
}  // namespace ibemu::hca::model

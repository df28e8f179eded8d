// What reliable and unreliable connections have in common.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/hca/model/mlx4/transport/mlx4_connection.h"

namespace ibemu::hca::model {
namespace {

using prm::CqeSyndrome;
using prm::EqeType;
using prm::WqeOpcode;
using ::testing::Contains;

class Mlx4Connections : public Mlx4Connection,
                        public ::testing::WithParamInterface<prm::QpService> {
 protected:
  Mlx4Connections() : Mlx4Connection(GetParam()) {}
};

INSTANTIATE_TEST_SUITE_P(Services, Mlx4Connections,
                         ::testing::Values(prm::QpService::kRc,
                                           prm::QpService::kUc),
                         [](const auto& service) {
                           return service.param == prm::QpService::kRc ? "Rc"
                                                                       : "Uc";
                         });

TEST_P(Mlx4Connections, SendAMessageOfManyPackets) {
  const std::string text = Pattern(5000);
  here_.Fill(0, text);
  there_.PostReceive(kQpn, {FakeHost::At(0, 3000), FakeHost::At(8000, 3000)});
  PostSend(5000);
  Run();
  EXPECT_EQ(here_.NextSyndrome(FakeHost::kSendCq), CqeSyndrome::kNone);
  const prm::Cqe got = there_.NextCqe(FakeHost::kReceiveCq);
  EXPECT_EQ(got.opcode, prm::kReceivedSend);
  EXPECT_EQ(got.byte_count, 5000u);
  EXPECT_EQ(there_.Text(0, 3000), text.substr(0, 3000));
  EXPECT_EQ(there_.Text(8000, 2000), text.substr(3000));
}

TEST_P(Mlx4Connections, SendImmediateDataAndNothing) {
  there_.PostReceive(kQpn, {});
  prm::ControlSegment control = Control(WqeOpcode::kSendImmediate);
  control.immediate = 0x12345678;
  here_.Post(kQpn, control, {});
  Run();
  const prm::Cqe got = there_.NextCqe(FakeHost::kReceiveCq);
  EXPECT_EQ(got.opcode, prm::kReceivedSendImmediate);
  EXPECT_EQ(got.immediate, 0x12345678u);
  EXPECT_EQ(got.byte_count, 0u);
  EXPECT_EQ(here_.NextSyndrome(FakeHost::kSendCq), CqeSyndrome::kNone);
}

TEST_P(Mlx4Connections, WriteIntoThePeersMemory) {
  const std::string text = Pattern(2500);
  here_.Fill(0, text);
  here_.Post(kQpn, Control(WqeOpcode::kRdmaWrite),
             Concat(Remote(100), FakeHost::At(0, 2500)));
  Run();
  const prm::Cqe done = here_.NextCqe(FakeHost::kSendCq);
  EXPECT_EQ(done.opcode, static_cast<uint8_t>(WqeOpcode::kRdmaWrite));
  EXPECT_EQ(there_.Text(100, 2500), text);
  EXPECT_TRUE(there_.Empty(FakeHost::kReceiveCq));
}

TEST_P(Mlx4Connections, WriteWithImmediateDataTakesAReceive) {
  there_.PostReceive(kQpn, {});
  prm::ControlSegment control = Control(WqeOpcode::kRdmaWriteImmediate);
  control.immediate = 77;
  here_.Fill(0, "text");
  here_.Post(kQpn, control, Concat(Remote(100), FakeHost::At(0, 4)));
  Run();
  const prm::Cqe got = there_.NextCqe(FakeHost::kReceiveCq);
  EXPECT_EQ(got.opcode, prm::kReceivedRdmaWriteImmediate);
  EXPECT_EQ(got.immediate, 77u);
  EXPECT_EQ(got.byte_count, 4u);
  EXPECT_EQ(there_.Text(100, 4), "text");
}

TEST_P(Mlx4Connections, FailARequestOfTheirOwnAfterThoseBeforeIt) {
  there_.PostReceive(kQpn, {FakeHost::At(0, 64)});
  PostSend(8);
  prm::DataSegment wrong = FakeHost::At(0, 8);
  wrong.lkey += 1;
  here_.Post(kQpn, Control(WqeOpcode::kSend), Concat(wrong));
  here_.Post(kQpn, Control(WqeOpcode::kBindWindow), {});
  Run();
  EXPECT_EQ(here_.NextSyndrome(FakeHost::kSendCq), CqeSyndrome::kNone);
  EXPECT_EQ(here_.NextSyndrome(FakeHost::kSendCq),
            CqeSyndrome::kLocalProtection);
  EXPECT_EQ(here_.NextSyndrome(FakeHost::kSendCq), CqeSyndrome::kFlushed);
}

TEST_P(Mlx4Connections, CompleteSilentlyWhatAsksForNoCompletion) {
  there_.PostReceive(kQpn, {FakeHost::At(0, 64)});
  there_.PostReceive(kQpn, {FakeHost::At(0, 64)});
  here_.Post(kQpn, prm::ControlSegment{.opcode = WqeOpcode::kSend},
             Concat(FakeHost::At(0, 8)));
  PostSend(8);
  Run();
  EXPECT_EQ(here_.NextCqe(FakeHost::kSendCq).wqe_counter, 1);
  EXPECT_TRUE(here_.Empty(FakeHost::kSendCq));
}

TEST_P(Mlx4Connections, GoRoundPsnsAndQueuesManyTimes) {
  for (uint32_t i = 0; i < 60; ++i) {
    there_.PostReceive(kQpn, {FakeHost::At(0, 4096)});
    PostSend(3000);
    Run();
    ASSERT_EQ(here_.NextCqe(FakeHost::kSendCq).wqe_counter, i);
    ASSERT_EQ(there_.NextCqe(FakeHost::kReceiveCq).wqe_counter, i);
  }
  EXPECT_EQ(here_.Query(kQpn).next_send_psn, (kFirstPsn + 180) & 0xffffff);
  EXPECT_EQ(there_.Query(kQpn).next_receive_psn, (kFirstPsn + 180) & 0xffffff);
}

TEST_P(Mlx4Connections, SendMoreThanAWindowOfPackets) {
  const std::string text = Pattern(FakeHost::kRegionBytes);
  here_.Fill(0, text);
  there_.PostReceive(kQpn, {FakeHost::At(0, FakeHost::kRegionBytes)});
  here_.Post(kQpn, Control(WqeOpcode::kRdmaWrite),
             Concat(Remote(0), FakeHost::At(0, FakeHost::kRegionBytes)));
  here_.Post(kQpn, Control(WqeOpcode::kRdmaWrite),
             Concat(Remote(0), FakeHost::At(0, FakeHost::kRegionBytes)));
  Run();
  EXPECT_EQ(here_.NextSyndrome(FakeHost::kSendCq), CqeSyndrome::kNone);
  EXPECT_EQ(here_.NextSyndrome(FakeHost::kSendCq), CqeSyndrome::kNone);
  EXPECT_EQ(there_.Text(0, FakeHost::kRegionBytes), text);
}

TEST_P(Mlx4Connections, DoNothingMoreOnceTheAdapterHasFailed) {
  there_.PostReceive(kQpn, {FakeHost::At(0, 64)});
  PostSend(8);
  there_.device.Fail(0xdead);
  Run();
  EXPECT_TRUE(there_.Empty(FakeHost::kReceiveCq));
  const size_t sent = there_.cables[0].sent.size();
  there_.Post(kQpn, Control(WqeOpcode::kSend), Concat(FakeHost::At(0, 8)));
  there_.ArmEq(FakeHost::kEq, 0);
  EXPECT_EQ(there_.cables[0].sent.size(), sent);
  EXPECT_THAT(there_.Events(), Contains(EqeType::kLocalCatastrophicError));
  EXPECT_EQ(there_.device.violations(), 0) << "a driver may not know it yet";
}

TEST_P(Mlx4Connections, TellThatACommunicationIsEstablished) {
  there_.Command(prm::Opcode::k2RstQp, kQpn, 2);
  const prm::QpContext context = Context(there_, 5);
  there_.Create(kQpn, context);
  there_.Modify(prm::Opcode::kInit2RtrQp, kQpn, context);
  there_.PostReceive(kQpn, {FakeHost::At(0, 64)});
  PostSend(8);
  Run();
  EXPECT_THAT(there_.Events(), Contains(EqeType::kCommunicationEstablished));
  EXPECT_EQ(there_.NextCqe(FakeHost::kReceiveCq).byte_count, 8u);
  EXPECT_EQ(here_.NextSyndrome(FakeHost::kSendCq), CqeSyndrome::kNone);
}

TEST_P(Mlx4Connections, FailAMessageLongerThanTheContextSays) {
  prm::QpContext context = Context(here_, 6);
  context.log_msg_max = 10;
  here_.Command(prm::Opcode::k2RstQp, kQpn, 2);
  here_.Create(kQpn, context);
  here_.ToRts(kQpn, context);
  PostSend(1025);
  EXPECT_EQ(here_.NextSyndrome(FakeHost::kSendCq), CqeSyndrome::kLocalLength);
}

}  // namespace
}  // namespace ibemu::hca::model

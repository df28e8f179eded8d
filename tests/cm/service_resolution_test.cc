// Service ID resolution, one end of it and two.
#include "cm/service_resolution.h"

#include "cm/wire/sidr_messages.h"
#include "tests/cm/fixture.h"

namespace ibemu::cm {
namespace {

using Kind = CmEvent::Kind;

class ServiceResolutionTest : public CmTest {
 protected:
  static SidrRequest Question() {
    return {
        .path = Path(), .service_id = kService, .private_data = {std::byte{7}}};
  }

  void Resolve() {
    id_ = client_.manager->Create(client_.user);
    ASSERT_TRUE(id_->SendSidrReq(Question()).ok());
    Settle();
  }
};

TEST_F(ServiceResolutionTest, AnAnswerNamesTheQueuePair) {
  Listen();
  Resolve();
  ASSERT_THAT(server_.user.requests, SizeIs(1));
  const Arrived& arrived = server_.user.requests[0];
  EXPECT_TRUE(arrived.sidr);
  EXPECT_EQ(arrived.port, 1);
  EXPECT_EQ(arrived.service_id, kService);
  EXPECT_EQ(arrived.pkey, 0xffff);
  EXPECT_EQ(arrived.from.dlid, wire::Lid{1});
  ASSERT_THAT(arrived.private_data, SizeIs(216));
  EXPECT_EQ(arrived.private_data[0], std::byte{7});

  ASSERT_TRUE(peer()
                  .SendSidrRep({.qpn = 0x333,
                                .qkey = 0x01234567,
                                .ece = {0x123456, 0x99},
                                .private_data = {std::byte{8}}})
                  .ok());
  Settle();
  ASSERT_THAT(client_.user.events, SizeIs(1));
  const CmEvent& event = client_.user.events[0];
  EXPECT_EQ(event.kind, Kind::kSidrRep);
  EXPECT_EQ(event.sidr.status, SidrStatus::kSuccess);
  EXPECT_EQ(event.sidr.qpn, 0x333u);
  EXPECT_EQ(event.sidr.qkey, 0x01234567u);
  EXPECT_EQ(event.sidr.ece, (Ece{0x123456, 0x99}));
  EXPECT_EQ(event.address.dlid, wire::Lid{2});
  ASSERT_THAT(event.private_data, SizeIs(136));
  EXPECT_EQ(event.private_data[0], std::byte{8});
  EXPECT_TRUE(timers_.idle());
}

TEST_F(ServiceResolutionTest, WhereNobodyListensTheServiceIsUnsupported) {
  Resolve();
  ASSERT_THAT(client_.user.events, SizeIs(1));
  EXPECT_EQ(client_.user.events[0].sidr.status, SidrStatus::kUnsupported);
}

TEST_F(ServiceResolutionTest, ARequestThatIsDestroyedIsRejected) {
  Listen();
  Resolve();
  server_.user.ids.clear();
  Settle();
  ASSERT_THAT(client_.user.events, SizeIs(1));
  EXPECT_EQ(client_.user.events[0].sidr.status, SidrStatus::kReject);
}

TEST_F(ServiceResolutionTest, ARequestThatIsIgnoredIsAskedAgain) {
  Listen();
  server_.user.on_request = [](auto id, const Arrived&) { id->Ignore(); };
  Resolve();
  EXPECT_THAT(TakeSent(), ElementsAre(Message::kSidrReq));
  timers_.RunFor(absl::Milliseconds(4096));
  EXPECT_THAT(TakeSent(), ElementsAre(Message::kSidrReq));
  EXPECT_THAT(server_.user.requests, SizeIs(2));
}

TEST_F(ServiceResolutionTest, ARequestThatIsNotAnsweredYetIsADuplicate) {
  Listen();
  Resolve();
  timers_.RunFor(absl::Milliseconds(4096));
  EXPECT_THAT(server_.user.requests, SizeIs(1));
  const auto index = static_cast<size_t>(Message::kSidrReq);
  EXPECT_EQ(server_.manager->counters(1).rx_msgs[index], 2u);
  EXPECT_EQ(server_.manager->counters(1).rx_duplicates[index], 1u);
  EXPECT_EQ(client_.manager->counters(1).tx_msgs[index], 2u);
  EXPECT_EQ(client_.manager->counters(1).tx_retries[index], 1u);
}

TEST_F(ServiceResolutionTest, ItGivesUpAfterSixteenTries) {
  lose_ = [](const Node&, Message) { return true; };
  Resolve();
  timers_.RunFor(16 * absl::Milliseconds(4096) - absl::Milliseconds(2));
  EXPECT_THAT(client_.user.events, IsEmpty());
  EXPECT_THAT(TakeSent(), SizeIs(16));
  timers_.RunFor(absl::Milliseconds(1));
  EXPECT_THAT(client_.user.TakeKinds(), ElementsAre(Kind::kSidrReqError));
  EXPECT_TRUE(timers_.idle());
}

TEST_F(ServiceResolutionTest, DestroyedItIsSilent) {
  lose_ = [](const Node&, Message) { return true; };
  Resolve();
  id_.reset();
  EXPECT_THAT(TakeSent(), ElementsAre(Message::kSidrReq));
  EXPECT_TRUE(timers_.idle());
}

TEST_F(ServiceResolutionTest, EachEndSaysItsMessageOnce) {
  Listen();
  Resolve();
  EXPECT_EQ(id_->SendSidrReq(Question()).code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(id_->SendReq(Ask()).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(id_->SendSidrRep({}).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_TRUE(peer().SendSidrRep({}).ok());
  EXPECT_EQ(peer().SendSidrRep({}).code(), absl::StatusCode::kInvalidArgument);
}

TEST_F(ServiceResolutionTest, PrivateDataFitIntoTheirMessage) {
  Listen();
  id_ = client_.manager->Create(client_.user);
  SidrRequest question = Question();
  question.private_data.resize(217);
  EXPECT_FALSE(id_->SendSidrReq(question).ok());
  question.private_data.resize(216);
  EXPECT_TRUE(id_->SendSidrReq(question).ok());
  Settle();
  SidrReply answer;
  answer.private_data.resize(137);
  EXPECT_FALSE(peer().SendSidrRep(answer).ok());
  answer.private_data.resize(136);
  EXPECT_TRUE(peer().SendSidrRep(answer).ok());
}

}  // namespace
}  // namespace ibemu::cm

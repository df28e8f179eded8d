// A membership that fails, is lost, and is tried again.
#include "ipoib/steady_membership.h"

#include <vector>

#include "testing/fake_provider.h"
#include "tests/mad/sa/sa_client_fixture.h"

namespace ibemu::ipoib {
namespace {

using mad::McMemberRecord;
using ::testing::ElementsAre, ::testing::SizeIs;

class SteadyMembershipTest : public mad::SaClientFixture {
 protected:
  static McMemberRecord Wanted(uint64_t port = 0x1001) {
    return {.mgid = {0xff12'401b'ffff'0000, 0xffff'ffff},
            .port_gid = {wire::kDefaultGidPrefix, port},
            .join_state = mad::kFullMember};
  }
  void AnswerLast(mad::MadStatus status = mad::MadStatus::kOk) {
    McMemberRecord record = Wanted();
    record.mlid = wire::Lid{0xc000};
    Answer(port_.sent.size() - 1, record, status);
    timers_.RunPending();
  }
  void Event(verbs::AsyncEventType type) {
    provider_.listener->OnDeviceEvent(type, 1);
    timers_.RunPending();
  }

  ibemu::testing::FakeProvider provider_;
  mad::MulticastMembers members_{timers_, provider_, 1, *client_};
  std::vector<bool> joined_;  // what was told
  SteadyMembership membership_{timers_, members_, 0x10083,
                               [this](const McMemberRecord* record) {
                                 joined_.push_back(record != nullptr);
                               }};
};

TEST_F(SteadyMembershipTest, ARefusalIsFollowedByLongerAndLongerPauses) {
  membership_.Start(Wanted());
  for (const int pause : {1, 2, 4, 8, 16, 16}) {
    const size_t sent = port_.sent.size();
    AnswerLast(mad::MadStatus::kSaRequestInvalid);
    timers_.RunFor(absl::Seconds(pause) - absl::Milliseconds(1));
    EXPECT_THAT(port_.sent, SizeIs(sent));
    timers_.RunFor(absl::Milliseconds(1));
    EXPECT_THAT(port_.sent, SizeIs(sent + 1));
  }
  AnswerLast();
  EXPECT_THAT(joined_, ElementsAre(true));
  EXPECT_NE(membership_.record(), nullptr);
  EXPECT_TRUE(timers_.idle());
}

TEST_F(SteadyMembershipTest, ALossIsFollowedByANewJoinAtOnce) {
  membership_.Start(Wanted());
  AnswerLast();
  Event(verbs::AsyncEventType::kClientReregister);
  EXPECT_THAT(joined_, ElementsAre(true, false));
  EXPECT_THAT(port_.sent, SizeIs(2));
  AnswerLast();
  EXPECT_THAT(joined_, ElementsAre(true, false, true));
}

TEST_F(SteadyMembershipTest, WhoStopsAfterALossJoinsNothing) {
  membership_.Start(Wanted());
  AnswerLast();
  provider_.listener->OnDeviceEvent(verbs::AsyncEventType::kPortError, 1);
  timers_.RunSoon([this] { membership_.Stop(); });
  timers_.RunFor(absl::Seconds(60));
  EXPECT_THAT(joined_, ElementsAre(true, false));
  EXPECT_THAT(port_.sent, SizeIs(1));
}

TEST_F(SteadyMembershipTest, WithoutASubnetManagerNothingIsTried) {
  port_.info.master_sm_lid = wire::Lid::kUnassigned;
  membership_.Start(Wanted());
  timers_.RunPending();
  EXPECT_TRUE(timers_.idle());
  port_.info.master_sm_lid = mad::kSm;
  membership_.Start(Wanted());
  AnswerLast();
  EXPECT_THAT(joined_, ElementsAre(true));
}

TEST_F(SteadyMembershipTest, AStartDuringAPauseEndsIt) {
  membership_.Start(Wanted());
  AnswerLast(mad::MadStatus::kSaRequestInvalid);
  membership_.Start(Wanted());
  EXPECT_THAT(port_.sent, SizeIs(2));
  AnswerLast();
  EXPECT_THAT(joined_, ElementsAre(true));
  EXPECT_TRUE(timers_.idle());
}

TEST_F(SteadyMembershipTest, APortWithAnotherGidJoinsAnew) {
  membership_.Start(Wanted());
  AnswerLast();
  membership_.Start(Wanted());  // nothing new
  EXPECT_THAT(port_.sent, SizeIs(1));
  membership_.Start(Wanted(0x1002));
  EXPECT_THAT(joined_, ElementsAre(true, false));
  ASSERT_THAT(port_.sent, SizeIs(2));  // the leave comes first
  AnswerLast();
  ASSERT_THAT(port_.sent, SizeIs(3));
  EXPECT_EQ(Asked<McMemberRecord>(2), Wanted(0x1002));
}

TEST_F(SteadyMembershipTest, WhoStopsLeaves) {
  membership_.Start(Wanted());
  AnswerLast();
  membership_.Stop();
  EXPECT_THAT(joined_, ElementsAre(true, false));
  EXPECT_EQ(membership_.record(), nullptr);
  ASSERT_THAT(port_.sent, SizeIs(2));
  EXPECT_EQ(wire::Get<&mad::MadHeader::method>(port_.sent[1].mad),
            mad::Method::kDelete);
}

}  // namespace
}  // namespace ibemu::ipoib

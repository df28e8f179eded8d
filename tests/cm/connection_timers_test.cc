// When a connection repeats its messages, and when it gives up.
#include <algorithm>
#include <vector>

#include "cm/connection.h"
#include "cm/timeouts.h"
#include "gmock/gmock.h"
#include "tests/cm/connection_states.h"

namespace ibemu::cm {
namespace {

using ::testing::ElementsAre;
using Kind = CmEvent::Kind;

// What a connection did by its timer alone: when it sent again, and its event.
struct Course {
  std::vector<absl::Duration> sent_again;
  absl::Duration told_after = absl::InfiniteDuration();
  std::optional<Kind> told;
};

Course CourseOf(Connection& it) {
  Course course;
  while (it.deadline() && !course.told) {
    const absl::Time now = *it.deadline();
    const Step step = it.OnTimer(now);
    if (step.send) {
      EXPECT_EQ(step.send->kind, Sending::Kind::kRepeat);
      course.sent_again.push_back(now - kStart);
    }
    if (!step.event) continue;
    course.told = step.event->kind;
    course.told_after = now - kStart;
  }
  return course;
}

std::vector<absl::Duration> FifteenTimes(absl::Duration each) {
  std::vector<absl::Duration> times;
  for (int i = 1; i <= 15; ++i) times.push_back(i * each);
  return times;
}

TEST(ConnectionTimersTest, AReqGoesOutSixteenTimesIn98Seconds) {
  Connection it = In(State::kReqSent);
  const Course course = CourseOf(it);
  EXPECT_EQ(course.sent_again, FifteenTimes(kActiveTimeout));
  EXPECT_EQ(course.told, Kind::kReqError);
  EXPECT_EQ(course.told_after, absl::Milliseconds(98304));
  EXPECT_EQ(it.state(), State::kIdle);
}

TEST(ConnectionTimersTest, AReqToItselfIsGivenUpAfter66Seconds) {
  Connection it({.comm_id = kOwnId});
  CmRequest request = RequestToPeer();
  request.path.packet_life_time = 0;
  ASSERT_TRUE(it.SendReq(kStart, request, WayToPeer()).ok());
  EXPECT_EQ(CourseOf(it).told_after, 16 * absl::Milliseconds(4098));
}

TEST(ConnectionTimersTest, ARepGoesOutSixteenTimesAsTheReqAllows) {
  Connection it = In(State::kRepSent);
  const Course course = CourseOf(it);
  EXPECT_EQ(course.sent_again, FifteenTimes(kPassiveTimeout));
  EXPECT_EQ(course.told, Kind::kRepError);
  EXPECT_EQ(course.told_after, absl::Milliseconds(65536));
  EXPECT_EQ(it.state(), State::kIdle);

  Connection hasty({.comm_id = kOwnId});
  Req req = ReqOfPeer();
  req.local_cm_response_timeout = 10;
  req.max_cm_retries = 1;
  hasty.OnReq(HeaderOfPeer(), req, WayToPeer());
  ASSERT_TRUE(hasty.SendRep(kStart, ReplyToPeer()).ok());
  const Course fast = CourseOf(hasty);
  EXPECT_THAT(fast.sent_again, ElementsAre(absl::Milliseconds(4)));
  EXPECT_EQ(fast.told_after, absl::Milliseconds(8));
}

TEST(ConnectionTimersTest, ADreqWaitsAsLongAsTheFirstMessageOfItsSide) {
  Connection active = In(State::kDreqSent);
  const Course course = CourseOf(active);
  EXPECT_EQ(course.sent_again, FifteenTimes(kActiveTimeout));
  EXPECT_EQ(course.told, Kind::kDreqError);
  EXPECT_EQ(active.state(), State::kTimewait);

  Connection passive = In(State::kRepSent);
  passive.OnRtu({});
  ASSERT_TRUE(passive.SendDreq(kStart, {}).ok());
  EXPECT_EQ(CourseOf(passive).sent_again, FifteenTimes(kPassiveTimeout));
}

TEST(ConnectionTimersTest, TimewaitLastsAsLongAsAnAck) {
  Connection active = In(State::kTimewait);  // its ACK timeout is 19
  const Course course = CourseOf(active);
  EXPECT_EQ(course.told, Kind::kTimewaitExit);
  EXPECT_EQ(course.told_after, absl::Milliseconds(2048));
  EXPECT_EQ(active.state(), State::kIdle);
}

TEST(ConnectionTimersTest, AnMraExtendsTheWaitFromThenOn) {
  // ms(24) + ms(19)
  const absl::Duration extended = absl::Milliseconds(65536 + 2048);
  Connection it = In(State::kReqSent);
  it.OnTimer(kStart + kActiveTimeout);
  const absl::Time now = kStart + kActiveTimeout + absl::Seconds(1);
  it.OnMra(now, {.message_mraed = About::kReq, .service_timeout = 24});
  ASSERT_EQ(it.deadline(), now + extended);
  const Course course = CourseOf(it);
  EXPECT_EQ(course.sent_again.size(), 14u);  // one was used before
  EXPECT_EQ(course.told_after, now + 15 * extended - kStart);
  EXPECT_EQ(course.told, Kind::kReqError);

  Connection passive = In(State::kMraRepReceived);
  EXPECT_EQ(passive.deadline(), kStart + extended);
  EXPECT_EQ(CourseOf(passive).told, Kind::kRepError);
}

TEST(ConnectionTimersTest, NothingIsWaitedForWhereTheOtherSideHasTheTurn) {
  for (const State state :
       {State::kIdle, State::kReqReceived, State::kMraReqSent,
        State::kRepReceived, State::kMraRepSent, State::kEstablished,
        State::kDreqReceived}) {
    EXPECT_FALSE(In(state).deadline().has_value()) << NameOf(state);
  }
}

TEST(ConnectionTimersTest, AckTimeoutsAreThoseOfLinux) {
  EXPECT_EQ(AckTimeout(15, 18), 19);
  EXPECT_EQ(AckTimeout(15, 14), 16);  // the delay counts as much as the path
  EXPECT_EQ(AckTimeout(15, 13), 16);
  EXPECT_EQ(AckTimeout(15, 12), 15);
  EXPECT_EQ(AckTimeout(0, 0), 2);
  EXPECT_EQ(AckTimeout(31, 31), 31);
}

TEST(ConnectionTimersTest, TimesArePowersOfTwoAndAMillisecondAtLeast) {
  EXPECT_EQ(TimeOf(0), absl::Milliseconds(1));
  EXPECT_EQ(TimeOf(8), absl::Milliseconds(1));
  EXPECT_EQ(TimeOf(9), absl::Milliseconds(2));
  EXPECT_EQ(TimeOf(20), absl::Milliseconds(4096));
}

}  // namespace
}  // namespace ibemu::cm

// The memberships of a port, which its users share.
#include "mad/sa/multicast_members.h"

#include <utility>
#include <vector>

#include "mad/wire/sa_component_mask.h"
#include "testing/fake_provider.h"
#include "tests/mad/sa/sa_client_fixture.h"

namespace ibemu::mad {
namespace {

using absl::StatusCode;
using verbs::AsyncEventType;
using Record = McMemberRecord;

constexpr wire::Gid kGroup{0xff12'401b'ffff'0000, 0xffff'ffff};
constexpr wire::Gid kOtherGroup{0xff12'401b'ffff'0000, 1};
constexpr uint64_t kMask = kComponentBit<&Record::mgid> |
                           kComponentBit<&Record::port_gid> |
                           kComponentBit<&Record::join_state>;

// What a user was told, one after the other.
struct User {
  std::unique_ptr<MulticastMembership> membership;
  std::vector<absl::StatusOr<Record>> told;

  std::vector<StatusCode> codes() const {
    std::vector<StatusCode> codes;
    for (const auto& news : told) codes.push_back(news.status().code());
    return codes;
  }
};

class MulticastMembersTest : public SaClientFixture {
 protected:
  static Record Wanted(const wire::Gid& mgid, uint8_t state = kFullMember) {
    return {.mgid = mgid,
            .port_gid = {wire::kDefaultGidPrefix, 0x1001},
            .join_state = state};
  }
  static Record Joined(Record record) {
    record.q_key = 0xb1b;
    record.mlid = wire::Lid{0xc001};
    record.mtu = 4;
    return record;
  }

  std::unique_ptr<User> Join(const Record& record, uint64_t mask = kMask) {
    auto user = std::make_unique<User>();
    user->membership = members_->Join(
        record, mask, [user = user.get()](absl::StatusOr<Record> news) {
          user->told.push_back(std::move(news));
        });
    EXPECT_THAT(user->told, IsEmpty());
    return user;
  }
  std::unique_ptr<User> Join(const wire::Gid& mgid = kGroup) {
    return Join(Wanted(mgid));
  }
  // Answers the last question, which must be a join.
  void Accept(const Record& record) {
    ASSERT_THAT(port_.sent.back(), HasMethod(Method::kSet));
    Answer(port_.sent.size() - 1, record);
    timers_.RunPending();
  }
  // A user who is a member.
  std::unique_ptr<User> Member() {
    auto user = Join();
    Accept(Joined(Wanted(kGroup)));
    return user;
  }
  void Event(AsyncEventType type, int port = 1) {
    provider_.listener->OnDeviceEvent(type, port);
    timers_.RunPending();
  }

  ibemu::testing::FakeProvider provider_;
  std::unique_ptr<MulticastMembers> members_ =
      std::make_unique<MulticastMembers>(timers_, provider_, 1, *client_);
};

TEST_F(MulticastMembersTest, TheFirstUserAsksTheSaAndHearsItsRecord) {
  const auto user = Join();
  ASSERT_THAT(port_.sent, SizeIs(1));
  EXPECT_THAT(port_.sent[0], HasMethod(Method::kSet));
  EXPECT_EQ(wire::Decode<SaHeader>(port_.sent[0].mad).component_mask, kMask);
  EXPECT_EQ(Asked<Record>(0), Wanted(kGroup));
  Accept(Joined(Wanted(kGroup)));
  ASSERT_THAT(user->codes(), ElementsAre(StatusCode::kOk));
  EXPECT_EQ(*user->told[0], Joined(Wanted(kGroup)));
}

TEST_F(MulticastMembersTest, AnotherUserSharesTheMembership) {
  const auto first = Member();
  const auto second = Join();
  timers_.RunPending();
  EXPECT_THAT(port_.sent, SizeIs(1));
  ASSERT_THAT(second->codes(), ElementsAre(StatusCode::kOk));
  EXPECT_EQ(*second->told[0], *first->told[0]);
}

TEST_F(MulticastMembersTest, UsersWhoComeWhileTheSaIsAskedWaitForItsAnswer) {
  const auto first = Join();
  const auto second = Join();
  Accept(Joined(Wanted(kGroup)));
  EXPECT_THAT(port_.sent, SizeIs(1));
  EXPECT_THAT(first->codes(), ElementsAre(StatusCode::kOk));
  EXPECT_THAT(second->codes(), ElementsAre(StatusCode::kOk));
}

TEST_F(MulticastMembersTest, OtherValuesThanTheGroupsAreRefusedWithoutTheSa) {
  const auto first = Member();
  Record wanted = Wanted(kGroup);
  wanted.q_key = 0x1234;
  const auto by_q_key = Join(wanted, kMask | kComponentBit<&Record::q_key>);
  wanted.q_key = 0xb1b;
  wanted.mtu_selector = Selector::kGreaterThan;
  wanted.mtu = 4;
  constexpr uint64_t kMtu =
      kComponentBit<&Record::mtu_selector> | kComponentBit<&Record::mtu>;
  const auto by_mtu = Join(wanted, kMask | kMtu);
  wanted.mtu = 3;
  const auto agrees =
      Join(wanted, kMask | kMtu | kComponentBit<&Record::q_key>);
  timers_.RunPending();
  EXPECT_THAT(by_q_key->codes(), ElementsAre(StatusCode::kInvalidArgument));
  EXPECT_THAT(by_mtu->codes(), ElementsAre(StatusCode::kInvalidArgument));
  EXPECT_THAT(agrees->codes(), ElementsAre(StatusCode::kOk));
  EXPECT_THAT(port_.sent, SizeIs(1));
}

TEST_F(MulticastMembersTest, ValuesThatTheMaskDoesNotNameAreNotCompared) {
  const auto first = Member();
  Record wanted = Wanted(kGroup);
  wanted.q_key = 0x1234;
  const auto second = Join(wanted);
  timers_.RunPending();
  EXPECT_THAT(second->codes(), ElementsAre(StatusCode::kOk));
}

TEST_F(MulticastMembersTest, TheLastUserLeavesTheGroup) {
  auto first = Member();
  auto second = Join();
  timers_.RunPending();
  first.reset();
  EXPECT_THAT(port_.sent, SizeIs(1));
  second.reset();
  ASSERT_THAT(port_.sent, SizeIs(2));
  EXPECT_THAT(port_.sent[1], HasMethod(Method::kDelete));
  EXPECT_EQ(wire::Decode<SaHeader>(port_.sent[1].mad).component_mask, kMask);
  EXPECT_EQ(Asked<Record>(1), Wanted(kGroup));
  Answer(1, Wanted(kGroup));
  EXPECT_TRUE(timers_.idle());
}

TEST_F(MulticastMembersTest, ALeaveIsRepeatedTwice) {
  Member().reset();
  timers_.RunFor(absl::Seconds(60));
  EXPECT_THAT(port_.sent, SizeIs(1 + 3));
  EXPECT_TRUE(timers_.idle());
}

TEST_F(MulticastMembersTest, WhoComesWhileThePortLeavesJoinsAnew) {
  Member().reset();
  const auto next = Join();
  timers_.RunPending();
  ASSERT_THAT(port_.sent, SizeIs(2));  // the first join, the leave
  Answer(1, Wanted(kGroup));
  ASSERT_THAT(port_.sent, SizeIs(3));
  Accept(Joined(Wanted(kGroup)));
  EXPECT_THAT(next->codes(), ElementsAre(StatusCode::kOk));
}

TEST_F(MulticastMembersTest, WhoLeavesBeforeTheAnswerIsAMemberForAMoment) {
  auto user = Join();
  user.reset();
  EXPECT_THAT(port_.sent, SizeIs(1));
  Answer(0, Joined(Wanted(kGroup)));
  ASSERT_THAT(port_.sent, SizeIs(2));
  EXPECT_THAT(port_.sent[1], HasMethod(Method::kDelete));
}

TEST_F(MulticastMembersTest, EachJoinStateIsJoinedAndLeftByItself) {
  const auto full = Member();
  auto sender = Join(Wanted(kGroup, kSendOnlyFullMember));
  ASSERT_THAT(port_.sent, SizeIs(2));
  Accept(Joined(Wanted(kGroup, kFullMember | kSendOnlyFullMember)));
  ASSERT_THAT(sender->codes(), ElementsAre(StatusCode::kOk));
  EXPECT_EQ(sender->told[0]->join_state, kSendOnlyFullMember);
  sender.reset();
  ASSERT_THAT(port_.sent, SizeIs(3));
  EXPECT_EQ(Asked<Record>(2).join_state, kSendOnlyFullMember);
}

TEST_F(MulticastMembersTest, ARefusalIsTold) {
  const auto user = Join();
  const auto waits = Join();
  Answer(0, Record{}, MadStatus::kSaInsufficientComponents);
  timers_.RunPending();
  EXPECT_THAT(user->codes(), ElementsAre(StatusCode::kInvalidArgument));
  EXPECT_THAT(waits->told, IsEmpty());  // its question is asked now
  EXPECT_THAT(port_.sent, SizeIs(2));
}

TEST_F(MulticastMembersTest, NobodyAnswersForElevenTimes300Ms) {
  const auto user = Join();
  timers_.RunFor(absl::Milliseconds(3299));
  EXPECT_THAT(user->told, IsEmpty());
  EXPECT_THAT(port_.sent, SizeIs(11));
  timers_.RunFor(absl::Milliseconds(1));
  EXPECT_THAT(user->codes(), ElementsAre(StatusCode::kDeadlineExceeded));
}

TEST_F(MulticastMembersTest, MembershipsEndWithWhatThePortWas) {
  for (const AsyncEventType type :
       {AsyncEventType::kPortError, AsyncEventType::kLidChange,
        AsyncEventType::kClientReregister}) {
    auto first = Member();
    auto second = Join();
    Event(type);
    EXPECT_THAT(first->codes(),
                ElementsAre(StatusCode::kOk, StatusCode::kAborted));
    EXPECT_THAT(second->codes(),
                ElementsAre(StatusCode::kOk, StatusCode::kAborted));
    const size_t sent = port_.sent.size();
    first.reset();
    second.reset();
    EXPECT_THAT(port_.sent, SizeIs(sent));  // nothing to leave
  }
}

TEST_F(MulticastMembersTest, EventsOfOtherPortsAndOtherKindsEndNothing) {
  const auto user = Member();
  Event(AsyncEventType::kPortError, 2);
  Event(AsyncEventType::kPortActive);
  Event(AsyncEventType::kSmChange);
  EXPECT_THAT(user->codes(), ElementsAre(StatusCode::kOk));
}

TEST_F(MulticastMembersTest, AJoinThatAnEventOvertakesIsAskedForAgain) {
  const auto user = Join();
  Event(AsyncEventType::kClientReregister);
  Answer(0, Joined(Wanted(kGroup)));
  timers_.RunPending();
  EXPECT_THAT(user->told, IsEmpty());
  ASSERT_THAT(port_.sent, SizeIs(2));
  Accept(Joined(Wanted(kGroup)));
  EXPECT_THAT(user->codes(), ElementsAre(StatusCode::kOk));
}

TEST_F(MulticastMembersTest, AUserMayJoinAgainAndLeaveInTheCall) {
  std::unique_ptr<MulticastMembership> membership;
  std::unique_ptr<User> again;
  membership =
      members_->Join(Wanted(kGroup), kMask, [&](const absl::StatusOr<Record>&) {
        membership.reset();
        again = Join();
      });
  Answer(0, Joined(Wanted(kGroup)));
  timers_.RunPending();
  ASSERT_THAT(port_.sent, SizeIs(2));
  EXPECT_THAT(port_.sent[1], HasMethod(Method::kDelete));
  Answer(1, Wanted(kGroup));
  ASSERT_THAT(port_.sent, SizeIs(3));
  Accept(Joined(Wanted(kGroup)));
  EXPECT_THAT(again->codes(), ElementsAre(StatusCode::kOk));
}

TEST_F(MulticastMembersTest, AnMgidThatTheSaChoosesIsSharedFromThenOn) {
  const auto first = Join(wire::Gid{});
  const auto second = Join(wire::Gid{});
  ASSERT_THAT(port_.sent, SizeIs(2));  // a group each
  Answer(0, Joined(Wanted(kGroup)));
  Answer(1, Joined(Wanted(kOtherGroup)));
  timers_.RunPending();
  ASSERT_THAT(first->codes(), ElementsAre(StatusCode::kOk));
  EXPECT_EQ(first->told[0]->mgid, kGroup);
  EXPECT_EQ(second->told[0]->mgid, kOtherGroup);
  const auto third = Join(kGroup);
  timers_.RunPending();
  EXPECT_THAT(third->codes(), ElementsAre(StatusCode::kOk));
  EXPECT_THAT(port_.sent, SizeIs(2));
}

TEST_F(MulticastMembersTest, AnAnswerForAnotherGroupIsTakenForThisOne) {
  auto user = Join();
  Accept(Joined(Wanted(kOtherGroup)));
  ASSERT_THAT(user->codes(), ElementsAre(StatusCode::kOk));
  EXPECT_EQ(user->told[0]->mgid, kGroup);
  user.reset();
  EXPECT_EQ(Asked<Record>(1).mgid, kGroup);
}

TEST_F(MulticastMembersTest, AMembershipMayOutliveThem) {
  const auto member = Member();
  const auto waiting = Join(kOtherGroup);
  members_.reset();
  EXPECT_EQ(provider_.listener, nullptr);
}

}  // namespace
}  // namespace ibemu::mad

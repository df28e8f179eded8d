// Questions to subnet administration, and what can become of them.
#include "mad/sa/sa_client.h"

#include <optional>

#include "mad/wire/sa_component_mask.h"
#include "tests/mad/sa/sa_client_fixture.h"

namespace ibemu::mad {
namespace {

using absl::StatusCode;

constexpr wire::Gid kOther{wire::kDefaultGidPrefix, 0x2002};

class SaClientTest : public SaClientFixture {
 protected:
  std::unique_ptr<SaQuery> AskForPath(int retries = 0) {
    return client_->GetPath(
        {.dgid = kOther}, kComponentBit<&PathRecord::dgid>,
        {.timeout = absl::Milliseconds(100), .retries = retries},
        [this](absl::StatusOr<PathRecord> path) {
          path_ = std::move(path);
          if (then_) then_();
        });
  }
  StatusCode code() const {
    EXPECT_TRUE(path_.has_value());
    return path_ ? path_->status().code() : StatusCode::kUnknown;
  }

  std::optional<absl::StatusOr<PathRecord>> path_;
  std::function<void()> then_;
};

TEST_F(SaClientTest, AQuestionGoesToTheSmThatPortInfoNames) {
  const auto query = AskForPath();
  ASSERT_THAT(port_.sent, SizeIs(1));
  const Outgoing& sent = port_.sent[0];
  EXPECT_EQ(sent.to.dlid, kSm);
  EXPECT_EQ(sent.to.sl, 3);
  EXPECT_EQ(sent.to.qpn, 1u);
  EXPECT_EQ(sent.to.qkey, kQp1QKey);
  const auto header = wire::Decode<SaHeader>(sent.mad);
  EXPECT_EQ(header.mad.mgmt_class, MgmtClass::kSubnetAdministration);
  EXPECT_EQ(header.mad.class_version, kSaClassVersion);
  EXPECT_EQ(header.mad.method, Method::kGet);
  EXPECT_EQ(header.mad.attr_id, AttributeId::kPathRecord);
  EXPECT_EQ(header.component_mask, 4u);
  EXPECT_EQ(
      wire::Decode<PathRecord>(std::span(sent.mad).subspan(kSaDataOffset)),
      PathRecord{.dgid = kOther});
}

TEST_F(SaClientTest, TheAnswersRecordIsTold) {
  const auto query = AskForPath();
  Answer(0, PathRecord{.dlid = wire::Lid{9}, .mtu = 4});
  ASSERT_EQ(code(), StatusCode::kOk);
  EXPECT_EQ(path_->value(), (PathRecord{.dlid = wire::Lid{9}, .mtu = 4}));
  EXPECT_TRUE(timers_.idle());
}

TEST_F(SaClientTest, JoinsAreSetsAndLeavesAreDeletes) {
  const SaRetryPolicy retry{.timeout = absl::Seconds(1)};
  std::vector<McMemberRecord> told;
  const auto done = [&](absl::StatusOr<McMemberRecord> record) {
    told.push_back(record.value());
  };
  const auto join = client_->JoinGroup({.join_state = 1}, 1, retry, done);
  const auto leave = client_->LeaveGroup({.join_state = 1}, 1, retry, done);
  ASSERT_THAT(port_.sent, SizeIs(2));
  EXPECT_THAT(port_.sent[0], HasMethod(Method::kSet));
  EXPECT_THAT(port_.sent[1], HasMethod(Method::kDelete));
  Answer(1, McMemberRecord{.mlid = wire::Lid{2}});
  Answer(0, McMemberRecord{.mlid = wire::Lid{1}});
  EXPECT_THAT(told, ElementsAre(McMemberRecord{.mlid = wire::Lid{2}},
                                McMemberRecord{.mlid = wire::Lid{1}}));
}

TEST_F(SaClientTest, AStatusOfTheSaIsAnInvalidArgument) {
  const auto query = AskForPath(/*retries=*/3);
  Answer(0, PathRecord{}, MadStatus::kSaNoRecords);
  EXPECT_EQ(code(), StatusCode::kInvalidArgument);
  EXPECT_TRUE(timers_.idle());
}

// That is an answer to what was no RMPP packet.
TEST_F(SaClientTest, AnAbortOfRmppIsNoAnswer) {
  const auto query = AskForPath();
  MadBytes abort = AnswerToLast();
  wire::Put<&MadHeader::method>(abort, Method(0x82));
  port_.Receive(From(kSm, abort));
  EXPECT_EQ(code(), StatusCode::kInvalidArgument);
}

TEST_F(SaClientTest, AQuestionIsNoRmppPacket) {
  const auto query = AskForPath();
  const auto header = port_.sent[0].mad;
  EXPECT_EQ(RmppOf(header).version, 0);
  EXPECT_FALSE(RmppOf(header).active);
}

TEST_F(SaClientTest, AQuestionIsRepeatedUntilNobodyWaitsAnyMore) {
  const auto query = AskForPath(/*retries=*/2);
  timers_.RunFor(absl::Milliseconds(299));
  EXPECT_THAT(port_.sent, SizeIs(3));
  EXPECT_EQ(port_.sent[2].mad, port_.sent[0].mad);
  EXPECT_FALSE(path_.has_value());
  timers_.RunFor(absl::Milliseconds(1));
  EXPECT_EQ(code(), StatusCode::kDeadlineExceeded);
  EXPECT_THAT(port_.sent, SizeIs(3));
}

TEST_F(SaClientTest, AnAnswerToARepetitionCounts) {
  const auto query = AskForPath(/*retries=*/1);
  timers_.RunFor(absl::Milliseconds(150));
  Answer(1, PathRecord{.sl = 2});
  ASSERT_EQ(code(), StatusCode::kOk);
  EXPECT_EQ(path_->value().sl, 2);
}

TEST_F(SaClientTest, ACancelledQuestionIsNeitherRepeatedNorAnswered) {
  auto query = AskForPath(/*retries=*/5);
  query.reset();
  Answer(0, PathRecord{});
  timers_.RunFor(absl::Seconds(10));
  EXPECT_FALSE(path_.has_value());
  auto unanswered = AskForPath(/*retries=*/5);
  unanswered.reset();
  timers_.RunFor(absl::Seconds(10));
  EXPECT_FALSE(path_.has_value());
  EXPECT_THAT(port_.sent, SizeIs(2));
}

// RESOLVE_ROUTE takes timeouts of days.
TEST_F(SaClientTest, ACancelledQuestionIsGoneFromTheAgentAtOnce) {
  auto query = client_->GetPath(
      {.dgid = kOther}, kComponentBit<&PathRecord::dgid>,
      {.timeout = absl::Hours(119), .retries = 15},
      [](const absl::StatusOr<PathRecord>&) { ADD_FAILURE(); });
  const auto other = AskForPath();
  query.reset();
  Answer(1, PathRecord{});
  EXPECT_EQ(code(), StatusCode::kOk);
  EXPECT_TRUE(timers_.idle());
  Answer(0, PathRecord{});
}

TEST_F(SaClientTest, AnAnswerMayTakeAsLongAsItsTry) {
  const auto query = client_->GetPath(
      {.dgid = kOther}, kComponentBit<&PathRecord::dgid>,
      {.timeout = absl::Hours(1)},
      [this](absl::StatusOr<PathRecord> path) { path_ = std::move(path); });
  timers_.RunFor(absl::Minutes(59));
  Answer(0, PathRecord{});
  EXPECT_EQ(code(), StatusCode::kOk);
  EXPECT_THAT(port_.sent, SizeIs(1));
}

TEST_F(SaClientTest, APortWithoutASmAsksNobody) {
  port_.info.master_sm_lid = wire::Lid::kUnassigned;
  const auto query = AskForPath();
  EXPECT_FALSE(path_.has_value());  // not before the call returns
  timers_.RunPending();
  EXPECT_EQ(code(), StatusCode::kFailedPrecondition);
  EXPECT_THAT(port_.sent, IsEmpty());
}

TEST_F(SaClientTest, ARemovedDeviceEndsWhatIsAskedAndWhatIsAskedLater) {
  const auto query = AskForPath();
  device_.Remove();
  timers_.RunPending();
  EXPECT_EQ(code(), StatusCode::kUnavailable);
  path_.reset();
  const auto late = AskForPath();
  timers_.RunPending();
  EXPECT_EQ(code(), StatusCode::kUnavailable);
}

TEST_F(SaClientTest, AClientOfARemovedDeviceAnswersThatItIsGone) {
  device_.Remove();
  client_ = std::make_unique<SaClient>(timers_, host_, 1);
  const auto query = AskForPath();
  timers_.RunPending();
  EXPECT_EQ(code(), StatusCode::kUnavailable);
}

TEST_F(SaClientTest, AnAnswerMayDestroyTheQueryAndTheClient) {
  for (const bool removed : {false, true}) {
    client_ = std::make_unique<SaClient>(timers_, host_, 1);
    auto query = AskForPath();
    const auto other = AskForPath();
    then_ = [&] {
      query.reset();
      client_.reset();
    };
    path_.reset();
    if (removed) {
      device_.Remove();
      timers_.RunPending();
    } else {
      Answer(0, PathRecord{});
    }
    EXPECT_TRUE(path_.has_value());
    EXPECT_EQ(client_, nullptr);
    port_.sent.clear();
  }
}

TEST_F(SaClientTest, ADestroyedClientAnswersNothing) {
  const auto query = AskForPath(/*retries=*/3);
  client_.reset();
  timers_.RunFor(absl::Seconds(10));
  EXPECT_FALSE(path_.has_value());
  EXPECT_THAT(port_.sent, SizeIs(1));
}

TEST_F(SaClientTest, TheDefaultPartitionIsLookedUp) {
  port_.pkeys = {0x8001, 0x7fff, 0xffff};
  const auto full = AskForPath();
  port_.pkeys = {0x8001, 0x7fff};
  const auto limited = AskForPath();
  EXPECT_EQ(port_.sent[0].to.pkey_index, 2);
  EXPECT_EQ(port_.sent[1].to.pkey_index, 1);
}

}  // namespace
}  // namespace ibemu::mad

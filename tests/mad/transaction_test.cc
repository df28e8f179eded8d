// What becomes of an outstanding send: answers, timeouts, duplicates.
#include "tests/mad/fixture.h"

namespace ibemu::mad {
namespace {

constexpr absl::Duration kTimeout = absl::Milliseconds(200);

class TransactionTest : public HostTest {
 protected:
  absl::Status Send(const MadHeader& header, absl::Duration timeout = kTimeout,
                    int retries = 0, uint64_t cookie = 1) {
    return agent_->Send(
        MessageTo(kPeer, MakeMad(header), timeout, retries, cookie));
  }

  std::unique_ptr<Agent> agent_ = RegisterSender();
};

// [tid_hi]
TEST_F(TransactionTest, ReplacesTheHighHalfOfARequestsTid) {
  ASSERT_TRUE(Send({.mgmt_class = MgmtClass::kPerformance,
                    .method = Method::kGet,
                    .tid = 0xdeadbeef'00001234})
                  .ok());
  EXPECT_THAT(port_.sent,
              ElementsAre(HasTid(uint64_t{agent_->hi_tid()} << 32 | 0x1234)));
}

// [tid_hi] [bm_response_bit] [tid_of_response]
TEST_F(TransactionTest, LeavesTheTidOfAnAnswerAlone) {
  constexpr uint64_t kTid = 0xdeadbeef'00001234;
  for (const Method method : {Method::kGetResp, Method::kTrapRepress}) {
    ASSERT_TRUE(Send({.mgmt_class = MgmtClass::kPerformance,
                      .method = method,
                      .tid = kTid},
                     absl::ZeroDuration())
                    .ok());
  }
  ASSERT_TRUE(Send({.mgmt_class = MgmtClass::kBaseboard,
                    .method = Method::kSend,
                    .tid = kTid,
                    .attr_mod = 1},
                   absl::ZeroDuration())
                  .ok());
  EXPECT_THAT(port_.sent,
              ElementsAre(HasTid(kTid), HasTid(kTid), HasTid(kTid)));
}

// [roundtrip]
TEST_F(TransactionTest, DeliversTheAnswerOnce) {
  ASSERT_TRUE(Send(kPerfGet).ok());
  port_.Receive(From(kPeer, AnswerToLast()));
  port_.Receive(From(kPeer, AnswerToLast()));

  EXPECT_THAT(client_.inbox, ElementsAre(HasMethod(Method::kGetResp)));
  EXPECT_THAT(client_.done, ElementsAre(1));
  timers_.RunFor(absl::Hours(1));
  EXPECT_THAT(client_.timed_out, IsEmpty());
}

// [retries] [timeout_packet]
TEST_F(TransactionTest, ReportsATimeoutOnlyAfterTheLastRetry) {
  ASSERT_TRUE(Send(kPerfGet, kTimeout, /*retries=*/2).ok());

  timers_.RunFor(3 * kTimeout - absl::Milliseconds(1));
  EXPECT_THAT(port_.sent, SizeIs(3));
  EXPECT_EQ(port_.sent[2].mad, port_.sent[0].mad);
  EXPECT_THAT(client_.timed_out, IsEmpty());

  timers_.RunFor(absl::Milliseconds(1));
  EXPECT_THAT(port_.sent, SizeIs(3));
  EXPECT_THAT(client_.timed_out, ElementsAre(1));
  EXPECT_THAT(client_.done, IsEmpty());
}

TEST_F(TransactionTest, AnAnswerStopsTheRetries) {
  ASSERT_TRUE(Send(kPerfGet, kTimeout, /*retries=*/2).ok());
  timers_.RunFor(kTimeout * 1.5);
  port_.Receive(From(kPeer, AnswerToLast()));
  timers_.RunFor(absl::Hours(1));

  EXPECT_THAT(port_.sent, SizeIs(2));
  EXPECT_THAT(client_.inbox, SizeIs(1));
  EXPECT_TRUE(timers_.idle());
}

// [roundtrip] [timeout_late_answer]
TEST_F(TransactionTest, DropsAnAnswerThatComesAfterTheTimeout) {
  ASSERT_TRUE(Send(kPerfGet).ok());
  timers_.RunFor(kTimeout);
  port_.Receive(From(kPeer, AnswerToLast()));
  EXPECT_THAT(client_.inbox, IsEmpty());
}

// [timeout0_response] [timeout0]
TEST_F(TransactionTest, WithoutTimeoutTheSendIsOverAtOnceAndItsAnswerDropped) {
  ASSERT_TRUE(Send(kPerfGet, absl::ZeroDuration(), /*retries=*/5).ok());
  EXPECT_THAT(client_.done, IsEmpty());  // not before Send() returns
  timers_.RunPending();
  EXPECT_THAT(client_.done, ElementsAre(1));

  port_.Receive(From(kPeer, AnswerToLast()));
  timers_.RunFor(absl::Hours(1));
  EXPECT_THAT(client_.inbox, IsEmpty());
  EXPECT_THAT(client_.timed_out, IsEmpty());
  EXPECT_THAT(port_.sent, SizeIs(1));
}

// [dup_response]
TEST_F(TransactionTest, AnAnswerWithATimeoutIsTimedToo) {
  ASSERT_TRUE(Send({.mgmt_class = MgmtClass::kPerformance,
                    .method = Method::kGetResp,
                    .tid = 5})
                  .ok());
  timers_.RunFor(kTimeout);
  EXPECT_THAT(client_.timed_out, ElementsAre(1));
}

// [timeout_order]
TEST_F(TransactionTest, TimeoutsComeInTheOrderOfExpiry) {
  MadHeader header = kPerfGet;
  const absl::Duration timeouts[] = {kTimeout * 3, kTimeout, kTimeout * 2};
  for (uint64_t cookie = 0; cookie < 3; ++cookie) {
    header.tid = cookie;
    ASSERT_TRUE(Send(header, timeouts[cookie], 0, cookie).ok());
  }
  timers_.RunFor(absl::Seconds(1));
  EXPECT_THAT(client_.timed_out, ElementsAre(1, 2, 0));
}

// [dup_tid]
TEST_F(TransactionTest, RefusesASecondRequestOfTheSameTidAndClass) {
  ASSERT_TRUE(Send(kPerfGet).ok());
  MadHeader other = kPerfGet;
  other.method = Method::kSet;
  EXPECT_EQ(Send(other).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(Send(other, absl::ZeroDuration()).code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(port_.sent, SizeIs(1));

  other.mgmt_class = MgmtClass::kDevice;
  EXPECT_TRUE(Send(other).ok());
}

// [dup_after_tmo0]
TEST_F(TransactionTest, AcceptsTheTidAgainWhenTheSendIsOver) {
  ASSERT_TRUE(Send(kPerfGet).ok());
  timers_.RunFor(kTimeout);
  EXPECT_TRUE(Send(kPerfGet, absl::ZeroDuration()).ok());
  EXPECT_TRUE(Send(kPerfGet).ok());
}

// [dup_response]
TEST_F(TransactionTest, RefusesASecondAnswerOnlyToTheSamePlace) {
  const MadBytes answer = MakeMad({.mgmt_class = MgmtClass::kPerformance,
                                   .method = Method::kGetResp,
                                   .tid = 5});
  ASSERT_TRUE(agent_->Send(MessageTo(kPeer, answer, kTimeout)).ok());
  EXPECT_FALSE(agent_->Send(MessageTo(kPeer, answer, kTimeout)).ok());
  EXPECT_TRUE(agent_->Send(MessageTo(wire::Lid{8}, answer, kTimeout)).ok());

  OutgoingMessage global = MessageTo(kPeer, answer, kTimeout);
  global.to.grh = GlobalRoute{.gid = {1, 2}};
  EXPECT_TRUE(agent_->Send(global).ok());
  EXPECT_FALSE(agent_->Send(global).ok());
  global.to.grh->gid = {1, 3};
  EXPECT_TRUE(agent_->Send(global).ok());
}

// [unreg_*]
TEST_F(TransactionTest, UnregisteringCancelsWithoutATimeout) {
  ASSERT_TRUE(Send(kPerfGet).ok());
  agent_.reset();
  timers_.RunFor(absl::Hours(1));
  EXPECT_THAT(client_.timed_out, IsEmpty());
  EXPECT_THAT(client_.done, IsEmpty());
}

// --- What an answer must have in common with its request.

class MatchTest : public TransactionTest {
 protected:
  // Sends a request to `to`, answers it as `change` says.  Was it taken?
  template <class Change>
  bool Takes(AddressVector to, Change&& change) {
    client_.inbox.clear();
    MadHeader header = kPerfGet;
    header.tid = ++tid_;
    OutgoingMessage message = MessageTo(kPeer, MakeMad(header), kTimeout);
    to.dlid = kPeer;
    message.to = to;
    EXPECT_TRUE(agent_->Send(message).ok());
    Arrival answer = From(kPeer, AnswerToLast());
    change(answer);
    port_.Receive(answer);
    return !client_.inbox.empty();
  }
  template <class Change>
  bool Takes(Change&& change) {
    return Takes(AddressVector{}, change);
  }

  uint32_t tid_ = 0;
};

// [resp_routing]
TEST_F(MatchTest, ComparesTheWholeTidAndTheClass) {
  EXPECT_TRUE(Takes([](Arrival&) {}));
  EXPECT_FALSE(Takes([](Arrival& a) {
    wire::Put<&MadHeader::tid>(a.mad, HeaderOf(a.mad).tid ^ 1);
  }));
  EXPECT_FALSE(Takes([](Arrival& a) {
    wire::Put<&MadHeader::mgmt_class>(a.mad, MgmtClass::kDevice);
  }));
}

// [resp_routing]
TEST_F(MatchTest, DoesNotCompareSourceMethodAttributeOrVersion) {
  EXPECT_TRUE(Takes([](Arrival& a) { a.slid = wire::Lid{99}; }));
  EXPECT_TRUE(Takes([](Arrival& a) {
    wire::Put<&MadHeader::method>(a.mad, Method::kReportResp);
  }));
  EXPECT_TRUE(Takes([](Arrival& a) {
    wire::Put<&MadHeader::attr_id>(a.mad, AttributeId::kNotice);
  }));
  EXPECT_TRUE(Takes([](Arrival& a) {
    wire::Put<&MadHeader::class_version>(a.mad, uint8_t{77});
  }));
}

// [ib_grh_rx] [resp_grh]
TEST_F(MatchTest, ComparesWhetherThereIsAGrh) {
  const auto with_grh = [](Arrival& a) {
    a.grh = GlobalRoute{.gid = {1, 2}, .gid_index = 0};
  };
  const AddressVector global{.grh = GlobalRoute{.gid = {1, 2}}};
  EXPECT_FALSE(Takes(with_grh));
  EXPECT_FALSE(Takes(global, [](Arrival&) {}));
  EXPECT_TRUE(Takes(global, with_grh));
}

// [ib_grh_rx]
TEST_F(MatchTest, WithAGrhTheAnswerMustGoToTheGidThatAsked) {
  port_.gids = {{1, 1}, {1, 5}};
  const auto to_gid = [](uint8_t index) {
    return [index](Arrival& a) {
      a.grh = GlobalRoute{.gid = {9, 9}, .gid_index = index};
    };
  };
  const AddressVector from_second{
      .grh = GlobalRoute{.gid = {1, 2}, .gid_index = 1}};
  EXPECT_TRUE(Takes(from_second, to_gid(1)));
  EXPECT_FALSE(Takes(from_second, to_gid(0)));
}

// [ib_grh_rx] [resp_routing]
TEST_F(MatchTest, AtAnotherPortOnlyAGidOfTheAgentsOwnPortCounts) {
  FakePort& other = device_.port(2);
  port_.gids = {{1, 1}, {1, 5}};
  other.gids = {{1, 2}, {1, 5}};
  OutgoingMessage message = MessageTo(kPeer, MakeMad(kPerfGet), kTimeout);
  message.to.grh = GlobalRoute{.gid = {1, 9}, .gid_index = 0};
  ASSERT_TRUE(agent_->Send(message).ok());
  Arrival answer = From(kPeer, AnswerToLast());
  for (const uint8_t index : {0, 1}) {
    answer.grh = GlobalRoute{.gid = {1, 9}, .gid_index = index};
    other.Receive(answer);
    EXPECT_THAT(client_.inbox, IsEmpty());
  }

  other.gids = {{1, 2}, {1, 1}};
  other.Receive(answer);
  ASSERT_THAT(client_.inbox, SizeIs(1));
  EXPECT_EQ(client_.inbox[0].grh->gid_index, 0);
}

// [resp_routing]
TEST_F(MatchTest, ComparesPathBitsOnlyAsFarAsLmcReaches) {
  const auto bits = [](uint8_t path_bits) {
    return [path_bits](Arrival& a) { a.path_bits = path_bits; };
  };
  EXPECT_TRUE(Takes(bits(1)));  // LMC 0

  port_.info.lmc = 1;
  device_.Announce(1);
  EXPECT_FALSE(Takes(bits(1)));
  EXPECT_TRUE(Takes(bits(2)));
  EXPECT_TRUE(Takes(AddressVector{.path_bits = 1}, bits(1)));
}

TEST_F(MatchTest, AnAnswerDoesNotEndAnAnswerOfOurs) {
  const MadBytes answer =
      MakeMad({.mgmt_class = MgmtClass::kPerformance,
               .method = Method::kGetResp,
               .tid = uint64_t{agent_->hi_tid()} << 32 | 5});
  ASSERT_TRUE(agent_->Send(MessageTo(kPeer, answer, kTimeout)).ok());
  port_.Receive(From(kPeer, answer));
  EXPECT_THAT(client_.inbox, IsEmpty());
  EXPECT_THAT(client_.done, IsEmpty());
}

// [resp_routing] [resp_by_tid]
TEST_F(MatchTest, TheAnswerMayComeToAnyPortOfTheHost) {
  ASSERT_TRUE(Send(kPerfGet).ok());
  device_.port(2).Receive(From(kPeer, AnswerToLast()));
  EXPECT_THAT(client_.inbox, SizeIs(1));
}

}  // namespace
}  // namespace ibemu::mad

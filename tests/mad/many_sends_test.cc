// Thousands of sends of one agent at a time.
#include <algorithm>

#include "base/random.h"
#include "tests/mad/fixture.h"

namespace ibemu::mad {
namespace {

constexpr uint64_t kSends = 5000;

class ManySendsTest : public HostTest {
 protected:
  void Send(uint64_t cookie, absl::Duration timeout, int retries = 0) {
    MadHeader header = kPerfGet;
    header.tid = cookie;
    ASSERT_TRUE(
        agent_
            ->Send(MessageTo(kPeer, MakeMad(header), timeout, retries, cookie))
            .ok());
  }
  void Answer(const Outgoing& request) {
    MadBytes answer = request.mad;
    wire::Put<&MadHeader::method>(answer, Method::kGetResp);
    port_.Receive(From(kPeer, answer));
  }
  template <class T>
  void Shuffle(std::vector<T>& items) {
    for (size_t i = items.size(); i > 1; --i) {
      std::swap(items[i - 1], items[random_.Below(i)]);
    }
  }

  Random random_{7};
  std::unique_ptr<Agent> agent_ = RegisterSender();
};

TEST_F(ManySendsTest, EachAnswerEndsItsOwn) {
  for (uint64_t cookie = 0; cookie < kSends; ++cookie) {
    Send(cookie, absl::Seconds(1));
  }
  std::vector<Outgoing> requests = std::move(port_.sent);
  ASSERT_THAT(requests, SizeIs(kSends));
  Shuffle(requests);

  for (size_t i = 0; i < kSends; ++i) {
    const uint64_t tid = HeaderOf(requests[i].mad).tid;
    Answer(requests[i]);
    Answer(requests[i]);  // the second one is late
    ASSERT_THAT(client_.inbox, SizeIs(i + 1));
    ASSERT_EQ(HeaderOf(client_.inbox[i].mad).tid, tid);
    ASSERT_EQ(client_.done[i], tid & 0xffffffff);
  }
  EXPECT_TRUE(timers_.idle());
}

TEST_F(ManySendsTest, TimeoutsComeInTheOrderOfTheirExpiry) {
  struct Sent {
    absl::Duration expiry;
    bool retried = false;
  };
  std::vector<Sent> sent;
  for (uint64_t cookie = 0; cookie < kSends; ++cookie) {
    const auto timeout = absl::Milliseconds(1 + random_.Below(300));
    const auto retries = static_cast<int>(random_.Below(4));
    Send(cookie, timeout, retries);
    sent.push_back({timeout * (1 + retries), retries > 0});
  }
  timers_.RunFor(absl::Seconds(2));
  EXPECT_TRUE(timers_.idle());
  ASSERT_THAT(client_.timed_out, SizeIs(kSends));

  for (size_t i = 1; i < kSends; ++i) {
    const uint64_t first = client_.timed_out[i - 1];
    const uint64_t second = client_.timed_out[i];
    ASSERT_LE(sent[first].expiry, sent[second].expiry);
    // At the same moment, those of one try keep the order of their sending.
    if (sent[first].expiry == sent[second].expiry && !sent[first].retried &&
        !sent[second].retried) {
      ASSERT_LT(first, second);
    }
  }
}

TEST_F(ManySendsTest, SomeAreAnsweredSomeTimeOut) {
  enum End { kAnswered, kTimedOut };
  std::vector<End> wanted;
  for (uint64_t cookie = 0; cookie < kSends; ++cookie) {
    Send(cookie, absl::Milliseconds(1 + random_.Below(1000)));
    wanted.push_back(static_cast<End>(random_.Below(2)));
  }
  std::vector<Outgoing> requests = std::move(port_.sent);
  Shuffle(requests);
  for (const Outgoing& request : requests) {
    const uint64_t cookie = HeaderOf(request.mad).tid & 0xffffffff;
    if (wanted[cookie] == kAnswered) Answer(request);
  }
  timers_.RunFor(absl::Seconds(1));
  EXPECT_TRUE(timers_.idle());

  std::vector<int> done(kSends), timed_out(kSends), answered(kSends);
  for (const uint64_t cookie : client_.done) ++done[cookie];
  for (const uint64_t cookie : client_.timed_out) ++timed_out[cookie];
  for (const IncomingMessage& message : client_.inbox) {
    ++answered[HeaderOf(message.mad).tid & 0xffffffff];
  }
  for (uint64_t cookie = 0; cookie < kSends; ++cookie) {
    ASSERT_EQ(answered[cookie], wanted[cookie] == kAnswered ? 1 : 0);
    ASSERT_EQ(done[cookie], wanted[cookie] == kTimedOut ? 0 : 1);
    ASSERT_EQ(timed_out[cookie], wanted[cookie] == kTimedOut ? 1 : 0);
  }
}

TEST_F(ManySendsTest, AnAgentThatEndsLeavesNoTimer) {
  for (uint64_t cookie = 0; cookie < kSends; ++cookie) {
    Send(cookie, absl::Seconds(1), /*retries=*/3);
  }
  EXPECT_FALSE(timers_.idle());
  agent_.reset();
  EXPECT_TRUE(timers_.idle());
}

TEST_F(ManySendsTest, OneTidMayGoToManyPlaces) {
  // Answers, that is: of requests the second one is refused.
  const MadBytes answer = MakeMad({.mgmt_class = MgmtClass::kPerformance,
                                   .method = Method::kGetResp,
                                   .tid = 5});
  constexpr uint16_t kPlaces = 1000;
  for (uint16_t lid = 1; lid <= kPlaces; ++lid) {
    ASSERT_TRUE(
        agent_
            ->Send(MessageTo(wire::Lid{lid}, answer, absl::Seconds(1), 0, lid))
            .ok());
  }
  EXPECT_FALSE(agent_->Send(MessageTo(wire::Lid{1}, answer)).ok());
  EXPECT_FALSE(agent_->Send(MessageTo(wire::Lid{kPlaces}, answer)).ok());
  timers_.RunFor(absl::Seconds(1));
  EXPECT_THAT(client_.timed_out, SizeIs(kPlaces));
  EXPECT_TRUE(timers_.idle());
}

}  // namespace
}  // namespace ibemu::mad

#include "fabric/soft_hca/transport/fetch_requester.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/fabric/soft_hca/transport/requester_lab.h"
#include "verbs/wc_status.h"

namespace ibemu::fabric {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using Operation = Transport::Operation;
using Syndrome = Transport::Syndrome;

namespace wc_status = verbs::wc_status;

// RDMA READs and atomic operations of a reliable connection's requester.
class FetchRequesterTest : public ::testing::Test, protected RequesterLab {
 protected:
  FetchRequesterTest() : RequesterLab(verbs::QpType::kRc) {}

  static std::string Text(size_t size, char c) { return std::string(size, c); }
};

TEST_F(FetchRequesterTest, CompletesAReadWhenItsDataIsInMemory) {
  link.memory->SetDelay(absl::Microseconds(5));
  ASSERT_TRUE(Read(100, 5).ok());
  const std::vector<Transport> sent = link.TakeSent();
  ASSERT_THAT(sent, SizeIs(1));
  EXPECT_EQ(sent[0].operation, Operation::kReadRequest);
  EXPECT_EQ(sent[0].address, kRemote);
  EXPECT_EQ(sent[0].key, kKey);
  EXPECT_EQ(sent[0].length, 5u);

  Respond(Psn(0), "hello");
  EXPECT_THAT(link.Poll(), IsEmpty());
  link.timers.RunFor(absl::Microseconds(5));

  EXPECT_THAT(link.PollStatuses(), ElementsAre(wc_status::kSuccess));
  EXPECT_EQ(link.memory->Text(100, 5), "hello");
  EXPECT_TRUE(link.timers.idle());
}

TEST_F(FetchRequesterTest, RequestsOnlyWhatIsMissingAgain) {
  ASSERT_TRUE(Read(0, 4 * FakeLink::kMtu).ok());
  link.TakeSent();
  Respond(Psn(0), Text(2 * FakeLink::kMtu, 'a'));
  Respond(Psn(3), Text(FakeLink::kMtu, 'd'));  // the third was lost
  EXPECT_THAT(link.TakeSent(), IsEmpty());

  link.timers.RunFor(kTimeout);

  const std::vector<Transport> sent = link.TakeSent();
  ASSERT_THAT(sent, SizeIs(1));
  EXPECT_EQ(sent[0].psn, Psn(2));
  EXPECT_EQ(sent[0].address, kRemote + 2 * FakeLink::kMtu);
  EXPECT_EQ(sent[0].length, 2 * FakeLink::kMtu);
  Respond(Psn(2), Text(2 * FakeLink::kMtu, 'c'));
  EXPECT_THAT(link.PollStatuses(), ElementsAre(wc_status::kSuccess));
  EXPECT_EQ(link.memory->Text(2 * FakeLink::kMtu - 1, 3), "acc");
}

TEST_F(FetchRequesterTest, TakesFromRepeatedResponsesWhatIsNew) {
  ASSERT_TRUE(Read(0, 3 * FakeLink::kMtu).ok());
  Respond(Psn(0), Text(FakeLink::kMtu, 'a'));

  Respond(Psn(0), Text(3 * FakeLink::kMtu, 'b'));

  EXPECT_THAT(link.PollStatuses(), ElementsAre(wc_status::kSuccess));
  EXPECT_EQ(link.memory->Text(FakeLink::kMtu - 1, 2), "ab");
}

TEST_F(FetchRequesterTest, GivesUpWhenNoResponseComes) {
  ASSERT_TRUE(Read(0, 8).ok());

  link.timers.RunFor(12 * kTimeout);

  EXPECT_THAT(link.TakeSent(), SizeIs(12));
  EXPECT_THAT(link.PollStatuses(), ElementsAre(wc_status::kRetriesExceeded));
}

TEST_F(FetchRequesterTest, HasAllRetriesAgainAfterAPartOfAResponse) {
  ASSERT_TRUE(Read(0, 2 * FakeLink::kMtu).ok());
  link.timers.RunFor(11 * kTimeout);

  Respond(Psn(0), Text(FakeLink::kMtu, 'a'));
  link.timers.RunFor(11 * kTimeout);

  EXPECT_THAT(link.Poll(), IsEmpty());
  Respond(Psn(1), Text(FakeLink::kMtu, 'b'));
  EXPECT_THAT(link.PollStatuses(), ElementsAre(wc_status::kSuccess));
}

TEST_F(FetchRequesterTest, IgnoresAResponseOfTheWrongLengthOrKind) {
  ASSERT_TRUE(Read(0, 8).ok());

  Respond(Psn(0), "short");
  Respond(Psn(0), "much too long");
  RespondAtomic(Psn(0), 1);
  EXPECT_THAT(link.Poll(), IsEmpty());
  Respond(Psn(0), "8 bytes.");

  EXPECT_THAT(link.PollStatuses(), ElementsAre(wc_status::kSuccess));
  EXPECT_EQ(link.memory->Text(0, 8), "8 bytes.");
}

TEST_F(FetchRequesterTest, TakesAResponseAsAcknowledgementOfWhatCameBefore) {
  ASSERT_TRUE(Send(1).ok());
  ASSERT_TRUE(Read(0, 5).ok());

  Respond(Psn(1), "hello");

  EXPECT_THAT(link.PollStatuses(),
              ElementsAre(wc_status::kSuccess, wc_status::kSuccess));
}

TEST_F(FetchRequesterTest, WaitsForDataThatAnAcknowledgementDoesNotCarry) {
  ASSERT_TRUE(Read(0, 5).ok());
  ASSERT_TRUE(Send(1).ok());

  Acknowledge(Psn(1));
  EXPECT_THAT(link.Poll(), IsEmpty());
  Respond(Psn(0), "hello");

  EXPECT_THAT(link.PollStatuses(),
              ElementsAre(wc_status::kSuccess, wc_status::kSuccess));
}

TEST_F(FetchRequesterTest, RepeatsAnAtomicRequestUnchanged) {
  ASSERT_TRUE(Add(64, 3).ok());
  const std::vector<Transport> first = link.TakeSent();

  link.timers.RunFor(kTimeout);

  const std::vector<Transport> again = link.TakeSent();
  ASSERT_THAT(first, SizeIs(1));
  ASSERT_THAT(again, SizeIs(1));
  EXPECT_EQ(again[0].operation, Operation::kFetchAdd);
  EXPECT_EQ(again[0].psn, first[0].psn);
  EXPECT_EQ(again[0].address, first[0].address);
  EXPECT_EQ(again[0].swap_or_add, 3u);
  RespondAtomic(Psn(0), 41);
  EXPECT_EQ(link.memory->Value(64), 41u);
  EXPECT_THAT(link.PollStatuses(), ElementsAre(wc_status::kSuccess));
}

TEST_F(FetchRequesterTest, HasNoMoreRequestsOutstandingThanThePeerTakes) {
  for (size_t i = 0; i < 6; ++i) ASSERT_TRUE(Add(8 * i, 1).ok());
  EXPECT_THAT(link.TakeSent(), SizeIs(4));

  RespondAtomic(Psn(0), 0);

  EXPECT_THAT(link.TakeSent(), SizeIs(1));
}

TEST_F(FetchRequesterTest, RequestsALongReadInChunks) {
  constexpr uint32_t kPackets = verbs::kChunk / FakeLink::kMtu;
  ASSERT_TRUE(Read(0, 3 * verbs::kChunk).ok());

  const std::vector<Transport> sent = link.TakeSent();
  ASSERT_THAT(sent, SizeIs(2)) << "their data is as much as may be in flight";
  EXPECT_EQ(sent[1].psn, Psn(kPackets));
  EXPECT_EQ(sent[1].address, kRemote + verbs::kChunk);
  Respond(Psn(0), Text(verbs::kChunk, 'a'));
  EXPECT_THAT(link.TakeSent(), SizeIs(1));
  Respond(Psn(kPackets), Text(verbs::kChunk, 'b'));
  EXPECT_THAT(link.Poll(), IsEmpty());
  Respond(Psn(2 * kPackets), Text(verbs::kChunk, 'c'));
  EXPECT_THAT(link.PollStatuses(), ElementsAre(wc_status::kSuccess));
}

TEST_F(FetchRequesterTest, FailsAReadWhenItMayHaveNoneOutstanding) {
  link.context.attributes.max_rd_atomic = 0;

  ASSERT_TRUE(Read(0, 8).ok());

  EXPECT_THAT(link.TakeSent(), IsEmpty());
  EXPECT_THAT(link.PollStatuses(),
              ElementsAre(wc_status::kRemoteInvalidRequest));
}

TEST_F(FetchRequesterTest, FailsAReadWhoseKeyGoesBeforeTheResponse) {
  ASSERT_TRUE(Read(0, 5).ok());
  link.mr = nullptr;

  Respond(Psn(0), "hello");

  EXPECT_THAT(link.PollStatuses(), ElementsAre(wc_status::kLocalProtection));
  EXPECT_EQ(link.memory->Text(0, 1), std::string(1, '\0'));
}

TEST_F(FetchRequesterTest, CompletesAReadBeforeTheRequestThatWasRefused) {
  link.memory->SetDelay(absl::Microseconds(5));
  ASSERT_TRUE(Read(0, 5).ok());
  ASSERT_TRUE(Read(8, 5).ok());
  Respond(Psn(0), "hello");

  Acknowledge(Psn(1), Syndrome::kAccessError);
  EXPECT_THAT(link.Poll(), IsEmpty()) << "the first is on its way to memory";
  link.timers.RunFor(absl::Microseconds(5));

  EXPECT_THAT(link.PollStatuses(),
              ElementsAre(wc_status::kSuccess, wc_status::kRemoteAccess));
}

TEST_F(FetchRequesterTest, HoldsAFencedSendBackUntilReadsAreComplete) {
  ASSERT_TRUE(Read(0, 5).ok());
  verbs::SendRequest fenced = Request(IB_UVERBS_WR_SEND, 0, 1);
  fenced.work.send_flags = verbs::send_flag::kFence;
  ASSERT_TRUE(Post(std::move(fenced)).ok());
  EXPECT_THAT(link.TakeSent(), SizeIs(1));

  Respond(Psn(0), "hello");

  EXPECT_THAT(link.TakeSent(), SizeIs(1));
}

TEST_F(FetchRequesterTest, DropsDataThatIsOnItsWayToMemoryAtAReset) {
  link.memory->SetDelay(absl::Microseconds(5));
  ASSERT_TRUE(Read(0, 5).ok());
  Respond(Psn(0), "hello");

  Reset();
  link.timers.RunFor(absl::Seconds(1));

  EXPECT_THAT(link.Poll(), IsEmpty());
  EXPECT_TRUE(requester.IsDrained());
}

}  // namespace
}  // namespace ibemu::fabric

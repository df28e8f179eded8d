#include "fabric/soft_hca/transport/fetch_responder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "fabric/soft_hca/transport/reliable_responder.h"
#include "tests/fabric/soft_hca/transport/responder_lab.h"

namespace ibemu::fabric {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using Operation = Transport::Operation;
using Syndrome = Transport::Syndrome;

// RDMA READs and atomic operations at a reliable connection's responder.
class FetchResponderTest : public ::testing::Test,
                           protected ResponderLab<ReliableResponder> {
 protected:
  FetchResponderTest() : ResponderLab(verbs::QpType::kRc) {}

  Transport Read(uint32_t psn, size_t offset, uint32_t length) const {
    Transport request;
    request.operation = Operation::kReadRequest;
    request.psn = psn;
    request.first = request.last = request.ack_request = true;
    request.address = FakeLink::kStart + offset;
    request.key = link.mr->rkey();
    request.length = length;
    return request;
  }
  Transport Add(uint32_t psn, size_t offset, uint64_t value) const {
    Transport request = Read(psn, offset, 8);
    request.operation = Operation::kFetchAdd;
    request.swap_or_add = value;
    return request;
  }
  static std::string TextOf(const Transport& response) {
    std::string text;
    for (const std::byte byte : *response.message) text += char(byte);
    return text;
  }
  // Returns the syndrome of the only packet that was sent.
  Syndrome TakeSyndrome() {
    const std::vector<Transport> sent = link.TakeSent();
    EXPECT_THAT(sent, SizeIs(1));
    return sent.empty() ? Syndrome::kAck : sent[0].syndrome;
  }
};

TEST_F(FetchResponderTest, AnswersAReadWithWhatIsInMemory) {
  link.memory->Put(100, std::string(2 * FakeLink::kMtu, 'x'));

  Take(Read(Psn(0), 100, 2 * FakeLink::kMtu));

  const std::vector<Transport> sent = link.TakeSent();
  ASSERT_THAT(sent, SizeIs(1));
  EXPECT_EQ(sent[0].operation, Operation::kReadResponse);
  EXPECT_EQ(sent[0].psn, Psn(0));
  EXPECT_EQ(sent[0].packets, 2u);
  EXPECT_EQ(TextOf(sent[0]), std::string(2 * FakeLink::kMtu, 'x'));
  EXPECT_EQ(responder.expected_psn(), Psn(2));
}

TEST_F(FetchResponderTest, AnswersAReadOfNothing) {
  Take(Read(Psn(0), 0, 0));

  const std::vector<Transport> sent = link.TakeSent();
  ASSERT_THAT(sent, SizeIs(1));
  EXPECT_EQ(sent[0].size, 0u);
  EXPECT_TRUE(sent[0].last);
  EXPECT_EQ(responder.expected_psn(), Psn(1));
}

TEST_F(FetchResponderTest, AnswersAReadAfterTheWriteBeforeIt) {
  link.memory->SetDelay(absl::Microseconds(5));
  Take(Write(Psn(0), "hello", 100));
  Take(Read(Psn(1), 100, 5));

  link.timers.RunFor(absl::Microseconds(10));

  const std::vector<Transport> sent = link.TakeSent();
  ASSERT_THAT(sent, SizeIs(2));
  EXPECT_EQ(sent[0].operation, Operation::kAcknowledge);
  EXPECT_EQ(TextOf(sent[1]), "hello");
}

TEST_F(FetchResponderTest, ExecutesARepeatedReadAgain) {
  link.memory->Put(0, "old");
  Take(Read(Psn(0), 0, 3));
  link.TakeSent();
  link.memory->Put(0, "new");

  Take(Read(Psn(0), 0, 3));

  const std::vector<Transport> sent = link.TakeSent();
  ASSERT_THAT(sent, SizeIs(1));
  EXPECT_EQ(sent[0].psn, Psn(0));
  EXPECT_EQ(TextOf(sent[0]), "new");
}

TEST_F(FetchResponderTest, AnswersALongReadChunkByChunk) {
  constexpr uint32_t kPackets = verbs::kChunk / FakeLink::kMtu;

  Take(Read(Psn(0), 0, 2 * verbs::kChunk));

  const std::vector<Transport> sent = link.TakeSent();
  ASSERT_THAT(sent, SizeIs(2));
  EXPECT_FALSE(sent[0].last);
  EXPECT_EQ(sent[1].psn, Psn(kPackets));
  EXPECT_TRUE(sent[1].last);
}

TEST_F(FetchResponderTest, RefusesTheRestOfAReadWhoseKeyHasGone) {
  link.memory->SetDelay(absl::Microseconds(5));
  Take(Read(Psn(0), 0, 2 * verbs::kChunk));
  link.mr = nullptr;

  link.timers.RunFor(absl::Seconds(1));

  const std::vector<Transport> sent = link.TakeSent();
  ASSERT_THAT(sent, SizeIs(2));
  EXPECT_EQ(sent[0].operation, Operation::kReadResponse);
  EXPECT_EQ(sent[1].syndrome, Syndrome::kAccessError);
  EXPECT_EQ(link.context.state, verbs::QpState::kError);
}

TEST_F(FetchResponderTest, RefusesAReadWithoutTheRight) {
  link.mr =
      link.Register(verbs::access::kRemoteWrite | verbs::access::kLocalWrite);

  Take(Read(Psn(0), 0, 8));

  EXPECT_EQ(TakeSyndrome(), Syndrome::kAccessError);
  EXPECT_THAT(link.events, ElementsAre(verbs::AsyncEventType::kQpAccessError));
}

TEST_F(FetchResponderTest, RefusesAReadWhenItTakesNone) {
  link.context.attributes.max_dest_rd_atomic = 0;

  Take(Read(Psn(0), 0, 8));

  EXPECT_EQ(TakeSyndrome(), Syndrome::kInvalidRequest);
  EXPECT_THAT(link.events, ElementsAre(verbs::AsyncEventType::kQpAccessError));
}

TEST_F(FetchResponderTest, RefusesAReadWithinAMessage) {
  Take(Write(Psn(0), std::string(2 * FakeLink::kMtu, 'x'), 0).Single(0));

  Take(Read(Psn(1), 0, 8));

  EXPECT_EQ(TakeSyndrome(), Syndrome::kInvalidRequest);
  EXPECT_THAT(link.events, ElementsAre(verbs::AsyncEventType::kQpRequestError));
}

TEST_F(FetchResponderTest, ExecutesAnAtomicOperationOnceHoweverOftenItComes) {
  link.memory->PutValue(64, 40);

  for (int i = 0; i < 3; ++i) Take(Add(Psn(0), 64, 2));

  const std::vector<Transport> sent = link.TakeSent();
  ASSERT_THAT(sent, SizeIs(3));
  for (const Transport& response : sent) {
    EXPECT_EQ(response.operation, Operation::kAtomicResponse);
    EXPECT_EQ(response.psn, Psn(0));
    EXPECT_EQ(response.original, 40u);
  }
  EXPECT_EQ(link.memory->Value(64), 42u);
}

TEST_F(FetchResponderTest, ComparesAndSwaps) {
  link.memory->PutValue(64, 40);
  Transport request = Add(Psn(0), 64, 50);
  request.operation = Operation::kCompareSwap;
  request.compare = 41;
  Take(request);
  EXPECT_EQ(link.memory->Value(64), 40u);

  request.psn = Psn(1);
  request.compare = 40;
  Take(request);

  EXPECT_EQ(link.memory->Value(64), 50u);
}

TEST_F(FetchResponderTest, ForgetsResultsThatThePeerCanNoLongerAskFor) {
  for (uint32_t i = 0; i < 5; ++i) Take(Add(Psn(i), 64, 1));
  link.TakeSent();

  Take(Add(Psn(0), 64, 1));  // four are kept
  EXPECT_THAT(link.TakeSent(), IsEmpty());
  Take(Add(Psn(1), 64, 1));

  const std::vector<Transport> sent = link.TakeSent();
  ASSERT_THAT(sent, SizeIs(1));
  EXPECT_EQ(sent[0].original, 1u);
}

TEST_F(FetchResponderTest, RefusesAnAtomicOperationAcrossItsBoundary) {
  Take(Add(Psn(0), 60, 1));

  EXPECT_EQ(TakeSyndrome(), Syndrome::kInvalidRequest);
  EXPECT_THAT(link.events, ElementsAre(verbs::AsyncEventType::kQpAccessError));
}

TEST_F(FetchResponderTest, RefusesAnAtomicOperationWithoutTheRight) {
  link.context.attributes.qp_access_flags = verbs::access::kRemoteRead;

  Take(Add(Psn(0), 64, 1));

  EXPECT_EQ(TakeSyndrome(), Syndrome::kAccessError);
}

TEST_F(FetchResponderTest,
       ChangesNothingWhenTheKeyGoesWithinAnAtomicOperation) {
  link.memory->PutValue(64, 40);
  link.memory->SetDelay(absl::Microseconds(5));
  Take(Add(Psn(0), 64, 1));
  link.mr = nullptr;

  link.timers.RunFor(absl::Seconds(1));

  EXPECT_EQ(link.memory->Value(64), 40u);
  EXPECT_EQ(TakeSyndrome(), Syndrome::kAccessError);
}

TEST_F(FetchResponderTest, ChangesNothingAfterAReset) {
  link.memory->PutValue(64, 40);
  link.memory->SetDelay(absl::Microseconds(5));
  Take(Add(Psn(0), 64, 1));

  Reset();
  link.timers.RunFor(absl::Seconds(1));

  EXPECT_EQ(link.memory->Value(64), 40u);
  EXPECT_THAT(link.TakeSent(), IsEmpty());
}

TEST_F(FetchResponderTest, ForgetsTheResultsAtAReset) {
  Take(Add(Psn(0), 64, 1));
  link.TakeSent();
  Reset();
  link.context.state = verbs::QpState::kReadyToSend;
  responder.Start(Psn(1));

  Take(Add(Psn(0), 64, 1));

  EXPECT_THAT(link.TakeSent(), IsEmpty());
}

}  // namespace
}  // namespace ibemu::fabric

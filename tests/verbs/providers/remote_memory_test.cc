#include <endian.h>
#include <gmock/gmock.h>

#include <set>

#include "tests/verbs/providers/provider_suites.h"

namespace ibemu::verbs {
namespace {

namespace status = wc_status;
using ::testing::AllOf, ::testing::Contains, ::testing::Each,
    ::testing::ElementsAre, ::testing::IsEmpty, ::testing::Pair,
    ::testing::SizeIs;
using testing::Pattern;

constexpr uint32_t kWrite = IB_UVERBS_WR_RDMA_WRITE;
constexpr uint32_t kRead = IB_UVERBS_WR_RDMA_READ;
constexpr uint32_t kAdd = IB_UVERBS_WR_ATOMIC_FETCH_AND_ADD;
constexpr uint32_t kSwap = IB_UVERBS_WR_ATOMIC_CMP_AND_SWP;

}  // namespace

TEST_P(RemoteMemoryTest, WritesWithoutThePeersHelp) {
  Connect();
  const std::string text = Pattern(600000);
  a_->memory->Put(0, text);
  ASSERT_TRUE(a_->Rdma(kWrite, 0, text.size(), *b_, 1000).ok());
  Run();
  const auto sent = a_->Poll();
  ASSERT_THAT(sent, SizeIs(1));
  EXPECT_EQ(sent[0].status, status::kSuccess);
  EXPECT_EQ(sent[0].opcode, uint32_t{IB_UVERBS_WC_RDMA_WRITE});
  EXPECT_TRUE(b_->memory->Text(1000, text.size()) == text);
  EXPECT_THAT(b_->Poll(), IsEmpty());
}

TEST_P(RemoteMemoryTest, FailsAReadWhoseResponsesHaveAnotherPathMtu) {
  for (const uint32_t of_b : {2u, 4u}) {  // 512 and 2048 bytes; a_ has 1024
    Connect();
    QpAttributes reset{}, to_a = TowardsA();
    to_a.path_mtu = of_b;
    b_->Modify(reset, QpState::kReset);
    b_->Connect(to_a);
    ASSERT_TRUE(a_->Rdma(kRead, 0, 400, *b_, 0).ok());
    Run();
    EXPECT_THAT(a_->PollStatuses(), ElementsAre(status::kSuccess))
        << "it is one packet for both";
    ASSERT_TRUE(a_->Rdma(kRead, 0, 4000, *b_, 0).ok());
    Run();
    EXPECT_THAT(a_->PollStatuses(), ElementsAre(status::kBadResponse));
  }
}

TEST_P(RemoteMemoryTest, ReadsWithoutThePeersHelp) {
  Connect();
  const std::string text = Pattern(600000);
  b_->memory->Put(300, text);
  ASSERT_TRUE(a_->Rdma(kRead, 2000, text.size(), *b_, 300).ok());
  Run();
  const auto ends = a_->Poll();
  ASSERT_THAT(ends, SizeIs(1));
  EXPECT_EQ(ends[0].status, status::kSuccess);
  EXPECT_EQ(ends[0].opcode, uint32_t{IB_UVERBS_WC_RDMA_READ});
  EXPECT_EQ(ends[0].byte_len, text.size());
  EXPECT_TRUE(a_->memory->Text(2000, text.size()) == text);
  EXPECT_THAT(b_->Poll(), IsEmpty());
}

TEST_P(RemoteMemoryTest, DeliversImmediateDataWithAWrite) {
  for (const QpType type : {QpType::kRc, QpType::kUc}) {
    Connect(type);
    ASSERT_TRUE(b_->Receive(0, 0, 3).ok());
    SendRequest request =
        a_->RdmaRequest(IB_UVERBS_WR_RDMA_WRITE_WITH_IMM, 0, 3000, *b_, 0);
    request.work.ex.imm_data = htobe32(0xdeadbeef);
    ASSERT_TRUE(a_->Post(std::move(request)).ok());
    Run();
    const auto received = b_->Poll();
    ASSERT_THAT(received, SizeIs(1));
    EXPECT_EQ(received[0].wr_id, 3u);
    EXPECT_EQ(received[0].opcode, wc_opcode::kReceiveWriteWithImmediate);
    EXPECT_EQ(be32toh(received[0].ex.imm_data), 0xdeadbeef);
    EXPECT_EQ(received[0].wc_flags, wc_flag::kWithImmediate);
    EXPECT_EQ(received[0].byte_len, 3000u);
  }
}

TEST_P(RemoteMemoryTest, KeepsTheOrderOfMixedOperationsUnderLoss) {
  ConnectPatiently();
  Lose(0.2);
  const std::string text = Pattern(5000);
  a_->memory->Put(0, text);
  for (int i = 0; i < 20; ++i) ASSERT_TRUE(b_->Receive(100000, 6000).ok());
  for (int i = 0; i < 20; ++i) {
    ASSERT_TRUE(a_->Send(0, 5000).ok());
    ASSERT_TRUE(a_->Rdma(kRead, 200000, 3000, *b_, 100000).ok());
  }
  Run(absl::Seconds(5));
  EXPECT_THAT(a_->PollStatuses(), AllOf(SizeIs(40), Each(0u)));
  EXPECT_THAT(b_->PollStatuses(), AllOf(SizeIs(20), Each(0u)));
  EXPECT_EQ(b_->memory->Text(100000, 5000), text);
  EXPECT_EQ(a_->memory->Text(200000, 3000), text.substr(0, 3000));
}

TEST_P(RemoteMemoryTest, RefusesWhatRightsDoNotAllow) {
  Connect(QpType::kRc, access::kLocalWrite);
  ASSERT_TRUE(a_->Rdma(kWrite, 0, 10, *b_, 0).ok());
  Run();
  EXPECT_THAT(a_->PollEnds(), ElementsAre(Pair(7u, status::kRemoteAccess)));
  EXPECT_EQ(a_->State(), QpState::kError);
  EXPECT_EQ(b_->State(), QpState::kError);
  EXPECT_THAT(b_->events, Contains(AsyncEventType::kQpAccessError));
}

TEST_P(RemoteMemoryTest, RefusesAKeyThatNobodyGaveOut) {
  Connect();
  auto request = a_->RdmaRequest(kWrite, 0, 10, *b_, 0);
  request.work.wr.rdma.rkey ^= 0x100;
  ASSERT_TRUE(a_->Post(request).ok());
  Run();
  EXPECT_THAT(a_->PollEnds(), ElementsAre(Pair(7u, status::kRemoteAccess)));
  EXPECT_EQ(a_->State(), QpState::kError);
}

TEST_P(RemoteMemoryTest, RefusesToReachBeyondARegion) {
  Connect();
  ASSERT_TRUE(a_->Rdma(kRead, 0, 10, *b_, VerbsEnd::kSize - 9).ok());
  Run();
  EXPECT_THAT(a_->PollStatuses(), ElementsAre(status::kRemoteAccess));
}

TEST_P(RemoteMemoryTest, ARefusalWaitsForTheReadsBeforeIt) {
  Connect();
  b_->memory->Put(0, "text");
  ASSERT_TRUE(a_->Rdma(kRead, 0, 4, *b_, 0).ok());
  ASSERT_TRUE(a_->Rdma(kWrite, 0, 10, *b_, VerbsEnd::kSize).ok());
  Run();
  EXPECT_THAT(a_->PollStatuses(), ElementsAre(0, status::kRemoteAccess));
  EXPECT_EQ(a_->memory->Text(0, 4), "text");
}

TEST_P(RemoteMemoryTest, StopsAtMemoryThatWentAwayBeneathAKey) {
  Connect();
  const auto hole =
      *b_->provider.CreateMr({.pd = b_->pd.get(),
                              .memory = b_->memory,
                              .start = FakeMemory::kStart + VerbsEnd::kSize,
                              .length = 4096,
                              .address = 0,
                              .access = VerbsEnd::kAllRights});
  SendRequest request = a_->Request(kWrite, 0, 100);
  request.work.wr.rdma.rkey = hole->rkey();
  ASSERT_TRUE(a_->Post(std::move(request)).ok());
  Run();
  EXPECT_THAT(a_->PollStatuses(), ElementsAre(status::kRemoteOperation));
}

TEST_P(RemoteMemoryTest, AnUnreliableConnectionLosesWritesThatAreNotAllowed) {
  Connect(QpType::kUc);
  const std::string text = Pattern(9000);
  a_->memory->Put(0, text);
  auto wrong = a_->RdmaRequest(kWrite, 0, 9000, *b_, 20000);
  wrong.work.wr.rdma.rkey ^= 0x100;
  ASSERT_TRUE(a_->Rdma(kWrite, 0, 9000, *b_, 500).ok());
  ASSERT_TRUE(a_->Post(std::move(wrong)).ok());
  ASSERT_TRUE(a_->Rdma(kWrite, 0, 9000, *b_, 40000).ok());
  Run();
  const auto sent = a_->Poll();
  ASSERT_THAT(sent, SizeIs(3));
  for (const auto& completion : sent) {
    EXPECT_EQ(completion.status, status::kSuccess);
    EXPECT_EQ(completion.opcode, uint32_t{IB_UVERBS_WC_RDMA_WRITE});
  }
  EXPECT_EQ(b_->memory->Text(500, 9000), text);
  EXPECT_EQ(b_->memory->Text(20000, 9000), std::string(9000, '\0'));
  EXPECT_EQ(b_->memory->Text(40000, 9000), text);
}

TEST_P(RemoteMemoryTest, ReadsAreCompleteInTheirOrderWhenTheyAreInPlace) {
  Connect();
  a_->memory->SetDelay(absl::Milliseconds(4));
  ASSERT_TRUE(a_->Rdma(kRead, 100, 10, *b_, 300, 1).ok());
  ASSERT_TRUE(a_->Rdma(kWrite, 0, 0, *b_, 300, 2).ok());
  Run(absl::Milliseconds(2));
  EXPECT_THAT(a_->Poll(), IsEmpty());
  Run();
  EXPECT_THAT(a_->PollEnds(), ElementsAre(Pair(1u, status::kSuccess),
                                          Pair(2u, status::kSuccess)));
}

TEST_P(RemoteMemoryTest, AReadWhoseMemoryGoesMeanwhileEndsTheConnection) {
  Connect();
  ASSERT_TRUE(a_->Rdma(kRead, 100, 10, *b_, 300, 1).ok());
  ASSERT_TRUE(a_->Receive(0, 10, 2).ok());
  a_->mr.reset();
  Run();
  EXPECT_THAT(a_->PollEnds(), ElementsAre(Pair(1u, status::kLocalProtection),
                                          Pair(2u, status::kFlushed)));
}

TEST_P(RemoteMemoryTest, AnAtomicBringsWhatWasThere) {
  Connect();
  b_->memory->PutValue(800, 40);
  ASSERT_TRUE(a_->Add(0, *b_, 800, 2).ok());
  ASSERT_TRUE(a_->Post(a_->Atomic(kSwap, 8, *b_, 800, 42, 7)).ok());
  ASSERT_TRUE(a_->Post(a_->Atomic(kSwap, 16, *b_, 800, 42, 9)).ok());
  Run();
  const auto done = a_->Poll();
  ASSERT_THAT(done, SizeIs(3));
  EXPECT_EQ(done[0].status, status::kSuccess);
  EXPECT_EQ(done[0].opcode, uint32_t{IB_UVERBS_WC_FETCH_ADD});
  EXPECT_EQ(done[0].byte_len, 8u);
  EXPECT_EQ(done[1].opcode, uint32_t{IB_UVERBS_WC_COMP_SWAP});
  EXPECT_EQ(a_->memory->Value(0), 40u);
  EXPECT_EQ(a_->memory->Value(8), 42u);
  EXPECT_EQ(a_->memory->Value(16), 7u);
  EXPECT_EQ(b_->memory->Value(800), 7u) << "the last did not compare";
  EXPECT_THAT(b_->Poll(), IsEmpty());
}

TEST_P(RemoteMemoryTest, ARepeatedAtomicIsDoneOnce) {
  ConnectPatiently();
  Lose(0.15);
  hosts_->LoseFrom(HostNumber::kTwo, 0.15);
  for (size_t i = 0; i < 50; ++i) ASSERT_TRUE(a_->Add(8 * i, *b_, 0, 1).ok());
  Run(absl::Seconds(5));
  EXPECT_THAT(a_->PollStatuses(), AllOf(SizeIs(50), Each(0u)));
  EXPECT_EQ(b_->memory->Value(0), 50u);
  for (size_t i = 0; i < 50; ++i) EXPECT_EQ(a_->memory->Value(8 * i), i);
}

TEST_P(RemoteMemoryTest, AtomicsOfSeveralQueuePairsDoNotRace) {
  Connect();
  Options of_b;
  of_b.rights = VerbsEnd::kAllRights;
  of_b.memory = b_->memory;
  const auto c = End(HostNumber::kOne, {}), d = End(HostNumber::kTwo, of_b);
  VerbsEnd::Join(*c, *d);
  for (size_t i = 0; i < 20; ++i) {
    ASSERT_TRUE(a_->Add(8 * i, *b_, 64, 1).ok());
    ASSERT_TRUE(c->Add(8 * i, *d, 64, 1).ok());
  }
  Run();
  EXPECT_EQ(b_->memory->Value(64), 40u);
  std::set<uint64_t> found;
  for (size_t i = 0; i < 20; ++i) {
    found.insert(a_->memory->Value(8 * i));
    found.insert(c->memory->Value(8 * i));
  }
  EXPECT_THAT(found, SizeIs(40));
}

TEST_P(RemoteMemoryTest, AnAtomicNeedsAnAlignedAddress) {
  Connect();
  ASSERT_TRUE(a_->Add(0, *b_, 4, 1).ok());
  Run();
  EXPECT_THAT(a_->PollStatuses(), ElementsAre(status::kRemoteInvalidRequest));
  EXPECT_EQ(b_->memory->Value(0), 0u);
  EXPECT_EQ(b_->State(), QpState::kError);
}

TEST_P(RemoteMemoryTest, AnAtomicNeedsItsOwnRight) {
  Connect(QpType::kRc, VerbsEnd::kAllRights & ~uint32_t{access::kRemoteAtomic});
  ASSERT_TRUE(a_->Add(0, *b_, 0, 1).ok());
  Run();
  EXPECT_THAT(a_->PollStatuses(), ElementsAre(status::kRemoteAccess));
  EXPECT_EQ(b_->memory->Value(0), 0u);
}

TEST_P(RemoteMemoryTest, AnAtomicDoesNotWriteToARegionThatWentSinceItRead) {
  Connect();
  b_->memory->SetDelay(absl::Milliseconds(1));
  ASSERT_TRUE(a_->Add(0, *b_, 0, 1).ok());
  Run(absl::Microseconds(500));
  ASSERT_EQ(b_->memory->calls, 1) << "it reads";
  b_->mr.reset();
  Run();
  EXPECT_THAT(a_->PollStatuses(), ElementsAre(status::kRemoteAccess));
  EXPECT_EQ(b_->memory->calls, 1);
  EXPECT_EQ(b_->memory->Value(0), 0u);
  EXPECT_EQ(b_->State(), QpState::kError);
}

TEST_P(RemoteMemoryTest, AnAtomicHasEightBytesAndChangesNothingOtherwise) {
  for (const uint32_t size : {4u, 16u}) {
    Connect();
    b_->memory->PutValue(800, 41);
    auto request = a_->Atomic(kAdd, 0, *b_, 800, 1);
    request.sges[0].length = size;
    ASSERT_TRUE(a_->Post(request).ok());
    Run();
    EXPECT_THAT(a_->PollEnds(), ElementsAre(Pair(7u, status::kLocalLength)));
    EXPECT_EQ(b_->memory->Value(800), 41u);
  }
}

TEST_P(RemoteMemoryTest, AnAtomicWhoseKeyIsWrongChangesNothing) {
  Connect();
  b_->memory->PutValue(800, 41);
  auto request = a_->Atomic(kAdd, 0, *b_, 800, 1);
  request.sges[0].lkey ^= 0x100;
  ASSERT_TRUE(a_->Post(request).ok());
  Run();
  EXPECT_THAT(a_->PollEnds(), ElementsAre(Pair(7u, status::kLocalProtection)));
  EXPECT_EQ(b_->memory->Value(800), 41u);
}

TEST_P(RemoteMemoryTest, AResponderOfWhichNoneAreExpectedRefusesThem) {
  Connect();
  b_->Modify({}, QpState::kSendQueueDrain);
  QpAttributes none{};
  none.qp_attr_mask = qp_attribute::kMaxReadsHere;
  ASSERT_TRUE(b_->qp->Modify(none).ok());
  ASSERT_TRUE(a_->Rdma(kRead, 0, 10, *b_, 0).ok());
  Run();
  EXPECT_THAT(a_->PollStatuses(), ElementsAre(status::kRemoteInvalidRequest));
}

TEST_P(RemoteMemoryTest, AFenceWaitsForWhatIsFetched) {
  Connect();
  a_->memory->SetDelay(absl::Microseconds(300));
  b_->memory->PutValue(0, 123);
  ASSERT_TRUE(a_->Add(0, *b_, 0, 1).ok());
  SendRequest fenced = a_->RdmaRequest(kWrite, 0, 8, *b_, 64);
  fenced.work.send_flags = send_flag::kFence;
  ASSERT_TRUE(a_->Post(std::move(fenced)).ok());
  Run();
  EXPECT_THAT(a_->PollStatuses(), ElementsAre(0, 0));
  EXPECT_EQ(b_->memory->Value(64), 123u);
}

TEST_P(RemoteMemoryTest, AFencedSendCarriesWhatAReadBrought) {
  Connect();
  a_->memory->SetDelay(absl::Microseconds(300));
  b_->memory->Put(300, "fresh");
  ASSERT_TRUE(b_->Receive(5000, 10).ok());
  ASSERT_TRUE(a_->Rdma(kRead, 100, 5, *b_, 300).ok());
  auto send = a_->Request(IB_UVERBS_WR_SEND, 100, 5);
  send.work.send_flags = send_flag::kFence;
  ASSERT_TRUE(a_->Post(send).ok());
  Run();
  EXPECT_EQ(b_->memory->Text(5000, 5), "fresh");
}

TEST_P(RemoteMemoryTest, LeavesNothingBehindWhenItEndsInTheMiddle) {
  Connect();
  ASSERT_TRUE(a_->Rdma(kWrite, 0, 500000, *b_, 0).ok());
  ASSERT_TRUE(a_->Rdma(kRead, 0, 500000, *b_, 0).ok());
  Run(absl::ZeroDuration());
  b_->qp.reset();
  ASSERT_TRUE(a_->Send(0, 10).ok());
  Run(absl::ZeroDuration());
  a_->qp.reset();
  Run();
  EXPECT_EQ(a_->memory->waiting, 0u);
  EXPECT_EQ(b_->memory->waiting, 0u);
}

}  // namespace ibemu::verbs

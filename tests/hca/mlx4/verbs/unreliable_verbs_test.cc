// Unreliable connections over two modelled adapters, and to a host of the
// software fabric.
#include <endian.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "hca/mlx4/core/verbs_attributes.h"
#include "tests/hca/mlx4/verbs_bench.h"

namespace ibemu::hca::mlx4 {
namespace {

namespace status = verbs::wc_status;
using ::testing::Each, ::testing::ElementsAre, ::testing::IsEmpty,
    ::testing::Pair, ::testing::SizeIs;
using verbs::EventType, verbs::QpState;

VerbsEnd::Options Unreliable() {
  VerbsEnd::Options options;
  options.type = verbs::QpType::kUc;
  return options;
}

class UnreliableVerbsTest : public VerbsBench {
 protected:
  void Connect() { VerbsBench::Connect(Unreliable(), Unreliable()); }
  // What host-1 sends; `loss` from 0 to 1.
  void Lose(double loss) {
    ASSERT_TRUE(fabric_
                    .AddFault(*fabric_.Find("host-1"), 1,
                              fabric::Fabric::Direction::kTransmit,
                              {.loss = loss})
                    .ok());
  }
  verbs::SendRequest Wrong(uint64_t id) {
    verbs::SendRequest wrong = a_->Request(IB_UVERBS_WR_SEND, 0, 10, id);
    wrong.sges[0].lkey ^= 0x100;
    return wrong;
  }
};

TEST_F(UnreliableVerbsTest, SendsAMessageIntoTheOthersMemory) {
  Connect();
  const std::string text = Pattern(10000);
  a_->memory->Put(100, text);
  ASSERT_TRUE(b_->Receive(5000, 20000).ok());
  auto request = a_->Request(IB_UVERBS_WR_SEND_WITH_IMM, 100, text.size());
  request.work.ex.imm_data = htobe32(0xcafe);
  ASSERT_TRUE(a_->Post(std::move(request)).ok());
  Run();
  const auto received = b_->Poll();
  ASSERT_THAT(received, SizeIs(1));
  EXPECT_EQ(received[0].wr_id, 100u);
  EXPECT_EQ(received[0].status, status::kSuccess);
  EXPECT_EQ(received[0].opcode, verbs::wc_opcode::kReceive);
  EXPECT_EQ(received[0].byte_len, text.size());
  EXPECT_EQ(received[0].qp_num, b_->qp->number());
  EXPECT_EQ(received[0].src_qp, a_->qp->number());
  EXPECT_EQ(be32toh(received[0].ex.imm_data), 0xcafeu);
  EXPECT_EQ(b_->memory->Text(5000, text.size()), text);
  EXPECT_THAT(a_->PollEnds(), ElementsAre(Pair(7u, status::kSuccess)));
}

TEST_F(UnreliableVerbsTest, CarriesTheLongestMessageAndRefusesALongerOne) {
  Connect();
  a_->memory->Put(0, Pattern(kMaxMessage));
  ASSERT_TRUE(b_->Receive(0, kMaxMessage).ok());
  ASSERT_TRUE(a_->Send(0, kMaxMessage, 1).ok());
  ASSERT_TRUE(a_->Send(0, kMaxMessage + 1, 2).ok());
  Run(absl::Milliseconds(20));
  EXPECT_EQ(b_->memory->Text(0, kMaxMessage), Pattern(kMaxMessage));
  EXPECT_THAT(a_->PollEnds(), ElementsAre(Pair(1u, status::kSuccess),
                                          Pair(2u, status::kLocalLength)));
  EXPECT_EQ(a_->State(), QpState::kSendQueueError);
}

TEST_F(UnreliableVerbsTest, LosesWholeMessagesAndNothingElse) {
  Connect();
  Lose(0.3);
  a_->memory->Put(0, Pattern(6000));
  for (uint64_t i = 0; i < 50; ++i) {
    ASSERT_TRUE(b_->Receive(i * 6000, 6000, i).ok());
  }
  for (uint64_t i = 0; i < 50; ++i) ASSERT_TRUE(a_->Send(i, 3000).ok());
  Run(absl::Milliseconds(20));
  EXPECT_THAT(a_->PollEnds(),
              ::testing::AllOf(SizeIs(50), Each(Pair(7u, status::kSuccess))));
  const auto received = b_->Poll();
  EXPECT_GT(received.size(), 0u);
  EXPECT_LT(received.size(), 50u);
  std::vector<std::string> sent;
  for (size_t i = 0; i < 50; ++i) sent.push_back(Pattern(6000).substr(i, 3000));
  for (size_t i = 0; i < received.size(); ++i) {
    EXPECT_EQ(received[i].wr_id, i) << "what was lost uses no request";
    EXPECT_EQ(received[i].byte_len, 3000u);
    EXPECT_THAT(sent, ::testing::Contains(b_->memory->Text(i * 6000, 3000)));
  }
  EXPECT_EQ(b_->State(), QpState::kReadyToSend);
}

TEST_F(UnreliableVerbsTest, LosesAMessageThatNobodyCanTake) {
  Connect();
  ASSERT_TRUE(a_->Send(0, 10, 1).ok());
  Run();
  ASSERT_TRUE(b_->Receive(0, 10, 2).ok());
  ASSERT_TRUE(a_->Send(0, 11, 3).ok());
  ASSERT_TRUE(a_->Send(0, 10, 4).ok());
  Run();
  EXPECT_THAT(a_->PollEnds(), ElementsAre(Pair(1u, status::kSuccess),
                                          Pair(3u, status::kSuccess),
                                          Pair(4u, status::kSuccess)));
  EXPECT_THAT(b_->PollEnds(), ElementsAre(Pair(2u, status::kSuccess)));
  EXPECT_THAT(b_->events, IsEmpty());
}

TEST_F(UnreliableVerbsTest, BreaksOverAReceiveRequestWhoseKeyIsWrong) {
  Connect();
  std::vector<verbs::ReceiveRequest> requests = {
      {.id = 4, .sges = {b_->Sge(0, 100)}}};
  requests[0].sges[0].lkey ^= 0x100;
  size_t taken = 0;
  ASSERT_TRUE(b_->qp->PostReceive(requests, taken).ok());
  ASSERT_TRUE(b_->Receive(0, 10, 5).ok());
  ASSERT_TRUE(a_->Send(0, 10).ok());
  Run();
  EXPECT_THAT(b_->PollEnds(), ElementsAre(Pair(4u, status::kLocalProtection),
                                          Pair(5u, status::kFlushed)));
  EXPECT_EQ(b_->State(), QpState::kError);
  EXPECT_EQ(a_->State(), QpState::kReadyToSend) << "nobody tells it";
}

TEST_F(UnreliableVerbsTest, ComesBackFromAnErrorOfItsSendQueue) {
  Connect();
  ASSERT_TRUE(b_->Receive(0, 100).ok());
  ASSERT_TRUE(a_->Send(0, 10, 1).ok());
  ASSERT_TRUE(a_->Post(Wrong(2)).ok());
  ASSERT_TRUE(a_->Send(0, 10, 3).ok());
  Run();
  EXPECT_THAT(a_->PollEnds(), ElementsAre(Pair(1u, status::kSuccess),
                                          Pair(2u, status::kLocalProtection),
                                          Pair(3u, status::kFlushed)));
  EXPECT_THAT(b_->PollEnds(), SizeIs(1));
  EXPECT_EQ(a_->State(), QpState::kSendQueueError);

  ASSERT_TRUE(a_->Receive(100, 10, 4).ok());
  ASSERT_TRUE(b_->Send(0, 10).ok());
  Run();
  EXPECT_THAT(a_->PollEnds(), ElementsAre(Pair(4u, status::kSuccess)))
      << "it still receives";
  ASSERT_TRUE(a_->Send(0, 10, 5).ok());
  EXPECT_THAT(a_->PollEnds(), ElementsAre(Pair(5u, status::kFlushed)));

  a_->Modify({}, QpState::kReadyToSend);
  ASSERT_TRUE(b_->Receive(0, 10, 6).ok());
  ASSERT_TRUE(a_->Send(0, 10).ok());
  Run();
  EXPECT_THAT(a_->PollEnds(), ElementsAre(Pair(7u, status::kSuccess)));
  EXPECT_THAT(b_->PollEnds(),
              ElementsAre(Pair(7u, status::kSuccess), Pair(6u, 0u)));
}

// The adapter may have told a client of the first of several.
TEST_F(UnreliableVerbsTest, LeavesAnErrorBehindThatItHadNotReadYet) {
  Connect();
  ASSERT_TRUE(b_->Receive(0, 100).ok());
  ASSERT_TRUE(a_->Post(Wrong(1)).ok());
  ASSERT_TRUE(a_->Send(0, 10, 2).ok());
  timers_.RunFor(absl::Milliseconds(1));  // without an interrupt
  verbs::QpAttributes broken{};
  broken.cur_qp_state = static_cast<uint32_t>(QpState::kSendQueueError);
  a_->Modify(broken, QpState::kReadyToSend, verbs::qp_attribute::kCurrentState);
  ASSERT_TRUE(a_->Send(0, 10, 3).ok());
  Run();
  EXPECT_THAT(a_->PollEnds(), ElementsAre(Pair(1u, status::kLocalProtection),
                                          Pair(2u, status::kFlushed),
                                          Pair(3u, status::kSuccess)));
  EXPECT_EQ(a_->State(), QpState::kReadyToSend);
}

TEST_F(UnreliableVerbsTest, HoldsSendsBackWhileItIsDrained) {
  Connect();
  verbs::QpAttributes drain{};
  drain.en_sqd_async_notify = 1;
  a_->Modify(drain, QpState::kSendQueueDrain,
             verbs::qp_attribute::kNotifyDrained);
  ASSERT_TRUE(b_->Receive(0, 10).ok());
  ASSERT_TRUE(a_->Send(0, 10).ok());
  Run();
  EXPECT_THAT(a_->events, ElementsAre(EventType::kSendQueueDrained));
  EXPECT_THAT(b_->Poll(), IsEmpty());
  a_->Modify({}, QpState::kReadyToSend);
  Run();
  EXPECT_THAT(b_->Poll(), SizeIs(1));
}

TEST_F(UnreliableVerbsTest, MayBeBrokenResetAndUsedAgain) {
  Connect();
  ASSERT_TRUE(a_->Receive(0, 10, 1).ok());
  a_->Modify({}, QpState::kError);
  ASSERT_TRUE(a_->Send(0, 10, 2).ok());
  Run(absl::Milliseconds(20));
  auto ends = a_->PollEnds();
  std::ranges::sort(ends);
  EXPECT_THAT(ends, ElementsAre(Pair(1u, status::kFlushed),
                                Pair(2u, status::kFlushed)));
  a_->Modify({}, QpState::kReset);
  a_->Connect(VerbsEnd::Towards(b_->qp->number(), LidOf(*device_b_)));
  a_->memory->Put(0, "again");
  ASSERT_TRUE(b_->Receive(100, 10).ok());
  ASSERT_TRUE(a_->Send(0, 5).ok());
  Run();
  EXPECT_EQ(b_->memory->Text(100, 5), "again");
}

TEST_F(UnreliableVerbsTest, ReceivesWithASharedReceiveQueue) {
  Options shared = Unreliable();
  shared.shared = true;
  VerbsBench::Connect(Unreliable(), shared);
  Lose(0.3);
  size_t received = 0;
  for (uint64_t i = 0; i < 20; ++i) ASSERT_TRUE(b_->Receive(0, 3000, i).ok());
  for (int i = 0; i < 40; ++i) {
    ASSERT_TRUE(a_->Send(0, 3000).ok());
    Run(absl::Milliseconds(1));
    for (const auto& [id, ended] : b_->PollEnds()) {
      EXPECT_EQ(id, received++ % 20);
      EXPECT_EQ(ended, status::kSuccess);
      ASSERT_TRUE(b_->Receive(0, 3000, id).ok());
    }
  }
  EXPECT_GT(received, 0u);
  EXPECT_LT(received, 40u);
}

TEST_F(UnreliableVerbsTest, RefusesWhatItDoesNotHave) {
  Connect();
  for (const uint32_t opcode :
       {IB_UVERBS_WR_RDMA_READ, IB_UVERBS_WR_ATOMIC_CMP_AND_SWP,
        IB_UVERBS_WR_ATOMIC_FETCH_AND_ADD, IB_UVERBS_WR_BIND_MW}) {
    EXPECT_TRUE(absl::IsInvalidArgument(a_->Post(a_->Request(opcode, 0, 8))))
        << opcode;
  }
  verbs::QpAttributes to{};
  to.qp_state = static_cast<uint32_t>(QpState::kReadyToSend);
  to.qp_attr_mask = verbs::qp_attribute::kState | verbs::qp_attribute::kTimeout;
  EXPECT_TRUE(absl::IsInvalidArgument(a_->qp->Modify(to)));
}

TEST_F(UnreliableVerbsTest, LeavesNothingBehind) {
  Connect();
  ASSERT_TRUE(b_->Receive(0, 10).ok());
  ASSERT_TRUE(a_->Send(0, 10).ok());
  Run();
  a_.reset();
  b_.reset();
  device_a_.reset();
  device_b_.reset();
  EXPECT_EQ(host_a_.function->mapped(), 0u);
  EXPECT_EQ(host_a_.function->faults(), 0);
  EXPECT_EQ(host_a_.model.violations(), 0);
  EXPECT_EQ(host_b_.function->faults(), 0);
}

class UnreliableToTheFabricTest : public DriverBench {
 protected:
  UnreliableToTheFabricTest() {
    device_ = Start(host_);
    if (!device_) throw std::runtime_error("no driver");
    Run();
    a_ = std::make_unique<VerbsEnd>(timers_, device_->provider(), Unreliable());
    VerbsEnd::Options options = Unreliable();
    options.rights |= verbs::access::kRemoteWrite;
    const topology::NodeId peer = *fabric_.Find("host-2");
    b_ = std::make_unique<VerbsEnd>(timers_, fabric_.provider(peer), options);
    a_->Connect(
        VerbsEnd::Towards(b_->qp->number(), LidOf(fabric_.device(peer))));
    b_->Connect(VerbsEnd::Towards(a_->qp->number(), LidOf(*device_)));
  }
  ~UnreliableToTheFabricTest() override {
    a_.reset();
    b_.reset();
  }

  static uint16_t LidOf(mad::Device& device) {
    return static_cast<uint16_t>(device.port(1).Info().lid);
  }
  void Run() { RunFor(absl::Milliseconds(10), {device_.get()}); }

  ModelledHost& host_ = PlugIn("host-1");
  std::unique_ptr<Mlx4Device> device_;
  std::unique_ptr<VerbsEnd> a_, b_;
};

TEST_F(UnreliableToTheFabricTest, ExchangesMessages) {
  const std::string text(5000, 'x');
  a_->memory->Put(0, text);
  b_->memory->Put(0, "answer");
  ASSERT_TRUE(b_->Receive(10000, 5000).ok());
  ASSERT_TRUE(a_->Receive(10000, 5000).ok());
  ASSERT_TRUE(a_->Send(0, 5000).ok());
  ASSERT_TRUE(b_->Send(0, 6).ok());
  Run();
  EXPECT_EQ(b_->memory->Text(10000, 5000), text);
  EXPECT_EQ(a_->memory->Text(10000, 6), "answer");
  EXPECT_THAT(a_->Poll(), SizeIs(2));
  EXPECT_THAT(b_->Poll(), SizeIs(2));
}

TEST_F(UnreliableToTheFabricTest, WritesIntoThePeersMemory) {
  const std::string text(9000, 'y');
  a_->memory->Put(0, text);
  const auto write = [&](uint32_t opcode, size_t size, size_t there,
                         uint32_t key) {
    verbs::SendRequest request = a_->Request(opcode, 0, size);
    request.work.ex.imm_data = htobe32(5);
    request.work.wr.rdma.remote_addr = FakeMemory::kStart + there;
    request.work.wr.rdma.rkey = key;
    return a_->Post(std::move(request));
  };
  const uint32_t key = b_->mr->rkey();
  ASSERT_TRUE(b_->Receive(0, 0, 3).ok());
  ASSERT_TRUE(write(IB_UVERBS_WR_RDMA_WRITE, 9000, 500, key).ok());
  ASSERT_TRUE(write(IB_UVERBS_WR_RDMA_WRITE, 9000, 20000, key ^ 0x100).ok());
  ASSERT_TRUE(write(IB_UVERBS_WR_RDMA_WRITE_WITH_IMM, 10, 40000, key).ok());
  Run();
  EXPECT_EQ(b_->memory->Text(500, 9000), text);
  EXPECT_EQ(b_->memory->Text(20000, 9000), std::string(9000, '\0'));
  const auto sent = a_->Poll();
  ASSERT_THAT(sent, SizeIs(3));
  for (const auto& completion : sent) {
    EXPECT_EQ(completion.status, status::kSuccess);
    EXPECT_EQ(completion.opcode, uint32_t{IB_UVERBS_WC_RDMA_WRITE});
  }
  const auto received = b_->Poll();
  ASSERT_THAT(received, SizeIs(1));
  EXPECT_EQ(received[0].opcode, verbs::wc_opcode::kReceiveWriteWithImmediate);
  EXPECT_EQ(be32toh(received[0].ex.imm_data), 5u);
}

}  // namespace
}  // namespace ibemu::hca::mlx4

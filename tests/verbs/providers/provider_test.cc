#include "verbs/provider.h"

#include <endian.h>
#include <gmock/gmock.h>

#include "mad/wire/port_info.h"
#include "tests/verbs/providers/provider_suites.h"

namespace ibemu::verbs {
namespace {

namespace status = wc_status;
using ::testing::Contains, ::testing::ElementsAre, ::testing::Pair,
    ::testing::SizeIs, ::testing::UnorderedElementsAre;

}  // namespace

TEST_P(ProviderTest, SaysWhichDeviceItIs) {
  const DeviceAttributes device = provider().QueryDevice();
  EXPECT_EQ(be64toh(device.node_guid), hosts_->node_guid(HostNumber::kOne));
  EXPECT_EQ(device.phys_port_cnt, 1);
  EXPECT_EQ(device.max_pkeys, provider().QueryPort(1)->pkey_tbl_len);
  EXPECT_GE(device.max_qp, 1024u);
}

TEST_P(ProviderTest, SaysHowThePortIsNow) {
  const auto port = provider().QueryPort(1);
  ASSERT_TRUE(port.ok()) << port.status();
  EXPECT_EQ(port->lid, 1) << "the first host's";
  EXPECT_EQ(port->state, static_cast<uint8_t>(mad::PortState::kActive));
  EXPECT_GT(port->gid_tbl_len, 0u);
  EXPECT_GE(port->max_msg_sz, 2u << 20);
  hosts_->SetLink(HostNumber::kOne, false);
  Run();
  EXPECT_EQ(provider().QueryPort(1)->state,
            static_cast<uint8_t>(mad::PortState::kDown));
}

TEST_P(ProviderTest, HasNoOtherPorts) {
  for (const int number : {-1, 0, 2, 255}) {
    EXPECT_TRUE(absl::IsInvalidArgument(provider().QueryPort(number).status()));
  }
}

TEST_P(ProviderTest, TellsOfALinkThatGoesAndComes) {
  Take();
  hosts_->SetLink(HostNumber::kOne, false);
  EXPECT_THAT(Take(), ElementsAre(Pair(AsyncEventType::kPortError, 1)));
  hosts_->SetLink(HostNumber::kOne, true);
  EXPECT_THAT(Take(), Contains(Pair(AsyncEventType::kPortActive, 1)));
}

TEST_P(ProviderTest, ADeviceThatBreaksIsDeadForItsUsers) {
  Connect(QpType::kRc);
  Take();
  ASSERT_TRUE(a_->Receive(0, 10, 1).ok());
  ASSERT_TRUE(a_->Send(0, 10, 2).ok());
  hosts_->Break(HostNumber::kOne);
  EXPECT_THAT(Take(), ElementsAre(Pair(AsyncEventType::kDeviceFatal, 0)));
  EXPECT_THAT(a_->PollEnds(), UnorderedElementsAre(Pair(1u, status::kFlushed),
                                                   Pair(2u, status::kFlushed)));
  EXPECT_EQ(a_->State(), QpState::kError);
  ASSERT_TRUE(a_->Send(0, 10, 3).ok());
  ASSERT_TRUE(a_->Receive(0, 10, 4).ok());
  EXPECT_THAT(a_->PollEnds(), UnorderedElementsAre(Pair(3u, status::kFlushed),
                                                   Pair(4u, status::kFlushed)));
}

TEST_P(ProviderTest, RefusesMoreThanItSaysThatThereIs) {
  Make({}, {});
  const DeviceAttributes device = provider().QueryDevice();
  const auto refuses = [](const auto& made) {
    return absl::IsInvalidArgument(made.status());
  };
  QpInit init;
  init.pd = a_->pd.get();
  init.send_cq = init.receive_cq = a_->cq.get();
  init.capacity.send_requests = device.max_qp_wr + 1;
  EXPECT_TRUE(refuses(provider().CreateQp(init, *a_)));
  EXPECT_TRUE(refuses(provider().CreateSrq(
      *a_->pd, {.max_requests = device.max_srq_wr + 1, .max_sges = 1}, *a_)));
  EXPECT_TRUE(refuses(provider().CreateCq(0, *a_)));
  EXPECT_TRUE(refuses(provider().CreateCq(device.max_cqe + 1, *a_)));
  QpAttributes attributes = VerbsEnd::Towards(1, 1);
  attributes.port_num = 2;
  EXPECT_TRUE(absl::IsInvalidArgument(
      a_->TryModify(attributes, QpState::kInit,
                    testing::StepTo(QpState::kInit, QpType::kRc))));
}

TEST_P(ProviderTest, NotifiesOnceForWhatWasAskedFor) {
  Connect(QpType::kRc);
  const auto send = [&](uint32_t flags) {
    auto request = a_->Request(IB_UVERBS_WR_SEND, 0, 10);
    request.work.send_flags = flags;
    ASSERT_TRUE(a_->Post(std::move(request)).ok());
    Run();
  };
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(b_->Receive(0, 10).ok());
  b_->cq->RequestNotify(/*solicited_only=*/false);
  send(0);
  EXPECT_EQ(b_->notices, 1);
  EXPECT_EQ(b_->arrivals, 1);
  send(0);
  EXPECT_EQ(b_->notices, 1);
  EXPECT_THAT(b_->Poll(), SizeIs(2));

  b_->cq->RequestNotify(/*solicited_only=*/true);
  send(0);
  EXPECT_EQ(b_->notices, 1) << "it was not solicited";
  send(send_flag::kSolicited);
  EXPECT_EQ(b_->notices, 2);
}

TEST_P(ProviderTest, NotifiesAtOnceOfWhatWasNotPolled) {
  Connect(QpType::kRc);
  ASSERT_TRUE(b_->Receive(0, 10).ok());
  auto request = a_->Request(IB_UVERBS_WR_SEND, 0, 10);
  request.work.send_flags = send_flag::kSolicited;
  ASSERT_TRUE(a_->Post(std::move(request)).ok());
  Run();
  ASSERT_EQ(b_->arrivals, 1);
  for (const bool solicited_only : {false, true}) {
    b_->notices = 0;
    b_->cq->RequestNotify(solicited_only);
    EXPECT_EQ(b_->notices, 1) << solicited_only;
  }
  EXPECT_THAT(b_->Poll(), SizeIs(1));
  b_->cq->RequestNotify(/*solicited_only=*/false);
  EXPECT_EQ(b_->notices, 1) << "all was polled";
}

// Each of them is there before somebody asks.
TEST_P(ProviderTest, NotifiesAtOnceOfASolicitedOneOnlyIfItWasNotPolled) {
  Connect(QpType::kRc);
  const auto send = [&](uint32_t flags) {
    ASSERT_TRUE(b_->Receive(0, 10).ok());
    auto request = a_->Request(IB_UVERBS_WR_SEND, 0, 10);
    request.work.send_flags = flags;
    ASSERT_TRUE(a_->Post(std::move(request)).ok());
    Run();
  };
  const auto poll_one = [&] {
    WorkCompletion completion{};
    EXPECT_EQ(b_->cq->Poll({&completion, 1}), 1u);
  };
  send(0);
  b_->cq->RequestNotify(/*solicited_only=*/true);
  EXPECT_EQ(b_->notices, 0) << "it was not solicited";
  send(send_flag::kSolicited);
  EXPECT_EQ(b_->notices, 1);
  send(0);
  b_->cq->RequestNotify(/*solicited_only=*/true);
  EXPECT_EQ(b_->notices, 2) << "one of three";
  poll_one();
  b_->cq->RequestNotify(/*solicited_only=*/true);
  EXPECT_EQ(b_->notices, 3) << "it is the first now";
  poll_one();
  b_->cq->RequestNotify(/*solicited_only=*/true);
  EXPECT_EQ(b_->notices, 3) << "only the last one is left, not solicited";
  b_->cq->RequestNotify(/*solicited_only=*/false);
  EXPECT_EQ(b_->notices, 4);
}

TEST_P(ProviderTest, NotifiesOfWhatIsPutDownWhenSomebodyAsks) {
  Connect(QpType::kRc);
  b_->memory->SetDelay(absl::Milliseconds(4));
  ASSERT_TRUE(b_->Receive(0, 10).ok());
  auto request = a_->Request(IB_UVERBS_WR_SEND, 0, 10);
  request.work.send_flags = send_flag::kSolicited;
  ASSERT_TRUE(a_->Post(std::move(request)).ok());
  Run(absl::Milliseconds(2));
  ASSERT_EQ(b_->memory->calls, 1) << "it is on its way to the client";
  b_->cq->RequestNotify(/*solicited_only=*/true);
  EXPECT_EQ(b_->notices, 0);
  Run();
  EXPECT_EQ(b_->notices, 1);
}

TEST_P(ProviderTest, ACompletionQueueMayBecomeSmallerAndOverrun) {
  Connect(QpType::kRc);
  EXPECT_TRUE(a_->cq->Resize(2).ok());
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(b_->Receive(0, 10).ok());
    ASSERT_TRUE(a_->Send(0, 10).ok());
    Run();
  }
  EXPECT_THAT(a_->Poll(), SizeIs(2));
  // The queue pair whose completion was lost fails with it.
  EXPECT_THAT(a_->events,
              ElementsAre(AsyncEventType::kCqError, AsyncEventType::kQpFatal));
  EXPECT_EQ(a_->State(), QpState::kError);
  ASSERT_TRUE(a_->Send(0, 10).ok());
  Run();
  EXPECT_THAT(a_->Poll(), SizeIs(0)) << "the queue takes no more";
}

TEST_P(ProviderTest, AnOverrunByTheCompletionOfAnErrorIsFatal) {
  Connect(QpType::kRc);
  EXPECT_TRUE(a_->cq->Resize(1).ok());
  ASSERT_TRUE(b_->Receive(0, 10).ok());
  ASSERT_TRUE(a_->Send(0, 10, 1).ok());
  ASSERT_TRUE(a_->SendWithAWrongKey(10, 2).ok());
  Run();
  EXPECT_THAT(a_->PollEnds(), ElementsAre(Pair(1u, status::kSuccess)));
  EXPECT_THAT(a_->events,
              ElementsAre(AsyncEventType::kCqError, AsyncEventType::kQpFatal));
  EXPECT_EQ(a_->State(), QpState::kError);
}

TEST_P(ProviderTest, AnOverrunByAFlushedRequestIsFatal) {
  Connect(QpType::kRc);
  EXPECT_TRUE(a_->cq->Resize(1).ok());
  for (uint64_t id : {1, 2, 3}) ASSERT_TRUE(a_->Receive(0, 10, id).ok());
  a_->Modify({}, QpState::kError);
  Run();
  EXPECT_THAT(a_->PollEnds(), ElementsAre(Pair(1u, status::kFlushed)));
  EXPECT_THAT(a_->events,
              ElementsAre(AsyncEventType::kCqError, AsyncEventType::kQpFatal));
}

TEST_P(ProviderTest, AReceiverFailsWhenItsCompletionQueueOverruns) {
  Connect(QpType::kUd);
  EXPECT_TRUE(b_->cq->Resize(1).ok());
  const auto to =
      *a_->provider.CreateAh(*a_->pd, Address(LidOf(HostNumber::kTwo)));
  for (int i = 0; i < 2; ++i) {
    ASSERT_TRUE(b_->Receive(0, 100).ok());
    auto request = a_->Request(IB_UVERBS_WR_SEND, 0, 10);
    request.address = to.get();
    request.work.wr.ud.remote_qpn = b_->qp->number();
    request.work.wr.ud.remote_qkey = VerbsEnd::kQKey;
    ASSERT_TRUE(a_->Post(std::move(request)).ok());
    Run();
  }
  EXPECT_THAT(b_->events,
              ElementsAre(AsyncEventType::kCqError, AsyncEventType::kQpFatal));
  EXPECT_EQ(b_->State(), QpState::kError);
  EXPECT_EQ(a_->State(), QpState::kReadyToSend);
}

// Nothing else tells a client that an unsignaled request is done.
TEST_P(ProviderTest, UnsignaledSendsFillTheQueueUntilALaterOneIsPolled) {
  Options options;
  options.signal_all = false;
  options.capacity.send_requests = 3;
  Connect(options, {});
  const auto send = [&](uint32_t flags) {
    auto request = a_->Request(IB_UVERBS_WR_SEND, 0, 10);
    request.work.send_flags = flags;
    absl::Status posted = a_->Post(std::move(request));
    Run();
    return posted;
  };
  for (int i = 0; i < 20; ++i) ASSERT_TRUE(b_->Receive(0, 10).ok());
  ASSERT_TRUE(send(0).ok());
  ASSERT_TRUE(send(send_flag::kSignaled).ok());
  ASSERT_TRUE(send(0).ok());
  EXPECT_THAT(b_->Poll(), SizeIs(3)) << "all are done";
  EXPECT_TRUE(absl::IsResourceExhausted(send(0)));
  EXPECT_THAT(a_->Poll(), SizeIs(1));
  ASSERT_TRUE(send(0).ok());
  ASSERT_TRUE(send(0).ok());
  EXPECT_TRUE(absl::IsResourceExhausted(send(0)))
      << "the one after the signaled one has not been heard of";
  a_->Modify({}, QpState::kReset);
  a_->Connect(TowardsB());
  EXPECT_TRUE(send(0).ok()) << "a queue pair that was reset is empty";
}

TEST_P(ProviderTest, ForgetsTheCompletionsOfAQueuePairThatIsReset) {
  Connect(QpType::kRc);
  for (int i = 0; i < 2; ++i) {
    ASSERT_TRUE(b_->Receive(0, 10).ok());
    ASSERT_TRUE(a_->Send(0, 10).ok());
  }
  Run();
  EXPECT_EQ(a_->arrivals, 2);
  a_->Modify({}, QpState::kReset);
  EXPECT_THAT(a_->Poll(), SizeIs(0));
  EXPECT_THAT(b_->Poll(), SizeIs(2)) << "the peer keeps its own";
}

TEST_P(ProviderTest, ForgetsTheCompletionsOfAQueuePairThatEnds) {
  Connect(QpType::kRc);
  QpInit init;
  init.pd = a_->pd.get();
  init.send_cq = init.receive_cq = a_->cq.get();
  init.capacity.receive_requests = init.capacity.receive_sges = 1;
  auto other = *a_->provider.CreateQp(init, *a_);
  QpAttributes attributes = TowardsB();
  attributes.qp_state = static_cast<uint32_t>(QpState::kInit);
  attributes.qp_attr_mask =
      qp_attribute::kState | testing::StepTo(QpState::kInit, QpType::kRc);
  ASSERT_TRUE(other->Modify(attributes).ok());
  std::vector<ReceiveRequest> request = {{.id = 5, .sges = {a_->Sge(0, 10)}}};
  size_t taken = 0;
  ASSERT_TRUE(other->PostReceive(request, taken).ok());
  attributes.qp_state = static_cast<uint32_t>(QpState::kError);
  attributes.qp_attr_mask = qp_attribute::kState;
  ASSERT_TRUE(other->Modify(attributes).ok());
  ASSERT_TRUE(b_->Receive(0, 10).ok());
  ASSERT_TRUE(a_->Send(0, 10, 6).ok());
  Run();
  EXPECT_EQ(a_->arrivals, 2);
  other.reset();
  EXPECT_THAT(a_->PollEnds(), ElementsAre(Pair(6u, status::kSuccess)))
      << "those of the others stay";
}

}  // namespace ibemu::verbs

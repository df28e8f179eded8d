// Objects of a context: handles, uses, events, work requests.
#include "tests/verbs/context_fixture.h"

namespace ibemu::verbs {
namespace {

using testing::Answered, testing::CommandBytes, testing::FakeMemory;

class ObjectsTest : public ContextTest {
 protected:
  ObjectsTest() {
    GetContext();
    pd_ = AllocPd();
  }

  absl::Status DeallocPd(uint32_t pd) {
    return Execute(IB_USER_VERBS_CMD_DEALLOC_PD, ib_uverbs_dealloc_pd{pd})
        .status;
  }
  Answer DestroyCq(uint32_t cq) {
    auto request = Answered<ib_uverbs_destroy_cq>(kPlace);
    request.cq_handle = cq;
    return Execute(IB_USER_VERBS_CMD_DESTROY_CQ, request, 8);
  }
  Answer DestroyQp(uint32_t qp) {
    auto request = Answered<ib_uverbs_destroy_qp>(kPlace);
    request.qp_handle = qp;
    return Execute(IB_USER_VERBS_CMD_DESTROY_QP, request, 4);
  }
  Answer RegMr(uint32_t access, uint64_t length = 4096,
               uint64_t address = FakeMemory::kStart) {
    auto request = Answered<ib_uverbs_reg_mr>(kPlace);
    request.start = FakeMemory::kStart;
    request.hca_va = address;
    request.length = length;
    request.pd_handle = pd_;
    request.access_flags = access;
    return Execute(IB_USER_VERBS_CMD_REG_MR, request, 12);
  }
  // One request of one piece, `count` times.  The last piece has `last` bytes.
  CommandBytes PostSend(uint32_t qp, uint32_t count, uint32_t flags = 0,
                        uint32_t last = 5) {
    ib_uverbs_send_wr work{};
    work.num_sge = 1;
    work.opcode = IB_UVERBS_WR_SEND;
    work.send_flags = flags;
    std::vector<ib_uverbs_sge> sges(count, {FakeMemory::kStart, 5, 0x11});
    if (count > 0) sges.back().length = last;
    return testing::PostCommand(IB_USER_VERBS_CMD_POST_SEND, kPlace, qp,
                                std::vector(count, work), sges);
  }
  static uint32_t BadRequest(const Answer& answer) {
    return ReadAs<ib_uverbs_post_send_resp>(answer.response).bad_wr;
  }

  uint32_t pd_ = 0;
};

TEST_F(ObjectsTest, SaysWhichProcessADomainIsOf) {
  EXPECT_EQ(provider_.pd_process, memory_->process());
}

TEST_F(ObjectsTest, KeepsADomainThatIsInUse) {
  const Answer mr = RegMr(access::kLocalWrite);
  ASSERT_TRUE(mr.status.ok()) << mr.status;
  EXPECT_TRUE(absl::IsFailedPrecondition(DeallocPd(pd_)));
  const auto made = ReadAs<ib_uverbs_reg_mr_resp>(mr.response);
  EXPECT_EQ(made.lkey, 0x11u);
  EXPECT_EQ(made.rkey, 0x22u);
  EXPECT_TRUE(
      Execute(IB_USER_VERBS_CMD_DEREG_MR, ib_uverbs_dereg_mr{made.mr_handle})
          .status.ok());
  EXPECT_TRUE(DeallocPd(pd_).ok());
  EXPECT_TRUE(absl::IsInvalidArgument(DeallocPd(pd_))) << "it is gone";
}

TEST_F(ObjectsTest, ForgetsARegionOnlyWhenItsMemoryIsAtRest) {
  const auto made =
      ReadAs<ib_uverbs_reg_mr_resp>(RegMr(access::kLocalWrite).response);
  const int calls = memory_->calls;
  Execute(IB_USER_VERBS_CMD_DEREG_MR, ib_uverbs_dereg_mr{made.mr_handle});
  EXPECT_EQ(memory_->calls, calls + 1);
}

TEST_F(ObjectsTest, RefusesRegionsThatBreakTheRules) {
  EXPECT_FALSE(RegMr(access::kRemoteWrite).status.ok());
  EXPECT_FALSE(RegMr(access::kRemoteAtomic).status.ok());
  EXPECT_TRUE(RegMr(access::kRemoteRead).status.ok());
  EXPECT_TRUE(RegMr(access::kRemoteWrite | access::kLocalWrite).status.ok());
  EXPECT_TRUE(RegMr(access::kLocalWrite | 1u << 20).status.ok());
  EXPECT_TRUE(RegMr(access::kBindWindow).status.ok()) << "needs no windows";
  EXPECT_TRUE(RegMr(access::kZeroBased).status.ok());
  EXPECT_FALSE(RegMr(access::kLocalWrite | 1u << 6).status.ok()) << "paging";
  EXPECT_FALSE(RegMr(access::kLocalWrite, 0).status.ok());
  EXPECT_FALSE(RegMr(access::kLocalWrite, ~uint64_t{0}).status.ok());
  EXPECT_FALSE(RegMr(0, 4096, FakeMemory::kStart + 1).status.ok());
}

TEST_F(ObjectsTest, RegistersWhatIsThere) {
  EXPECT_TRUE(absl::IsDataLoss(RegMr(access::kLocalWrite, 4097).status));
  const Answer answer = RegMr(access::kLocalWrite);
  ASSERT_TRUE(answer.status.ok());
  EXPECT_EQ(memory_->pins, 1);
  const auto made = ReadAs<ib_uverbs_reg_mr_resp>(answer.response);
  Execute(IB_USER_VERBS_CMD_DEREG_MR, ib_uverbs_dereg_mr{made.mr_handle});
  EXPECT_EQ(memory_->pins, 0);
}

TEST_F(ObjectsTest, ARegistrationMayTakeLongerThanItHasTo) {
  provider_.mr_delay = absl::Microseconds(900);  // Execute() waits longer
  const absl::Time begin = timers_.Now();
  EXPECT_TRUE(RegMr(access::kLocalWrite).status.ok());
  EXPECT_GE(timers_.Now() - begin, absl::Microseconds(900));
  EXPECT_TRUE(absl::IsDataLoss(RegMr(access::kLocalWrite, 4097).status));
}

TEST_F(ObjectsTest, WhatIsLateLetsGoOfItsPagesWhenTheClientEnds) {
  provider_.mr_delay = absl::Seconds(10);
  auto request = Answered<ib_uverbs_reg_mr>(kPlace);
  request.start = request.hca_va = FakeMemory::kStart;
  request.length = 4096;
  request.pd_handle = pd_;
  bool answered = false;
  const CommandBytes command =
      testing::PlainCommand(IB_USER_VERBS_CMD_REG_MR, request, 12);
  context_->Execute(command, kThread,
                    [&answered](const Answer&) { answered = true; });
  timers_.RunFor(absl::Seconds(1));
  EXPECT_EQ(memory_->pins, 1);
  context_.reset();
  EXPECT_EQ(memory_->pins, 0);
  timers_.RunFor(absl::Seconds(10));
  EXPECT_FALSE(answered);
}

TEST_F(ObjectsTest, PinsForWritingWhatMayBeWritten) {
  for (const uint32_t rights : {uint32_t{0}, access::kRemoteRead,
                                access::kLocalWrite, access::kBindWindow}) {
    RegMr(rights);
  }
  EXPECT_EQ(memory_->pins_wanted_writable,
            std::vector<bool>({false, false, true, true}));
}

TEST_F(ObjectsTest, ForgetsARegistrationWhoseDomainWent) {
  auto request = Answered<ib_uverbs_reg_mr>(kPlace);
  request.start = request.hca_va = FakeMemory::kStart;
  request.length = 1;
  request.pd_handle = pd_;
  std::optional<Answer> answer;
  context_->Execute(
      testing::PlainCommand(IB_USER_VERBS_CMD_REG_MR, request, 12), kThread,
      [&answer](Answer made) { answer = std::move(made); });
  EXPECT_TRUE(DeallocPd(pd_).ok());
  EXPECT_TRUE(absl::IsInvalidArgument(answer.value().status));
  EXPECT_EQ(memory_->pins, 0);
}

TEST_F(ObjectsTest, EndsWhileARegistrationIsUnderWay) {
  auto request = Answered<ib_uverbs_reg_mr>(kPlace);
  request.start = request.hca_va = FakeMemory::kStart;
  request.length = 1;
  request.pd_handle = pd_;
  bool answered = false;
  context_->Execute(
      testing::PlainCommand(IB_USER_VERBS_CMD_REG_MR, request, 12), kThread,
      [&answered](const Answer&) { answered = true; });
  context_.reset();
  timers_.RunPending();
  EXPECT_FALSE(answered);
  EXPECT_EQ(memory_->pins, 0);
}

TEST_F(ObjectsTest, TakesBackWhatCouldNotBeAnswered) {
  Answer answer = Execute(IB_USER_VERBS_CMD_ALLOC_PD,
                          Answered<ib_uverbs_alloc_pd>(kPlace), 4);
  const auto pd = ReadAs<ib_uverbs_alloc_pd_resp>(answer.response).pd_handle;
  answer.undo();
  EXPECT_TRUE(absl::IsInvalidArgument(DeallocPd(pd)));
}

// The handles are small numbers, and another thread of the client may write a
// command before the response is written.
TEST_F(ObjectsTest, TakesBackNothingThatIsInUse) {
  Answer pd = Execute(IB_USER_VERBS_CMD_ALLOC_PD,
                      Answered<ib_uverbs_alloc_pd>(kPlace), 4);
  auto request = Answered<ib_uverbs_create_cq>(kPlace);
  request.cqe = 10;
  request.comp_channel = -1;
  Answer cq = Execute(IB_USER_VERBS_CMD_CREATE_CQ, request, 8);
  const auto pd_handle = ReadAs<ib_uverbs_alloc_pd_resp>(pd.response).pd_handle;
  const auto cq_handle =
      ReadAs<ib_uverbs_create_cq_resp>(cq.response).cq_handle;
  const uint32_t qp = CreateQp(pd_handle, cq_handle);
  pd.undo();
  cq.undo();
  EXPECT_TRUE(absl::IsFailedPrecondition(DeallocPd(pd_handle)));
  EXPECT_TRUE(absl::IsFailedPrecondition(DestroyCq(cq_handle).status));
  EXPECT_TRUE(DestroyQp(qp).status.ok());
  EXPECT_TRUE(DestroyCq(cq_handle).status.ok());
  EXPECT_TRUE(DeallocPd(pd_handle).ok());
}

TEST_F(ObjectsTest, KeepsAQueueThatIsInUse) {
  const uint32_t cq = CreateCq();
  const uint32_t qp = CreateQp(pd_, cq);
  EXPECT_TRUE(absl::IsFailedPrecondition(DestroyCq(cq).status));
  EXPECT_TRUE(absl::IsFailedPrecondition(DeallocPd(pd_)));
  EXPECT_TRUE(DestroyQp(qp).status.ok());
  EXPECT_TRUE(DestroyCq(cq).status.ok());
  EXPECT_TRUE(DeallocPd(pd_).ok());
}

TEST_F(ObjectsTest, CountsTheEventsThatWereRead) {
  const int channel = CreateChannel();
  const uint32_t cq = CreateCq(channel, 0xabc);
  EventQueue& events = *given_.at(channel);
  provider_.cq->listener.OnCompletion();
  const auto first = events.Take();
  provider_.cq->listener.OnCompletion();
  EXPECT_EQ(ReadAs<ib_uverbs_comp_event_desc>(first).cq_handle, 0xabcu);
  provider_.cq->listener.OnEvent(AsyncEventType::kCqError);
  given_.at(10)->Take();

  const auto destroyed =
      ReadAs<ib_uverbs_destroy_cq_resp>(DestroyCq(cq).response);
  EXPECT_EQ(destroyed.comp_events_reported, 1u);
  EXPECT_EQ(destroyed.async_events_reported, 1u);
  EXPECT_TRUE(events.empty()) << "the other one went with the queue";
}

TEST_F(ObjectsTest, KeepsOneUnreadEventOfAQueueInAChannel) {
  const int channel = CreateChannel();
  CreateCq(channel, 0xabc);
  CqListener& first = provider_.cq->listener;
  CreateCq(channel, 0xdef);
  CqListener& second = provider_.cq->listener;
  EventQueue& events = *given_.at(channel);
  for (int i = 0; i < 3; ++i) first.OnCompletion();
  second.OnCompletion();
  EXPECT_EQ(ReadAs<ib_uverbs_comp_event_desc>(events.Take()).cq_handle, 0xabcu);
  EXPECT_EQ(ReadAs<ib_uverbs_comp_event_desc>(events.Take()).cq_handle, 0xdefu);
  EXPECT_TRUE(events.empty());
  first.OnCompletion();
  EXPECT_FALSE(events.empty()) << "the last one was read";
}

// A client that waits for events of a queue whose adapter tells at once of what
// is there, as the real ones here do.
class LateArmTest : public ObjectsTest {
 protected:
  void Arrive() {
    provider_.cq->completions.emplace_back();
    provider_.cq->listener.OnArrival();
  }
  void Arm() {
    provider_.cq->tells_at_once = true;
    EXPECT_TRUE(Execute(IB_USER_VERBS_CMD_REQ_NOTIFY_CQ,
                        ib_uverbs_req_notify_cq{cq_, 0})
                    .status.ok());
  }
  void Wait() {
    ASSERT_FALSE(events_.empty());
    events_.Take();
  }
  void Poll(uint32_t most) {
    auto request = Answered<ib_uverbs_poll_cq>(kPlace);
    request.cq_handle = cq_;
    request.ne = most;
    Execute(IB_USER_VERBS_CMD_POLL_CQ, request, 8 + most * 48);
  }
  uint64_t LateArms() const { return context_->objects().late_arms; }

  const int channel_ = CreateChannel();
  const uint32_t cq_ = CreateCq(channel_);
  EventQueue& events_ = *given_.at(channel_);
};

TEST_F(LateArmTest, WaitingForWhatWasThereBeforeIsCounted) {
  Arrive();
  Arm();
  Wait();
  EXPECT_EQ(LateArms(), 0u) << "it may poll yet";
  Poll(1);
  EXPECT_EQ(LateArms(), 1u);
  Poll(1);
  EXPECT_EQ(LateArms(), 1u);
}

TEST_F(LateArmTest, PollingUntilNothingIsLeftBeforeWaitingIsRight) {
  Arrive();
  Arrive();
  Arm();
  Poll(1);
  Poll(1);
  Wait();
  Poll(1);
  EXPECT_EQ(LateArms(), 0u);
}

TEST_F(LateArmTest, PollingSomeBeforeWaitingIsNotEnough) {
  Arrive();
  Arrive();
  Arm();
  Poll(1);
  Wait();
  Poll(1);
  EXPECT_EQ(LateArms(), 1u);
}

TEST_F(LateArmTest, WhatArrivesLaterIsToldByAnyAdapter) {
  Arrive();
  Arm();
  Arrive();
  Wait();
  Poll(2);
  EXPECT_EQ(LateArms(), 0u);
}

TEST_F(LateArmTest, AnEventThatWasAskedForInTimeIsNone) {
  Arm();
  Arrive();
  provider_.cq->listener.OnCompletion();
  Wait();
  Poll(1);
  EXPECT_EQ(LateArms(), 0u);
}

TEST_F(ObjectsTest, WantsAChannelThatIsOpen) {
  const int channel = CreateChannel();
  auto request = Answered<ib_uverbs_create_cq>(kPlace);
  request.cqe = 1;
  for (const int other : {channel + 1, 10}) {
    request.comp_channel = other;
    EXPECT_FALSE(Execute(IB_USER_VERBS_CMD_CREATE_CQ, request, 8).status.ok());
  }
  given_.at(channel)->Close();
  request.comp_channel = channel;
  EXPECT_FALSE(Execute(IB_USER_VERBS_CMD_CREATE_CQ, request, 8).status.ok());
  request.comp_channel = -1;
  request.comp_vector = 1;
  EXPECT_FALSE(Execute(IB_USER_VERBS_CMD_CREATE_CQ, request, 8).status.ok());
}

TEST_F(ObjectsTest, GivesAsManyCompletionsAsThereIsRoomFor) {
  const uint32_t cq = CreateCq();
  for (uint64_t id = 1; id <= 3; ++id) {
    provider_.cq->completions.emplace_back().wr_id = id;
  }
  auto request = Answered<ib_uverbs_poll_cq>(kPlace);
  request.cq_handle = cq;
  request.ne = 16;
  const Answer two = Execute(IB_USER_VERBS_CMD_POLL_CQ, request, 8 + 2 * 48);
  EXPECT_EQ(ReadAs<ib_uverbs_poll_cq_resp>(two.response).count, 2u);
  EXPECT_EQ(two.response.size(), 8u + 2 * 48);
  const Answer one = Execute(IB_USER_VERBS_CMD_POLL_CQ, request, 8 + 16 * 48);
  EXPECT_EQ(ReadAs<ib_uverbs_poll_cq_resp>(one.response).count, 1u);
  EXPECT_EQ(ReadAs<WorkCompletion>(Bytes(one.response).subspan(8)).wr_id, 3u);
}

class EmptyPollTest : public ObjectsTest {
 protected:
  // Polls `cq`; what is answered comes to answer_.
  void Poll(uint32_t cq) {
    auto request = Answered<ib_uverbs_poll_cq>(kPlace);
    request.cq_handle = cq;
    request.ne = 1;
    context_->Execute(
        testing::PlainCommand(IB_USER_VERBS_CMD_POLL_CQ, request, 8 + 48),
        kThread, [this](Answer made) { answer_ = std::move(made); });
  }
  uint32_t count() const {
    return ReadAs<ib_uverbs_poll_cq_resp>(answer_->response).count;
  }

  std::optional<Answer> answer_;
};

TEST_F(EmptyPollTest, IsAnsweredWhenACompletionComes) {
  Poll(CreateCq());
  EXPECT_FALSE(answer_.has_value());
  provider_.cq->completions.emplace_back().wr_id = 7;
  provider_.cq->listener.OnArrival();
  timers_.RunPending();
  ASSERT_TRUE(answer_.has_value());
  EXPECT_EQ(count(), 1u);
  EXPECT_EQ(ReadAs<WorkCompletion>(Bytes(answer_->response).subspan(8)).wr_id,
            7u);
  EXPECT_EQ(answer_->address, kPlace);
  EXPECT_TRUE(timers_.idle());
}

TEST_F(EmptyPollTest, IsAnsweredWhenSomethingComesToAnotherQueue) {
  const uint32_t polled = CreateCq();
  CreateCq();
  Poll(polled);
  provider_.cq->listener.OnArrival();
  timers_.RunPending();
  ASSERT_TRUE(answer_.has_value());
  EXPECT_EQ(count(), 0u);
}

TEST_F(EmptyPollTest, DoesNotWaitForLong) {
  Poll(CreateCq());
  timers_.RunFor(absl::Microseconds(29));
  EXPECT_FALSE(answer_.has_value());
  timers_.RunFor(absl::Microseconds(1));
  ASSERT_TRUE(answer_.has_value());
  EXPECT_EQ(count(), 0u);
}

TEST_F(EmptyPollTest, OfAQueueThatAnotherThreadDestroysFails) {
  const uint32_t cq = CreateCq();
  Poll(cq);
  auto request = Answered<ib_uverbs_destroy_cq>(kPlace);
  request.cq_handle = cq;
  EXPECT_TRUE(Execute(IB_USER_VERBS_CMD_DESTROY_CQ, request, 8).status.ok());
  ASSERT_TRUE(answer_.has_value());
  EXPECT_TRUE(absl::IsInvalidArgument(answer_->status));
}

TEST_F(EmptyPollTest, IsForgottenWithItsContext) {
  Poll(CreateCq());
  context_.reset();
  timers_.RunFor(absl::Milliseconds(1));
  EXPECT_FALSE(answer_.has_value());
  EXPECT_TRUE(timers_.idle());
}

TEST_F(ObjectsTest, SaysWhichRequestWasNotTaken) {
  const uint32_t qp = CreateQp(pd_, CreateCq());
  const Answer two = Execute(PostSend(qp, 2));
  EXPECT_TRUE(two.status.ok());
  EXPECT_EQ(BadRequest(two), 0u);
  const Answer more = Execute(PostSend(qp, 1));
  EXPECT_TRUE(absl::IsResourceExhausted(more.status));
  EXPECT_EQ(BadRequest(more), 1u);
}

TEST_F(ObjectsTest, FetchesInlineDataWhenTheyArePosted) {
  constexpr uint32_t kInline = 1 << 3;
  const uint32_t qp = CreateQp(pd_, CreateCq());
  memory_->Put(0, "hello");
  EXPECT_EQ(BadRequest(Execute(PostSend(qp, 1, kInline))), 0u);
  memory_->Put(0, "later");
  ASSERT_EQ(provider_.qp->sent.size(), 1u);
  const auto& data = *provider_.qp->sent[0].inline_data;
  EXPECT_EQ(std::string(reinterpret_cast<const char*>(data.data()), 5),
            "hello");
}

TEST_F(ObjectsTest, PostsDataThatCameWithTheCommand) {
  constexpr uint32_t kInline = 1 << 3;
  const uint32_t qp = CreateQp(pd_, CreateCq());
  const int calls = memory_->calls;
  const auto text = [](const Buffer& buffer) {
    return buffer == nullptr
               ? ""
               : std::string(reinterpret_cast<const char*>(buffer->data()),
                             buffer->size());
  };
  const std::string data = "hellohello!";
  const Bytes bytes = std::as_bytes(std::span(data));
  EXPECT_EQ(BadRequest(Execute(PostSend(qp, 2, 0, 6), bytes)), 0u);
  ASSERT_EQ(provider_.qp->sent.size(), 2u);
  EXPECT_EQ(text(provider_.qp->sent[0].read_data), "hello");
  EXPECT_EQ(text(provider_.qp->sent[1].read_data), "hello!");
  EXPECT_EQ(provider_.qp->sent[0].reader, kReader);
  EXPECT_EQ(provider_.qp->sent[0].inline_data, nullptr) << "its key counts";

  provider_.qp->sent.clear();
  EXPECT_EQ(BadRequest(Execute(PostSend(qp, 1, kInline), bytes.first(5))), 0u);
  ASSERT_EQ(provider_.qp->sent.size(), 1u);
  EXPECT_EQ(text(provider_.qp->sent[0].inline_data), "hello");
  EXPECT_EQ(provider_.qp->sent[0].read_data, nullptr);
  EXPECT_EQ(memory_->calls, calls) << "nothing was read";
}

// What a read brings before it is not there yet.
TEST_F(ObjectsTest, LeavesToAFencedRequestWhatItWillFind) {
  constexpr uint32_t kFence = 1 << 0;
  const uint32_t qp = CreateQp(pd_, CreateCq());
  const std::string data = "hello";
  EXPECT_EQ(BadRequest(Execute(PostSend(qp, 1, kFence),
                               std::as_bytes(std::span(data)))),
            0u);
  ASSERT_EQ(provider_.qp->sent.size(), 1u);
  EXPECT_EQ(provider_.qp->sent[0].read_data, nullptr);
}

TEST_F(ObjectsTest, RefusesDataThatAreNotWhatTheRequestsSend) {
  const uint32_t qp = CreateQp(pd_, CreateCq());
  const std::vector<std::byte> data(11);
  for (const size_t size : {0, 9, 11}) {
    EXPECT_TRUE(absl::IsInvalidArgument(
        Execute(PostSend(qp, 2), Bytes(data).first(size)).status))
        << size;
  }
  EXPECT_TRUE(provider_.qp->sent.empty());
}

TEST_F(ObjectsTest, PostsTheRequestsBeforeOneWithTooMuchInlineData) {
  constexpr uint32_t kInline = 1 << 3;
  const uint32_t qp = CreateQp(pd_, CreateCq());
  EXPECT_EQ(BadRequest(Execute(PostSend(qp, 1, kInline, 16))), 0u);
  const Answer answer = Execute(PostSend(qp, 2, kInline, 17));
  EXPECT_TRUE(absl::IsInvalidArgument(answer.status));
  EXPECT_EQ(answer.status.message(),
            "a work request has 17 bytes of inline data: its queue pair takes "
            "at most 16");
  EXPECT_EQ(BadRequest(answer), 2u);
  EXPECT_EQ(provider_.qp->sent.size(), 2u);
  const Answer only = Execute(PostSend(qp, 1, kInline, 17));
  EXPECT_TRUE(absl::IsInvalidArgument(only.status));
  EXPECT_EQ(BadRequest(only), 1u);
}

TEST_F(ObjectsTest, RefusesListsThatAreShorterThanTheySay) {
  const uint32_t qp = CreateQp(pd_, CreateCq());
  const CommandBytes command = PostSend(qp, 1);
  // wr_count, sge_count, wqe_size, and num_sge of the request.
  for (const size_t place : {8 + 12, 8 + 16, 8 + 20, 8 + 32}) {
    CommandBytes broken = command;
    broken[place] = std::byte{0xff};
    EXPECT_FALSE(Execute(broken).status.ok()) << place;
  }
  EXPECT_TRUE(provider_.qp->sent.empty());
}

TEST_F(ObjectsTest, WantsAnAddressForEachDatagram) {
  const uint32_t qp = CreateQp(pd_, CreateCq(), QpType::kUd);
  const Answer answer = Execute(PostSend(qp, 1));
  EXPECT_TRUE(absl::IsInvalidArgument(answer.status));
}

TEST_F(ObjectsTest, KeepsAQueuePairThatIsInAGroup) {
  const uint32_t qp = CreateQp(pd_, CreateCq(), QpType::kUd);
  ib_uverbs_attach_mcast group{};
  group.gid[0] = 0xff;
  group.qp_handle = qp;
  group.mlid = 0xc001;
  const auto command = [this, &group = group](uint32_t number) {
    return Execute(number, group).status;
  };
  EXPECT_FALSE(command(IB_USER_VERBS_CMD_DETACH_MCAST).ok());
  EXPECT_TRUE(command(IB_USER_VERBS_CMD_ATTACH_MCAST).ok());
  EXPECT_TRUE(command(IB_USER_VERBS_CMD_ATTACH_MCAST).ok()) << "once is twice";
  EXPECT_EQ(provider_.qp->groups, 1);
  EXPECT_TRUE(absl::IsFailedPrecondition(DestroyQp(qp).status));
  EXPECT_TRUE(command(IB_USER_VERBS_CMD_DETACH_MCAST).ok());
  EXPECT_TRUE(DestroyQp(qp).status.ok());
}

TEST_F(ObjectsTest, HandsEveryAttributeOfAModificationOn) {
  const uint32_t qp = CreateQp(pd_, CreateCq());
  ib_uverbs_modify_qp request{};
  request.qp_handle = qp;
  request.attr_mask = qp_attribute::kState | qp_attribute::kAddress;
  request.qp_state = 2;
  request.dest.dlid = 9;
  request.dest.dgid[15] = 4;
  request.timeout = 14;
  EXPECT_TRUE(Execute(IB_USER_VERBS_CMD_MODIFY_QP, request).status.ok());
  EXPECT_EQ(provider_.qp->attributes.ah_attr.dlid, 9);
  EXPECT_EQ(provider_.qp->attributes.timeout, 14);

  auto query = Answered<ib_uverbs_query_qp>(kPlace);
  query.qp_handle = qp;
  const auto state =
      Made<ib_uverbs_query_qp_resp>(IB_USER_VERBS_CMD_QUERY_QP, query);
  EXPECT_EQ(state.qp_state, 2);
  EXPECT_EQ(state.dest.dlid, 9);
  EXPECT_EQ(state.dest.dgid[15], 4);
  EXPECT_EQ(state.timeout, 14);

  request.qp_state = 7;
  EXPECT_FALSE(Execute(IB_USER_VERBS_CMD_MODIFY_QP, request).status.ok());
  request.attr_mask = 1u << 21;
  EXPECT_FALSE(Execute(IB_USER_VERBS_CMD_MODIFY_QP, request).status.ok());
}

TEST_F(ObjectsTest, SharesAReceiveQueue) {
  auto request = Answered<ib_uverbs_create_srq>(kPlace);
  request.pd_handle = pd_;
  request.max_wr = 4;
  request.max_sge = 1;
  const auto srq =
      Made<ib_uverbs_create_srq_resp>(IB_USER_VERBS_CMD_CREATE_SRQ, request);
  EXPECT_EQ(srq.max_wr, 4u);
  const ib_uverbs_modify_srq change{srq.srq_handle, 2, 0, 3};
  EXPECT_TRUE(Execute(IB_USER_VERBS_CMD_MODIFY_SRQ, change).status.ok());
  EXPECT_EQ(provider_.srq->attributes.limit, 3u);
  EXPECT_EQ(provider_.srq->attributes.max_requests, 4u);
  const ib_uverbs_modify_srq resize{srq.srq_handle, 1, 7, 0};
  EXPECT_TRUE(Execute(IB_USER_VERBS_CMD_MODIFY_SRQ, resize).status.ok());
  EXPECT_EQ(provider_.srq->attributes.limit, 3u);
  EXPECT_EQ(provider_.srq->attributes.max_requests, 7u);

  auto qp = Answered<ib_uverbs_create_qp>(kPlace);
  qp.pd_handle = pd_;
  qp.send_cq_handle = qp.recv_cq_handle = CreateCq();
  qp.qp_type = static_cast<uint8_t>(QpType::kRc);
  qp.is_srq = 1;
  qp.srq_handle = srq.srq_handle;
  const auto made =
      Made<ib_uverbs_create_qp_resp>(IB_USER_VERBS_CMD_CREATE_QP, qp);
  auto destroy = Answered<ib_uverbs_destroy_srq>(kPlace);
  destroy.srq_handle = srq.srq_handle;
  EXPECT_TRUE(absl::IsFailedPrecondition(
      Execute(IB_USER_VERBS_CMD_DESTROY_SRQ, destroy, 4).status));
  DestroyQp(made.qp_handle);
  EXPECT_TRUE(Execute(IB_USER_VERBS_CMD_DESTROY_SRQ, destroy, 4).status.ok());
}

TEST_F(ObjectsTest, EndsWithEverythingInIt) {
  const uint32_t cq = CreateCq(CreateChannel());
  CreateQp(pd_, cq);
  RegMr(access::kLocalWrite);
  context_.reset();  // in the right order, or the sanitizer tells
}

}  // namespace
}  // namespace ibemu::verbs

// A context of a fake adapter, and a client that writes commands to it.
#ifndef IBEMU_TESTS_VERBS_CONTEXT_FIXTURE_H_
#define IBEMU_TESTS_VERBS_CONTEXT_FIXTURE_H_

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "testing/fake_memory.h"
#include "testing/fake_provider.h"
#include "testing/uverbs_commands.h"
#include "testing/virtual_timers.h"
#include "verbs/uverbs/context.h"

namespace ibemu::verbs {

// A client's place for completions.
struct FakeClientCompletions final : ClientCompletions {
  size_t size() const override { return ids.size(); }
  size_t room() override { return most - ids.size(); }
  size_t taken() override { return client_took; }
  void Open() override {
    EXPECT_EQ(size(), 0u);
    open = more = true;
  }
  void Close() override {
    open = false;
    ids.resize(client_took);
  }
  bool is_open() const override { return open; }
  void Add(const WaitingCompletion& one, std::optional<uint32_t> qp) override {
    EXPECT_TRUE(open && room() > 0);
    ids.push_back(one.completion.wr_id);
    frees.emplace_back(qp, one.frees_sends);
  }
  void SetMore(bool has_more) override { more = has_more; }
  void OnPolled(size_t count) override {
    ids.erase(ids.begin(), ids.begin() + static_cast<long>(count));
    client_took -= count;
  }

  size_t most = 16;
  bool open = false, more = false;
  std::vector<uint64_t> ids;
  size_t client_took = 0;  // of these, and it may take more
  std::vector<std::pair<std::optional<uint32_t>, uint32_t>> frees;
};

class ContextTest : public ::testing::Test, private ContextClient {
 protected:
  static constexpr uint64_t kPlace = 0x1000;  // of responses
  static constexpr pid_t kThread = 4711;
  static constexpr uint64_t kReader = 77;  // the process that has read data

  Answer Execute(const testing::CommandBytes& command,
                 std::optional<Bytes> data = std::nullopt,
                 bool awaited = true) {
    std::optional<Answer> answer;
    context_->Execute(
        command, kThread, [&answer](Answer made) { answer = std::move(made); },
        data ? std::optional<ReadData>({kReader, *data}) : std::nullopt,
        awaited);
    timers_.RunFor(absl::Milliseconds(1));
    EXPECT_TRUE(answer.has_value());
    return answer ? *std::move(answer) : Answer();
  }
  template <class T>
  Answer Execute(uint32_t number, const T& request, size_t room = 0) {
    return Execute(testing::PlainCommand(number, request, room));
  }
  Answer GetContext() {
    return Execute(IB_USER_VERBS_CMD_GET_CONTEXT,
                   testing::Answered<ib_uverbs_get_context>(kPlace), 8);
  }

  // Objects; each gives its handle.
  uint32_t AllocPd() {
    return Made<ib_uverbs_alloc_pd_resp>(
               IB_USER_VERBS_CMD_ALLOC_PD,
               testing::Answered<ib_uverbs_alloc_pd>(kPlace))
        .pd_handle;
  }
  uint32_t CreateCq(int channel = -1, uint64_t user_handle = 0xcc) {
    auto request = testing::Answered<ib_uverbs_create_cq>(kPlace);
    request.cqe = 10;
    request.comp_channel = channel;
    request.user_handle = user_handle;
    return Made<ib_uverbs_create_cq_resp>(IB_USER_VERBS_CMD_CREATE_CQ, request)
        .cq_handle;
  }
  int CreateChannel() {
    return static_cast<int>(
        Made<ib_uverbs_create_comp_channel_resp>(
            IB_USER_VERBS_CMD_CREATE_COMP_CHANNEL,
            testing::Answered<ib_uverbs_create_comp_channel>(kPlace))
            .fd);
  }
  uint32_t CreateQp(uint32_t pd, uint32_t cq, QpType type = QpType::kRc) {
    auto request = testing::Answered<ib_uverbs_create_qp>(kPlace);
    request.pd_handle = pd;
    request.send_cq_handle = request.recv_cq_handle = cq;
    request.max_send_wr = 2;
    request.max_inline_data = 16;
    request.qp_type = static_cast<uint8_t>(type);
    request.user_handle = 0x99;
    return Made<ib_uverbs_create_qp_resp>(IB_USER_VERBS_CMD_CREATE_QP, request)
        .qp_handle;
  }
  template <class Response, class Request>
  Response Made(uint32_t number, const Request& request) {
    const Answer answer = Execute(number, request, sizeof(Response));
    EXPECT_TRUE(answer.status.ok()) << answer.status;
    if (answer.response.size() < sizeof(Response)) return Blank<Response>();
    return ReadAs<Response>(answer.response);
  }

  testing::VirtualTimers timers_;
  testing::FakeProvider provider_;
  std::shared_ptr<testing::FakeMemory> memory_ =
      std::make_shared<testing::FakeMemory>(timers_, 4096);
  std::map<int, std::shared_ptr<EventQueue>> given_;  // by descriptor
  bool gives_ = true;
  // The queue pairs whose room was told, and whether they were there.
  std::vector<std::pair<uint32_t, bool>> told_;
  int no_receives_ = 0;
  std::map<uint32_t, FakeClientCompletions> completions_;  // by queue
  std::vector<uint32_t> gone_queues_;
  bool may_take_ = true;
  int arrivals_ = 0;
  std::unique_ptr<Context> context_ = std::make_unique<Context>(
      provider_, AdapterIdentity{0x1175, 0x24f0, 0x1'001b'0000},
      static_cast<ContextClient&>(*this), timers_);

 private:
  absl::StatusOr<int> GiveDescriptor(
      Events /*events*/, pid_t caller,
      std::shared_ptr<EventQueue> queue) override {
    EXPECT_EQ(caller, kThread);
    if (!gives_) return absl::AbortedError("none");
    const int fd = 10 + static_cast<int>(given_.size());
    given_[fd] = std::move(queue);
    return fd;
  }
  std::shared_ptr<Memory> MemoryOf(pid_t /*caller*/) override {
    return memory_;
  }
  void OnPromise(uint32_t handle, const QpObject* qp) override {
    told_.emplace_back(handle, qp != nullptr);
  }
  void OnNoReceive() override { ++no_receives_; }
  ClientCompletions* CompletionsOf(uint32_t cq) override {
    const auto known = completions_.find(cq);
    return known == completions_.end() ? nullptr : &known->second;
  }
  ClientCompletions* PlaceFor(uint32_t cq) override {
    return CompletionsOf(cq);
  }
  bool MayTake() override { return may_take_; }
  void OnCqGone(uint32_t cq) override { gone_queues_.push_back(cq); }
  void OnArrival() override { ++arrivals_; }
};

}  // namespace ibemu::verbs

#endif  // IBEMU_TESTS_VERBS_CONTEXT_FIXTURE_H_

// umad files at their limits: a full queue, all agents, thousands of sends.
#include <deque>

#include "tests/cuse/umad/umad_fixture.h"

namespace ibemu::cuse {
namespace {

class UmadLimitsTest : public UmadTest {
 protected:
  // Requests from the peer, for the agent of the class.
  void ReceiveRequests(size_t count) {
    mad::Arrival request{.qp = 1, .slid = kPeer, .source_qpn = 1};
    for (size_t i = 0; i < count; ++i) {
      request.mad = PerfGet(++last_tid_);
      port_.Receive(request);
    }
  }
  // Reads until there is nothing more.
  std::vector<uint32_t> ReadStatuses() {
    std::vector<uint32_t> statuses;
    for (auto answer = umad_.Read(1024); answer.error == Errno::kOk;
         answer = umad_.Read(1024)) {
      statuses.push_back(HeaderIn(answer.data).status);
    }
    return statuses;
  }

  uint64_t last_tid_ = 0;
};

TEST_F(UmadLimitsTest, AFullQueueDropsMadsAndKeepsTimeouts) {
  constexpr size_t kMax = UmadQueue::kLimit + 1;
  ASSERT_EQ(Register(Request(kPerformance, kGet)), Errno::kOk);
  ASSERT_EQ(umad_.Write(UmadRequest(1)), Errno::kOk);  // to be answered
  const mad::Arrival answer = AnswerTo(port_.sent.back());
  for (const uint64_t tid : {2, 3}) {
    ASSERT_EQ(umad_.Write(UmadRequest(tid)), Errno::kOk);
  }

  ReceiveRequests(kMax + 100);
  port_.Receive(answer);
  timers_.RunFor(absl::Seconds(1));
  EXPECT_TRUE(timers_.idle());

  const std::vector<uint32_t> statuses = ReadStatuses();
  ASSERT_EQ(statuses.size(), kMax + 2);
  for (size_t i = 0; i < kMax; ++i) ASSERT_EQ(statuses[i], 0u);
  EXPECT_EQ(statuses[kMax], uint32_t{ETIMEDOUT});
  EXPECT_EQ(statuses[kMax + 1], uint32_t{ETIMEDOUT});
  // The lost answer ended its send all the same.
  EXPECT_EQ(umad_.Write(UmadRequest(1)), Errno::kOk);
}

TEST_F(UmadLimitsTest, AQueueThatWasFullTakesMadsAgain) {
  constexpr size_t kMax = UmadQueue::kLimit + 1;
  ASSERT_EQ(Register(Request(kPerformance, kGet)), Errno::kOk);
  ReceiveRequests(kMax);
  EXPECT_EQ(umad_.Read(1024).error, Errno::kOk);
  ReceiveRequests(3);
  EXPECT_EQ(ReadStatuses().size(), kMax);
  ReceiveRequests(1);
  EXPECT_EQ(TidIn(umad_.Read(1024).data), last_tid_);
}

TEST_F(UmadLimitsTest, HundredsOfFilesHaveAllTheirAgents) {
  constexpr size_t kFiles = 300;
  constexpr uint32_t kAgents = 32;
  struct Open {
    explicit Open(const std::shared_ptr<mad::Host>& host)
        : file(host, 1), driver(file) {}
    UmadFile file;
    FileDriver driver;
  };
  std::deque<Open> files;
  for (size_t i = 0; i < kFiles; ++i) {
    FileDriver& umad = files.emplace_back(host_).driver;
    ASSERT_EQ(umad.Open(), Errno::kOk);
    for (uint32_t id = 0; id < kAgents; ++id) {
      ib_user_mad_reg_req request = Request();
      ASSERT_EQ(Register(umad, request), Errno::kOk);
      ASSERT_EQ(request.id, id);
    }
    ib_user_mad_reg_req request = Request();
    ASSERT_EQ(Register(umad, request), Errno::kNoMemory);
  }

  // The same TID from each: the answers find their way.
  for (Open& open : files) {
    for (uint32_t id = 0; id < kAgents; ++id) {
      ASSERT_EQ(open.driver.Write(UmadRequest(5, id)), Errno::kOk);
    }
  }
  const std::vector<mad::Outgoing> sent = std::move(port_.sent);
  ASSERT_EQ(sent.size(), kFiles * kAgents);
  for (size_t i = sent.size(); i > 0; --i) port_.Receive(AnswerTo(sent[i - 1]));
  for (size_t i = 0; i < kFiles; ++i) {
    for (uint32_t id = kAgents; id > 0; --id) {
      const FileDriver::Answer answer = files[i].driver.Read(1024);
      ASSERT_EQ(answer.error, Errno::kOk);
      ASSERT_EQ(HeaderIn(answer.data).id, id - 1);
      ASSERT_EQ(TidIn(answer.data),
                testing::HeaderOf(sent[i * kAgents + id - 1].mad).tid);
    }
    ASSERT_EQ(files[i].driver.Read(1024).error, Errno::kTryAgain);
  }
  EXPECT_TRUE(timers_.idle());
}

TEST_F(UmadLimitsTest, ClosingAFileEndsItsSendsAndItsAgents) {
  constexpr uint64_t kSends = 10'000;
  auto file = std::make_unique<UmadFile>(host_, 1);
  FileDriver umad(*file);
  ASSERT_EQ(umad.Open(), Errno::kOk);
  ib_user_mad_reg_req server = Request(kPerformance, kGet);
  ib_user_mad_reg_req sender = Request();
  ASSERT_EQ(Register(umad, server), Errno::kOk);
  ASSERT_EQ(Register(umad, sender), Errno::kOk);
  for (uint64_t tid = 0; tid < kSends; ++tid) {
    ASSERT_EQ(umad.Write(UmadRequest(tid, tid % 2 == 0 ? 0 : 1)), Errno::kOk);
  }
  EXPECT_FALSE(timers_.idle());
  EXPECT_EQ(Register(Request(kPerformance, kGet)), Errno::kInvalid);

  file.reset();
  EXPECT_TRUE(timers_.idle());
  EXPECT_EQ(Register(Request(kPerformance, kGet)), Errno::kOk);
  const std::vector<mad::Outgoing> sent = std::move(port_.sent);
  for (const mad::Outgoing& request : sent) port_.Receive(AnswerTo(request));
  EXPECT_EQ(umad_.Read(1024).error, Errno::kTryAgain);
  EXPECT_TRUE(port_.sent.empty());
}

}  // namespace
}  // namespace ibemu::cuse

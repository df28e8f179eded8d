// What queue pairs count, and the vendor's errors, of each way to fail.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <string_view>
#include <utility>

#include "fabric/soft_hca/hca.h"
#include "fabric/soft_hca/queue_pair.h"
#include "tests/fabric/verbs_pair.h"
#include "verbs/hw_counters.h"

namespace ibemu::fabric {
namespace {

using ::testing::Contains;
using ::testing::Field;
using Counts = std::map<std::string_view, uint64_t>;

// What `a` does to `b`, what each counts of it, and the vendor's error that `a`
// sees; 0: it succeeds.
struct Case {
  const char* name;
  std::function<void(VerbsEnd& a, VerbsEnd& b)> run;
  Counts requester, responder;
  uint32_t vendor_err = 0;
};

const Case kCases[] = {
    {"ReadsAndWrites",
     [](VerbsEnd& a, VerbsEnd& b) {
       EXPECT_TRUE(a.Rdma(IB_UVERBS_WR_RDMA_READ, 0, 8, b, 0).ok());
       EXPECT_TRUE(a.Rdma(IB_UVERBS_WR_RDMA_WRITE, 0, 8, b, 0).ok());
     },
     {},
     {{"rx_read_requests", 1}, {"rx_write_requests", 1}}},
    {"AtomicOperations",
     [](VerbsEnd& a, VerbsEnd& b) { EXPECT_TRUE(a.Add(0, b, 0, 1).ok()); },
     {},
     {{"rx_atomic_requests", 1}}},
    {"AKeyThatIsNone",
     [](VerbsEnd& a, VerbsEnd& b) {
       auto request = a.RdmaRequest(IB_UVERBS_WR_RDMA_WRITE, 0, 8, b, 0);
       request.work.wr.rdma.rkey ^= 0x100;
       EXPECT_TRUE(a.Post(std::move(request)).ok());
     },
     {{"req_cqe_error", 1}, {"req_remote_access_errors", 1}},
     {{"resp_remote_access_errors", 1}},
     0x88},
    {"AReadWithAKeyThatIsNone",
     [](VerbsEnd& a, VerbsEnd& b) {
       auto request = a.RdmaRequest(IB_UVERBS_WR_RDMA_READ, 0, 8, b, 0);
       request.work.wr.rdma.rkey ^= 0x100;
       EXPECT_TRUE(a.Post(std::move(request)).ok());
     },
     {{"req_cqe_error", 1}, {"req_remote_access_errors", 1}},
     {{"resp_remote_access_errors", 1}},
     0x88},
    {"AMessageThatIsTooLong",
     [](VerbsEnd& a, VerbsEnd& b) {
       EXPECT_TRUE(b.Receive(0, 8).ok());
       EXPECT_TRUE(a.Send(0, 9).ok());
     },
     {{"req_cqe_error", 1}, {"req_remote_invalid_request", 1}},
     {{"resp_cqe_error", 1}, {"resp_local_length_error", 1}},
     0x8a},
    {"AReceiveRequestWithAWrongKey",
     [](VerbsEnd& a, VerbsEnd& b) {
       EXPECT_TRUE(b.ReceiveWithAWrongKey(8, 100).ok());
       EXPECT_TRUE(a.Send(0, 8).ok());
     },
     {{"req_cqe_error", 1}},
     {{"resp_cqe_error", 1}},
     0x89},
    {"AWrongKeyOfItsOwn",
     [](VerbsEnd& a, VerbsEnd&) { EXPECT_TRUE(a.SendWithAWrongKey(8).ok()); },
     {{"req_cqe_error", 1}},
     {},
     0x51},
    {"WhatIsFlushed",
     [](VerbsEnd& a, VerbsEnd& b) {
       EXPECT_TRUE(b.Receive(0, 8).ok());
       EXPECT_TRUE(a.Receive(0, 8).ok());
       EXPECT_TRUE(a.SendWithAWrongKey(8).ok());
       EXPECT_TRUE(a.Send(0, 8).ok());
       b.Modify({}, verbs::QpState::kError);
     },
     {{"req_cqe_error", 1},
      {"req_cqe_flush_error", 1},
      {"resp_cqe_flush_error", 1}},
     {{"resp_cqe_flush_error", 1}},
     0x51},
};

class QueuePairCountersTest : public VerbsPair,
                              public ::testing::WithParamInterface<Case> {
 protected:
  // Those of the queue pair at a host that are not 0.
  Counts CountsOf(int host) {
    const verbs::HwCounters counters =
        lab_.fabric.FindHca(lab_.Host(host))->FindQueuePair(2)->counters();
    Counts counts;
    for (const verbs::HwCounterName& one : verbs::kHwCounters) {
      if (counters.*one.counter != 0) counts[one.name] = counters.*one.counter;
    }
    return counts;
  }
};

TEST_P(QueuePairCountersTest, AreThoseOfBothEnds) {
  const Case& one = GetParam();
  Connect(verbs::QpType::kRc);
  one.run(*a_, *b_);
  Settle();
  EXPECT_EQ(CountsOf(1), one.requester);
  EXPECT_EQ(CountsOf(2), one.responder);
  EXPECT_THAT(a_->Poll(), Contains(Field(&verbs::WorkCompletion::vendor_err,
                                         one.vendor_err)));
}

INSTANTIATE_TEST_SUITE_P(All, QueuePairCountersTest,
                         ::testing::ValuesIn(kCases),
                         [](const auto& info) { return info.param.name; });

}  // namespace
}  // namespace ibemu::fabric

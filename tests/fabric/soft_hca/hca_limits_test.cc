// Adapters whose limits a topology lowers.
#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "fabric/soft_hca/hca_attributes.h"
#include "testing/fake_memory.h"
#include "testing/lab.h"

namespace ibemu::fabric {
namespace {

using testing::FakeMemory, testing::Lab, testing::Chain;

constexpr uint64_t kLongestRegion = 100;  // bytes

// Host-1 has two of everything, and two in everything.
topology::Topology Limited() {
  topology::DeviceLimits limits;
  for (const topology::DeviceLimit& limit : topology::kDeviceLimits) {
    limits.*limit.value = 2;
  }
  limits.max_mr_size = kLongestRegion;
  topology::Topology its = Chain(1);
  its.nodes[0].limits = std::make_shared<const topology::DeviceLimits>(limits);
  return its;
}

class HcaLimitsTest : public ::testing::Test, private verbs::CqListener {
 protected:
  absl::StatusOr<std::unique_ptr<verbs::Mr>> Region(uint64_t length) {
    return hca_.CreateMr({.pd = pd_.get(),
                          .memory = memory_,
                          .start = FakeMemory::kStart,
                          .length = length,
                          .address = 0,
                          .access = 0});
  }
  absl::StatusOr<std::unique_ptr<verbs::Cq>> CompletionQueue(uint32_t size) {
    return hca_.CreateCq(size, *this);
  }
  absl::StatusOr<std::unique_ptr<verbs::Srq>> SharedQueue(uint32_t requests,
                                                          uint32_t sges = 1) {
    return hca_.CreateSrq(
        *pd_, {.max_requests = requests, .max_sges = sges, .limit = 0}, *this);
  }
  absl::StatusOr<std::unique_ptr<verbs::Qp>> QueuePair(
      const verbs::QpCapacity& capacity) {
    verbs::QpInit init;
    init.capacity = capacity;
    init.pd = pd_.get();
    init.send_cq = init.receive_cq = cq_.get();
    return hca_.CreateQp(init, *this);
  }
  absl::StatusOr<std::unique_ptr<verbs::Ah>> AddressHandle() {
    verbs::AddressAttributes to{};
    to.dlid = 2;
    to.port_num = 1;
    return hca_.CreateAh(*pd_, to);
  }

  // With as many as there may be, one more is refused until one has gone.
  template <class Make>
  static void ExpectNoMoreThan(size_t most, Make make) {
    std::vector<decltype(make())> all;
    while (all.size() < most) {
      all.push_back(make());
      ASSERT_TRUE(all.back().ok()) << all.back().status();
    }
    EXPECT_EQ(make().status().code(), absl::StatusCode::kResourceExhausted);
    all.pop_back();
    EXPECT_TRUE(make().ok());
  }
  template <class Object>
  static void ExpectTooLarge(const absl::StatusOr<Object>& made) {
    EXPECT_EQ(made.status().code(), absl::StatusCode::kInvalidArgument);
  }

  Lab lab_{Limited(), Lab::kStatically};
  verbs::Provider& hca_ = lab_.Provider(1);
  std::shared_ptr<FakeMemory> memory_ =
      std::make_shared<FakeMemory>(lab_.timers, 4096);
  std::unique_ptr<verbs::Pd> pd_ = hca_.CreatePd(memory_->process()).value();
  std::unique_ptr<verbs::Cq> cq_ = CompletionQueue(1).value();

 private:
  void OnEvent(verbs::AsyncEventType) override {}
  void OnArrival() override {}
  void OnCompletion() override {}
};

TEST_F(HcaLimitsTest, TheLimitsOfTheTopologyAreTheDevices) {
  const verbs::DeviceAttributes low = hca_.QueryDevice();
  EXPECT_EQ(low.max_mr_size, kLongestRegion);
  for (const uint32_t value :
       {low.max_mr, low.max_pd, low.max_ah, low.max_cq, low.max_cqe, low.max_qp,
        low.max_qp_wr, low.max_sge, low.max_sge_rd, low.max_qp_rd_atom,
        low.max_qp_init_rd_atom, low.max_srq, low.max_srq_wr,
        low.max_srq_sge}) {
    EXPECT_EQ(value, 2u);
  }
  EXPECT_EQ(low.max_res_rd_atom, 4u);
  EXPECT_EQ(lab_.Provider(2).QueryDevice().max_qp,
            topology::DeviceLimits().max_qp);
}

TEST_F(HcaLimitsTest, OneObjectMoreThanThereMayBeIsRefused) {
  // The first of two domains and queues is the test's own.
  ExpectNoMoreThan(1, [&] { return hca_.CreatePd(memory_->process()); });
  ExpectNoMoreThan(1, [&] { return CompletionQueue(1); });
  ExpectNoMoreThan(2, [&] { return Region(1); });
  ExpectNoMoreThan(2, [&] { return QueuePair({}); });
  ExpectNoMoreThan(2, [&] { return SharedQueue(1); });
  ExpectNoMoreThan(2, [&] { return AddressHandle(); });
}

TEST_F(HcaLimitsTest, AnObjectThatIsLargerThanItMayBeIsRefused) {
  EXPECT_TRUE(Region(kLongestRegion).ok());
  ExpectTooLarge(Region(kLongestRegion + 1));
  EXPECT_TRUE(CompletionQueue(2).ok());
  ExpectTooLarge(CompletionQueue(3));
  EXPECT_TRUE(SharedQueue(2, 2).ok());
  ExpectTooLarge(SharedQueue(3));
  ExpectTooLarge(SharedQueue(1, 3));
  EXPECT_TRUE(QueuePair({.send_requests = 2,
                         .receive_requests = 2,
                         .send_sges = 2,
                         .receive_sges = 2})
                  .ok());
  ExpectTooLarge(QueuePair({.send_requests = 3}));
  ExpectTooLarge(QueuePair({.receive_requests = 3}));
  ExpectTooLarge(QueuePair({.send_sges = 3}));
  ExpectTooLarge(QueuePair({.receive_sges = 3}));
}

}  // namespace
}  // namespace ibemu::fabric

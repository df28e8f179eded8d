// Messages for which the machine has no memory.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>
#include <utility>

#include "hca/mlx4/core/verbs_attributes.h"
#include "tests/hca/mlx4/verbs_bench.h"

namespace ibemu::hca::mlx4 {
namespace {

namespace status = verbs::wc_status;
using ::testing::Contains, ::testing::ElementsAre, ::testing::HasSubstr,
    ::testing::Pair;

// A machine that has no more memory for its adapter.
class ShortOfMemory : public PciFunction {
 public:
  explicit ShortOfMemory(PciFunction& function) : function_(function) {}

  bool is_short = false;

  uint32_t ReadConfig(size_t offset, size_t size) override {
    return function_.ReadConfig(offset, size);
  }
  void WriteConfig(size_t offset, size_t size, uint32_t value) override {
    function_.WriteConfig(offset, size, value);
  }
  absl::StatusOr<Bar*> OpenBar(int index) override {
    return function_.OpenBar(index);
  }
  absl::StatusOr<std::unique_ptr<DmaMemory>> Allocate(size_t size) override {
    if (is_short) return absl::ResourceExhaustedError("no huge page is free");
    return function_.Allocate(size);
  }
  absl::Status EnableInterrupts(int count) override {
    return function_.EnableInterrupts(count);
  }
  int InterruptFd(int vector) override { return function_.InterruptFd(vector); }

 private:
  PciFunction& function_;
};

class VerbsMemoryTest : public VerbsBench {
 protected:
  VerbsMemoryTest() {
    device_a_.reset();
    auto device = Mlx4Device::Start(function_, timers_, DriverBench::Options());
    if (!device.ok()) throw std::runtime_error("no driver");
    device_a_ = *std::move(device);
    EXPECT_TRUE(fabric::ConfigureStatically(fabric_).ok());
    Run(absl::Milliseconds(10));
  }
  ~VerbsMemoryTest() override {
    a_.reset();
    device_a_.reset();
  }

  ShortOfMemory function_{*host_a_.function};
};

TEST_F(VerbsMemoryTest, FailsASendThatNoMemoryWillComeFor) {
  Connect();
  function_.is_short = true;
  ASSERT_TRUE(b_->Receive(0, 10).ok());
  ASSERT_TRUE(a_->Send(0, 10, 1).ok());
  ASSERT_TRUE(a_->Send(0, 10, 2).ok());
  Run();
  EXPECT_THAT(a_->PollEnds(), ElementsAre(Pair(1u, status::kLocalQpOperation),
                                          Pair(2u, status::kFlushed)));
  EXPECT_THAT(notes_, Contains(HasSubstr("no huge page is free")));
}

TEST_F(VerbsMemoryTest, FailsAReceiveThatNoMemoryWillComeFor) {
  for (const bool shared : {false, true}) {
    Options options;
    options.shared = shared;
    Connect(options, {});
    function_.is_short = true;
    ASSERT_TRUE(a_->Receive(0, 10, 1).ok());
    ASSERT_TRUE(b_->Send(0, 10).ok());
    Run();
    EXPECT_THAT(a_->PollEnds(),
                ElementsAre(Pair(1u, status::kLocalQpOperation)));
    function_.is_short = false;
    a_.reset();
    b_.reset();
  }
  EXPECT_THAT(notes_, ElementsAre(HasSubstr("no huge page is free")));
}

TEST_F(VerbsMemoryTest, WaitsWhileSomeMemoryIsInUse) {
  Connect();
  ASSERT_TRUE(b_->Receive(0, 10, 1).ok());
  ASSERT_TRUE(b_->Receive(0, kMaxMessage, 2).ok());
  ASSERT_TRUE(a_->Send(0, 10, 1).ok());
  function_.is_short = true;
  ASSERT_TRUE(a_->Send(0, kMaxMessage, 2).ok());
  Run(absl::Milliseconds(20));
  EXPECT_THAT(a_->PollEnds(), ElementsAre(Pair(1u, status::kSuccess),
                                          Pair(2u, status::kSuccess)));
}

}  // namespace
}  // namespace ibemu::hca::mlx4

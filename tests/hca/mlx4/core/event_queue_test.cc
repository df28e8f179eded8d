#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>

#include "hca/mlx4/core/mlx4_eq.h"
#include "testing/mlx4_machine.h"

namespace ibemu::hca::mlx4 {
namespace {

using testing::Mlx4Lab, testing::Mlx4Machine;

class EventQueueTest : public Mlx4Lab {
 protected:
  static constexpr int kLogEntries = 7;
  static constexpr auto kType = prm::EqeType::kSrqLimit;

  EventQueueTest() {
    auto adapter = Mlx4Adapter::Start(*host_.function, timers_, Options());
    if (!adapter.ok()) throw std::runtime_error("the driver did not start");
    adapter_ = *std::move(adapter);
    resources_ = std::make_unique<Resources>(*adapter_);
    auto queue = Mlx4Eq::Create(*resources_, kLogEntries, /*vector=*/0);
    if (!queue.ok()) throw std::runtime_error("there is no queue");
    queue_ = *std::move(queue);
    if (!queue_->Subscribe(prm::EventBit(kType)).ok()) {
      throw std::runtime_error("it gets no events");
    }
  }

  Mlx4Machine& host_ = PlugIn();
  std::unique_ptr<Mlx4Adapter> adapter_;
  std::unique_ptr<Resources> resources_;
  std::unique_ptr<Mlx4Eq> queue_;
};

TEST_F(EventQueueTest, HandsOutWhatIsThereAndWhatThatMakesHappen) {
  host_.model.Pretend(kType, 1);
  int heard = 0;
  EXPECT_TRUE(queue_->Poll([&](const prm::Eqe& event) {
    EXPECT_EQ(event.type, kType);
    if (++heard == 1) host_.model.Pretend(kType, 2);
  }));
  EXPECT_EQ(heard, 2);
  EXPECT_TRUE(queue_->Poll([&](const prm::Eqe&) { ++heard; }));
  EXPECT_EQ(heard, 2);
}

TEST_F(EventQueueTest, IsNotReadForEverWhenEachEventMakesAnother) {
  host_.model.Pretend(kType, 1);
  int heard = 0;
  EXPECT_FALSE(queue_->Poll([&](const prm::Eqe&) {
    ++heard;
    host_.model.Pretend(kType, 1);
  }));
  EXPECT_EQ(heard, 1 << kLogEntries);
  EXPECT_TRUE(queue_->Poll([&](const prm::Eqe&) { ++heard; }));
  EXPECT_EQ(heard, (1 << kLogEntries) + 1);
}

}  // namespace
}  // namespace ibemu::hca::mlx4

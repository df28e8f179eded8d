#include "base/deferred_call.h"

#include <functional>
#include <optional>
#include <utility>

#include "gtest/gtest.h"
#include "testing/virtual_timers.h"

namespace ibemu {
namespace {

class DeferredCallTest : public ::testing::Test {
 protected:
  testing::VirtualTimers timers_;
  int calls_ = 0;
  std::function<void()> on_call_ = [] {};  // of the next one
  std::optional<DeferredCall> call_{std::in_place, timers_, [this] {
                                      ++calls_;
                                      std::exchange(on_call_, [] {})();
                                    }};
};

TEST_F(DeferredCallTest, ComesWhenTheHandlerHasReturned) {
  call_->Request();
  EXPECT_EQ(calls_, 0);
  timers_.RunPending();
  EXPECT_EQ(calls_, 1);
}

TEST_F(DeferredCallTest, ComesOnceForAllWhoHaveAsked) {
  call_->Request();
  call_->Request();
  timers_.RunPending();
  EXPECT_EQ(calls_, 1);
  timers_.RunPending();
  EXPECT_EQ(calls_, 1);
}

TEST_F(DeferredCallTest, ComesAgainForWhoAsksMeanwhile) {
  on_call_ = [this] { call_->Request(); };
  call_->Request();
  timers_.RunPending();
  EXPECT_EQ(calls_, 2);
}

TEST_F(DeferredCallTest, DoesNotComeWhenItIsGone) {
  call_->Request();
  call_.reset();
  timers_.RunPending();
  EXPECT_EQ(calls_, 0);
}

TEST_F(DeferredCallTest, MayBeDestroyedByWhatItCalls) {
  on_call_ = [this] { call_.reset(); };
  call_->Request();
  timers_.RunPending();
  EXPECT_EQ(calls_, 1);
  EXPECT_FALSE(call_);
}

}  // namespace
}  // namespace ibemu

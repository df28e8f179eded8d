#include "cuse/rings/ring_set.h"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

namespace ibemu::cuse {
namespace {

constexpr uid_t kRingUser = 1000;

// Rings in which the test puts calls.
class FakeRings final : public RingSet::Rings {
 public:
  bool Drain() override {
    if (calls == 0) return false;
    --calls;
    ++drained;
    return true;
  }
  bool HasCalls() const override { return calls > 0; }
  fast_path::RingControl& control() override { return *control_; }

  bool sleeps() const { return control_->daemon_sleeps.load() != 0; }

  int calls = 0;
  int drained = 0;

 private:
  std::unique_ptr<fast_path::RingControl> control_ =
      std::make_unique<fast_path::RingControl>();
};

class RingSetTest : public ::testing::Test {
 protected:
  RingSetTest() { set_.Add(rings_, {kRingUser, 1, ""}); }
  ~RingSetTest() override { set_.Remove(rings_); }

  FakeRings rings_;
  RingSet set_;
};

TEST_F(RingSetTest, NobodyIsServedBeforeACallCameByTheFile) {
  rings_.calls = 1;
  EXPECT_TRUE(rings_.sleeps());
  EXPECT_FALSE(set_.Look());
  set_.Used(rings_);
  EXPECT_FALSE(rings_.sleeps());
  EXPECT_TRUE(set_.Look());
  EXPECT_EQ(rings_.drained, 1);
  EXPECT_FALSE(set_.Look());
}

TEST_F(RingSetTest, WhoMakesNoCallsIsParkedAndComesByTheFileAgain) {
  set_.Used(rings_);
  int looks = 0;
  while (!rings_.sleeps() && looks < 1000) {
    EXPECT_FALSE(set_.Look());
    ++looks;
  }
  EXPECT_GT(looks, 100);
  EXPECT_LT(looks, 1000);
  rings_.calls = 1;
  EXPECT_FALSE(set_.Look());
  set_.Used(rings_);
  EXPECT_TRUE(set_.Look());
}

TEST_F(RingSetTest, ACallPutsTheParkingOff) {
  set_.Used(rings_);
  for (int round = 0; round < 20; ++round) {
    for (int i = 0; i < 100; ++i) set_.Look();
    EXPECT_FALSE(rings_.sleeps());
    rings_.calls = 1;
    EXPECT_TRUE(set_.Look());
  }
}

// The client has put its call there before it was told, and will not tell.
TEST_F(RingSetTest, ACallThatCameBeforeTheSleepForbidsIt) {
  set_.Used(rings_);
  rings_.calls = 1;
  EXPECT_FALSE(set_.BeforeSleep());
  EXPECT_TRUE(rings_.sleeps());
  set_.AfterSleep();
  EXPECT_FALSE(rings_.sleeps());
  EXPECT_TRUE(set_.Look());
  EXPECT_TRUE(set_.BeforeSleep());
  set_.AfterSleep();
}

TEST_F(RingSetTest, ASleepConcernsOnlyWhoIsServed) {
  FakeRings parked;
  set_.Add(parked, {kRingUser, 1, ""});
  set_.Used(rings_);
  parked.calls = 1;  // its client comes by the file
  EXPECT_TRUE(set_.BeforeSleep());
  set_.AfterSleep();
  EXPECT_TRUE(parked.sleeps());
  set_.Remove(parked);
}

TEST_F(RingSetTest, RingsThatEndAreNotLookedAtAnyMore) {
  FakeRings other;
  set_.Add(other, {kRingUser, 1, ""});
  set_.Used(other);
  set_.Used(rings_);
  other.calls = 1;
  set_.Remove(other);
  EXPECT_TRUE(set_.BeforeSleep());
  set_.AfterSleep();
  EXPECT_FALSE(set_.Look());
  EXPECT_EQ(other.drained, 0);
}

TEST_F(RingSetTest, AUserHasAShareOfThem) {
  std::vector<std::unique_ptr<FakeRings>> many;
  for (size_t i = 1; i < RingSet::kMaxOfUser; ++i) {
    ASSERT_TRUE(set_.HasRoomFor(kRingUser));
    set_.Add(*many.emplace_back(std::make_unique<FakeRings>()),
             {kRingUser, 1, ""});
  }
  EXPECT_FALSE(set_.HasRoomFor(kRingUser));
  EXPECT_TRUE(set_.HasRoomFor(kRingUser + 1));
  set_.Remove(*many.back());
  many.pop_back();
  EXPECT_TRUE(set_.HasRoomFor(kRingUser));
  for (const auto& rings : many) set_.Remove(*rings);
}

TEST_F(RingSetTest, AllUsersTogetherHaveALimit) {
  std::vector<std::unique_ptr<FakeRings>> many;
  for (size_t i = 1; i < RingSet::kMax; ++i) {
    const auto user = static_cast<uid_t>(2000 + i);
    ASSERT_TRUE(set_.HasRoomFor(user));
    set_.Add(*many.emplace_back(std::make_unique<FakeRings>()), {user, 1, ""});
  }
  EXPECT_FALSE(set_.HasRoomFor(5000));
  for (const auto& rings : many) set_.Remove(*rings);
}

TEST_F(RingSetTest, TellsWhichWayTheCallsOfEachClientWent) {
  FakeRings other;
  set_.Add(other, {kRingUser, 77, "umad of node-1, port 1"});
  other.control().sent[size_t(fast_path::Way::kRing)] = 5;
  other.control().received[size_t(fast_path::Way::kPage)] = 6;
  const std::vector<RingSet::Usage> usages = set_.Usages();
  ASSERT_EQ(usages.size(), 2u);
  EXPECT_EQ(usages[1].client.process, 77);
  EXPECT_EQ(usages[1].client.file, "umad of node-1, port 1");
  EXPECT_EQ(usages[1].sent[size_t(fast_path::Way::kRing)], 5u);
  EXPECT_EQ(usages[1].received[size_t(fast_path::Way::kPage)], 6u);
  set_.Remove(other);
  EXPECT_EQ(set_.Usages().size(), 1u);
}

TEST(WakeClientTest, CountsWhatCameAndAnswersOneWait) {
  const auto control = std::make_unique<fast_path::RingControl>();
  control->waiting = 1;
  WakeClient(*control);
  EXPECT_EQ(control->event.load(), 1u);
  EXPECT_EQ(control->waiting.load(), 0u);
  WakeClient(*control);
  EXPECT_EQ(control->event.load(), 2u);
}

}  // namespace
}  // namespace ibemu::cuse

#include "testing/faulty_port.h"

#include "tests/mad/fixture.h"

namespace ibemu::mad {
namespace {

class Listener : public PortListener {
 public:
  void OnReceive(const Arrival& arrival) override {
    tids.push_back(HeaderOf(arrival.mad).tid);
  }
  std::vector<uint64_t> tids;
};

class FaultyPortTest : public ::testing::Test {
 protected:
  void Use(const PortFaults& transmit, const PortFaults& receive = {}) {
    faulty_ = std::make_unique<FaultyPort>(timers_, inner_, transmit, receive,
                                           Random(1));
    faulty_->SetListener(&listener_);
  }
  // Sends MADs with TIDs 1 to `count`.
  void Transmit(uint64_t count) {
    for (uint64_t tid = 1; tid <= count; ++tid) {
      ASSERT_TRUE(faulty_->Transmit({.mad = MakeMad({.tid = tid})}).ok());
    }
  }
  void Receive(uint64_t count) {
    for (uint64_t tid = 1; tid <= count; ++tid) {
      inner_.Receive({.mad = MakeMad({.tid = tid})});
    }
  }
  std::vector<uint64_t> Sent() const {
    std::vector<uint64_t> tids;
    for (const Outgoing& packet : inner_.sent) {
      tids.push_back(HeaderOf(packet.mad).tid);
    }
    return tids;
  }

  ibemu::testing::VirtualTimers timers_;
  FakePort inner_;
  Listener listener_;
  std::unique_ptr<FaultyPort> faulty_;
};

TEST_F(FaultyPortTest, WithoutFaultsEverythingPassesAtOnce) {
  Use({});
  Transmit(3);
  Receive(3);
  EXPECT_THAT(Sent(), ElementsAre(1, 2, 3));
  EXPECT_THAT(listener_.tids, ElementsAre(1, 2, 3));
}

TEST_F(FaultyPortTest, LosesAboutAsManyAsItShould) {
  Use({.loss = 0.25});
  Transmit(10000);
  EXPECT_NEAR(inner_.sent.size(), 7500, 200);
}

TEST_F(FaultyPortTest, TheDirectionsHaveTheirOwnFaults) {
  Use({.loss = 1}, {.duplicate = 1});
  Transmit(2);
  Receive(2);
  EXPECT_THAT(Sent(), IsEmpty());
  EXPECT_THAT(listener_.tids, ElementsAre(1, 1, 2, 2));
}

TEST_F(FaultyPortTest, DelaysByTheDelayAndAtMostTheJitter) {
  Use({.delay = absl::Milliseconds(10), .jitter = absl::Milliseconds(5)});
  Transmit(100);
  timers_.RunFor(absl::Milliseconds(10) - absl::Nanoseconds(1));
  EXPECT_THAT(Sent(), IsEmpty());
  timers_.RunFor(absl::Milliseconds(2));
  const size_t soon = inner_.sent.size();
  EXPECT_GT(soon, 10u);
  EXPECT_LT(soon, 90u);
  timers_.RunFor(absl::Milliseconds(3));
  EXPECT_THAT(Sent(), SizeIs(100));
}

TEST_F(FaultyPortTest, AReorderedPacketLetsTheNextOnePass) {
  Use({.reorder = 1});
  Transmit(4);
  EXPECT_THAT(Sent(), ElementsAre(2, 1, 4, 3));
}

TEST_F(FaultyPortTest, AReorderedPacketWaitsForItsTimeAtMost) {
  Use({.reorder = 1});
  Transmit(1);
  EXPECT_THAT(Sent(), IsEmpty());
  timers_.RunFor(absl::Milliseconds(1));
  EXPECT_THAT(Sent(), ElementsAre(1));
}

TEST_F(FaultyPortTest, WhatIsUnderWayWhenTheFilterEndsIsLost) {
  Use({.reorder = 0.5, .delay = absl::Seconds(1)});
  Transmit(10);
  faulty_.reset();
  EXPECT_TRUE(timers_.idle());
  EXPECT_EQ(inner_.listener, nullptr);
}

TEST_F(FaultyPortTest, QuestionsToThePortPass) {
  Use({.loss = 1});
  inner_.info.lid = wire::Lid{5};
  EXPECT_EQ(faulty_->Info().lid, wire::Lid{5});
  EXPECT_EQ(faulty_->GidAt(0), inner_.gids[0]);
  EXPECT_EQ(faulty_->PKeyAt(0), 0xffff);
  faulty_->SetIsSm(true);
  EXPECT_TRUE(inner_.is_sm);
}

}  // namespace
}  // namespace ibemu::mad

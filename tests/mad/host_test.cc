#include "mad/host.h"

#include "tests/mad/fixture.h"

namespace ibemu::mad {
namespace {

using SmLockPtr = std::unique_ptr<Host::SmLock>;

// [issm_*]
TEST_F(HostTest, TheSmLockSetsIsSmWhileItIsHeld) {
  SmLockPtr lock = host_.TryLockSm(1);
  ASSERT_NE(lock, nullptr);
  EXPECT_TRUE(port_.is_sm);
  EXPECT_FALSE(device_.port(2).is_sm);
  lock.reset();
  EXPECT_FALSE(port_.is_sm);
}

// [issm_*]
TEST_F(HostTest, EachPortHasOneSmLock) {
  SmLockPtr lock = host_.TryLockSm(1);
  EXPECT_EQ(host_.TryLockSm(1), nullptr);
  EXPECT_NE(host_.TryLockSm(2), nullptr);
  lock.reset();
  EXPECT_NE(host_.TryLockSm(1), nullptr);
}

TEST_F(HostTest, AFreeSmLockIsGrantedSoon) {
  SmLockPtr mine;
  auto ticket =
      host_.WaitForSm(1, [&](SmLockPtr lock) { mine = std::move(lock); });
  EXPECT_EQ(mine, nullptr);
  timers_.RunPending();
  EXPECT_NE(mine, nullptr);
  EXPECT_TRUE(port_.is_sm);
}

// [issm_*]
TEST_F(HostTest, TheSmLockGoesDownTheLine) {
  SmLockPtr held = host_.TryLockSm(1);
  std::vector<int> order;
  SmLockPtr granted;
  const auto wait = [&](int who) {
    return host_.WaitForSm(1, [&, who](SmLockPtr lock) {
      order.push_back(who);
      granted = std::move(lock);
    });
  };
  auto first = wait(1);
  auto impatient = wait(2);
  auto third = wait(3);
  impatient.reset();
  timers_.RunPending();
  EXPECT_THAT(order, IsEmpty());

  held.reset();
  EXPECT_EQ(host_.TryLockSm(1), nullptr);  // others were first
  timers_.RunPending();
  EXPECT_THAT(order, ElementsAre(1));
  granted.reset();
  timers_.RunPending();
  EXPECT_THAT(order, ElementsAre(1, 3));
}

TEST_F(HostTest, AGrantMayDestroyItsTicket) {
  std::unique_ptr<Host::SmWait> ticket;
  ticket = host_.WaitForSm(1, [&](SmLockPtr) { ticket.reset(); });
  timers_.RunPending();
  EXPECT_EQ(ticket, nullptr);
  EXPECT_NE(host_.TryLockSm(1), nullptr);
}

TEST_F(HostTest, WatchersHearOfPortEventsAndRemovalOnceEach) {
  int calls = 0;
  auto subscription = host_.Watch([&] { ++calls; });
  device_.Announce(1);
  device_.Announce(2);
  EXPECT_EQ(calls, 0);
  timers_.RunPending();
  EXPECT_EQ(calls, 1);

  device_.Remove();
  timers_.RunPending();
  EXPECT_EQ(calls, 2);
  EXPECT_TRUE(host_.removed());

  subscription.reset();
  device_.Announce(1);
  timers_.RunPending();
  EXPECT_EQ(calls, 2);
}

TEST_F(HostTest, AWatcherMayComeAndGoWhileWatchersAreCalled) {
  std::unique_ptr<Host::Subscription> first, second, third;
  int calls = 0;
  first = host_.Watch([&] {
    first.reset();
    second.reset();
    third = host_.Watch([&] { ++calls; });
  });
  second = host_.Watch([&] { calls += 100; });
  device_.Announce(1);
  timers_.RunPending();
  EXPECT_EQ(calls, 0);
  device_.Announce(1);
  timers_.RunPending();
  EXPECT_EQ(calls, 1);
}

// [removal]
TEST_F(HostTest, AfterRemovalTheSmLockLeavesThePortAlone) {
  SmLockPtr lock = host_.TryLockSm(1);
  device_.Remove();
  lock.reset();
  EXPECT_TRUE(port_.is_sm);
}

TEST_F(HostTest, ARemovedHostLeavesItsPlacesToTheNextOne) {
  FakeDevice device;
  auto old = std::make_unique<Host>(timers_, device);
  SmLockPtr old_lock = old->TryLockSm(1);
  auto agent = old->Register(1, {}, client_);
  ASSERT_TRUE(agent.ok());
  device.Remove();
  EXPECT_EQ(device.listener, nullptr);
  EXPECT_EQ(device.port(1).listener, nullptr);

  device.Add();
  device.port(1).is_sm = false;  // as of a device after power-on
  Host fresh(timers_, device);
  EXPECT_FALSE(fresh.removed());
  EXPECT_TRUE(old->removed());
  const mad::DeviceListener* const listener = device.listener;
  const mad::PortListener* const port_listener = device.port(1).listener;
  EXPECT_NE(listener, nullptr);
  EXPECT_NE(port_listener, nullptr);

  SmLockPtr lock = fresh.TryLockSm(1);
  EXPECT_NE(lock, nullptr) << "its own semaphore";
  old_lock.reset();
  EXPECT_TRUE(device.port(1).is_sm);
  agent->reset();
  old.reset();
  EXPECT_EQ(device.listener, listener);
  EXPECT_EQ(device.port(1).listener, port_listener);
}

TEST_F(HostTest, AnUnboundHostIsGoneForItsUsersAndLeavesTheAdapter) {
  SmLockPtr lock = host_.TryLockSm(1);
  std::unique_ptr<Agent> agent = RegisterSender();
  host_.Unbind();
  EXPECT_TRUE(host_.removed());
  EXPECT_FALSE(port_.is_sm);
  EXPECT_FALSE(
      agent->Send(MessageTo(kPeer, MakeMad(kPerfGet), absl::Seconds(1))).ok());
  EXPECT_THAT(port_.sent, IsEmpty());

  Host next(timers_, device_);
  EXPECT_FALSE(next.removed());
  const SmLockPtr its_lock = next.TryLockSm(1);
  lock.reset();
  EXPECT_TRUE(port_.is_sm);
}

TEST_F(HostTest, TheNextHostCountsItsTidsAnew) {
  const uint32_t first = RegisterSender()->hi_tid();
  device_.Remove();
  device_.Add();
  Host fresh(timers_, device_);
  const auto agent = fresh.Register(1, {}, client_);
  ASSERT_TRUE(agent.ok()) << agent.status();
  EXPECT_EQ((*agent)->hi_tid(), first);
}

// What is under way to the old one is nobody's.
TEST_F(HostTest, AnAnswerToARemovedHostDoesNotReachTheNext) {
  std::unique_ptr<Agent> old = RegisterSender();
  ASSERT_TRUE(
      old->Send(MessageTo(kPeer, MakeMad(kPerfGet), absl::Seconds(1))).ok());
  const Arrival answer = From(kPeer, AnswerToLast());
  device_.Remove();
  device_.Add();
  Host fresh(timers_, device_);
  RecordingClient client;
  const auto agent = fresh.Register(1, {}, client);
  ASSERT_TRUE(agent.ok()) << agent.status();
  port_.Receive(answer);
  timers_.RunFor(absl::Seconds(2));
  EXPECT_THAT(client.inbox, IsEmpty());
  EXPECT_THAT(client_.inbox, IsEmpty());
  EXPECT_THAT(client_.timed_out, IsEmpty());
}

TEST_F(HostTest, WhoWaitsForTheSmLockOfARemovedHostStillGetsIt) {
  SmLockPtr held = host_.TryLockSm(1);
  SmLockPtr granted;
  auto ticket =
      host_.WaitForSm(1, [&](SmLockPtr lock) { granted = std::move(lock); });
  device_.Remove();
  timers_.RunPending();
  EXPECT_EQ(granted, nullptr);
  port_.is_sm = false;
  held.reset();
  timers_.RunPending();
  EXPECT_NE(granted, nullptr);
  EXPECT_FALSE(port_.is_sm) << "not this host's port any more";
}

TEST_F(HostTest, ASwitchHasTheOnePortZero) {
  FakeDevice sw = FakeDevice::Switch();
  Host host(timers_, sw);
  EXPECT_TRUE(host.Register(0, {.qp = 0}, client_).ok());
  EXPECT_FALSE(host.Register(1, {.qp = 0}, client_).ok());
}

TEST_F(HostTest, AHostThatEndsLeavesNoListenerAndNoTask) {
  FakeDevice device;
  {
    Host host(timers_, device);
    auto subscription = host.Watch([] {});
    auto agent = host.Register(1, {}, client_);
    ASSERT_TRUE(agent.ok());
    ASSERT_TRUE((*agent)->Send(MessageTo(kPeer, MakeMad(kPerfGet))).ok());
    device.Announce(1);
  }
  timers_.RunPending();
  EXPECT_EQ(device.listener, nullptr);
  EXPECT_EQ(device.port(1).listener, nullptr);
  EXPECT_THAT(client_.done, IsEmpty());
}

}  // namespace
}  // namespace ibemu::mad

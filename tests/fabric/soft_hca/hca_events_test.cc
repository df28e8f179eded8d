#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "fabric/soft_hca/hca.h"
#include "tests/fabric/verbs_pair.h"
#include "verbs/wc_status.h"

namespace ibemu::fabric {
namespace {

using ::testing::ElementsAre, ::testing::IsEmpty;
using verbs::AsyncEventType;

class HcaEventsTest : public VerbsPair, private verbs::AsyncEventListener {
 protected:
  using Heard = std::vector<std::pair<AsyncEventType, int>>;

  HcaEventsTest() {
    Connect(verbs::QpType::kRc);
    a_->provider.AddListener(*this);
  }
  ~HcaEventsTest() override { a_->provider.RemoveListener(*this); }

  Heard Take() {
    lab_.timers.RunPending();
    return std::exchange(heard_, {});
  }
  // Host 1's port, as the subnet manager's words change it.
  template <class Change>
  Heard After(Change change) {
    Subnet& subnet = lab_.subnet();
    const PortId id = subnet.port_id(subnet.node(lab_.Host(1)), 1);
    change(subnet.port(id));
    static_cast<Hca&>(a_->provider).OnPortChange(id);
    return Take();
  }

 private:
  void OnDeviceEvent(AsyncEventType type, int port) override {
    heard_.emplace_back(type, port);
  }
  Heard heard_;
};

TEST_F(HcaEventsTest, ALinkThatComesBackIsAnEventWhenItIsActive) {
  // A subnet manager's, who takes its time.
  lab_.PortOf("sw1", 0).info.master_sm_lid = wire::Lid{1};
  lab_.SetLink(lab_.Host(1), 1, false);
  EXPECT_THAT(Take(), ElementsAre(std::pair(AsyncEventType::kPortError, 1)));
  lab_.SetLink(lab_.Host(1), 1, true);
  EXPECT_THAT(Take(), IsEmpty()) << "nobody made it ACTIVE yet";
  lab_.Activate();
  EXPECT_THAT(Take(), ElementsAre(std::pair(AsyncEventType::kPortActive, 1)));
}

TEST_F(HcaEventsTest, WhatTheSubnetManagerSets) {
  EXPECT_THAT(After([](NodePort& port) { port.info.lid = wire::Lid{9}; }),
              ElementsAre(std::pair(AsyncEventType::kLidChange, 1)));
  EXPECT_THAT(
      After([](NodePort& port) { port.info.master_sm_lid = wire::Lid{5}; }),
      ElementsAre(std::pair(AsyncEventType::kSmChange, 1)));
  EXPECT_THAT(After([](NodePort& port) { port.SetPKey(3, 0x8001); }),
              ElementsAre(std::pair(AsyncEventType::kPKeyChange, 1)));
  EXPECT_THAT(After([](NodePort& port) { port.SetGuid(2, 0x77); }),
              ElementsAre(std::pair(AsyncEventType::kGidChange, 1)));
  EXPECT_THAT(After([](NodePort& port) { port.info.gid_prefix = 0x1234; }),
              ElementsAre(std::pair(AsyncEventType::kGidChange, 1)));
  EXPECT_THAT(After([](NodePort& port) { port.info.subnet_timeout = 7; }),
              IsEmpty());
}

TEST_F(HcaEventsTest, ASubnetManagerThatAsksToRegisterAgain) {
  Subnet& subnet = lab_.subnet();
  static_cast<Hca&>(a_->provider)
      .OnClientReregister(subnet.port_id(subnet.node(lab_.Host(1)), 1));
  EXPECT_THAT(Take(),
              ElementsAre(std::pair(AsyncEventType::kClientReregister, 1)));
}

TEST_F(HcaEventsTest, AnAdapterThatIsPluggedInIsAnotherOne) {
  ASSERT_TRUE(lab_.fabric.RemoveDevice(lab_.Host(1)).ok());
  EXPECT_THAT(Take(), ElementsAre(std::pair(AsyncEventType::kDeviceFatal, 0)));
  ASSERT_TRUE(lab_.fabric.AddDevice(lab_.Host(1)).ok());
  lab_.Configure();
  EXPECT_THAT(Take(), IsEmpty());
  EXPECT_NE(&lab_.Provider(1), &a_->provider);
}

TEST_F(HcaEventsTest, ARemovedAdapterLeavesThePlaceToTheNext) {
  ASSERT_TRUE(lab_.fabric.RemoveDevice(lab_.Host(1)).ok());
  ASSERT_TRUE(lab_.fabric.AddDevice(lab_.Host(1)).ok());
  lab_.Configure();
  const auto next = End(lab_.Host(1), verbs::QpType::kRc);
  const auto peer = End(lab_.Host(2), verbs::QpType::kRc);
  VerbsEnd::Join(*next, *peer);
  a_->qp.reset();
  ASSERT_TRUE(peer->Receive(0, 10).ok());
  ASSERT_TRUE(next->Send(0, 10).ok());
  Settle();
  EXPECT_THAT(next->PollStatuses(), ElementsAre(verbs::wc_status::kSuccess));
}

}  // namespace
}  // namespace ibemu::fabric

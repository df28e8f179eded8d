// Hosts on virtual switches of Ethernet, on a managed subnet.
#include "ipoib/ethernet/switch_port.h"

#include <gmock/gmock.h>

#include <memory>
#include <string>
#include <vector>

#include "fabric/soft_hca/hca.h"
#include "ipoib/ethernet/switch_group.h"
#include "mad/host.h"
#include "mad/sa/multicast_members.h"
#include "mad/sa/sa_client.h"
#include "testing/lab.h"

namespace ibemu::ipoib {
namespace {

using ::testing::ElementsAre, ::testing::IsEmpty, ::testing::Not,
    ::testing::SizeIs;
using Frame = std::vector<std::byte>;

constexpr MacAddress kEverybody{0xff, 0xff, 0xff, 0xff, 0xff, 0xff};

// A host with a kernel's device, which keeps what it receives.
struct SwitchHost final : private SwitchPort::Device {
  SwitchHost(testing::Lab& lab, int number, const std::string& name = "blue")
      : provider(lab.Provider(number)),
        host(lab.timers, lab.fabric.device(lab.Host(number))),
        sa(lab.timers, host, 1),
        members(lab.timers, provider, 1, sa),
        port({lab.timers, host, 1, provider, members}, name, *this) {}

  verbs::Provider& provider;
  mad::Host host;
  mad::SaClient sa;
  mad::MulticastMembers members;
  std::vector<Frame> received;
  int link_changes = 0;
  SwitchPort port;

 private:
  void Receive(std::span<const std::byte> frame) override {
    received.emplace_back(frame.begin(), frame.end());
  }
  void OnLinkChange() override { ++link_changes; }
  void OnRoom() override {}
};

class SwitchPortTest : public ::testing::Test {
 protected:
  SwitchPortTest() { Settle(); }

  void Settle() { lab_.timers.RunFor(absl::Seconds(1)); }

  static Frame To(const MacAddress& destination, const MacAddress& source,
                  size_t payload = 46) {
    Frame frame;
    wire::Append(EthernetHeader{destination, source, EtherType::kIpv4}, frame);
    frame.resize(frame.size() + payload, std::byte{0x5a});
    return frame;
  }
  Frame Send(SwitchHost& from, const MacAddress& to) {
    const Frame frame = To(to, from.port.mac());
    from.port.Send(frame);
    Settle();
    return frame;
  }

  testing::Lab lab_{"single-switch:hosts=3", testing::Lab::kByItsManager};
  SwitchHost one_{lab_, 1};
  std::unique_ptr<SwitchHost> two_ = std::make_unique<SwitchHost>(lab_, 2);
  SwitchHost three_{lab_, 3};
};

TEST(SwitchGroupTest, HasTheNameInItsMgid) {
  const wire::Gid gid = SwitchGid("blue", 0xffff);
  EXPECT_EQ(gid.prefix, 0xff12'4554'ffff'626cu);
  EXPECT_EQ(gid.interface_id, 0x7565'0000'0000'0000u);
  EXPECT_NE(SwitchGid("blue", 0x8001), gid);
  EXPECT_EQ(SwitchGid("0123456789", 0xffff).interface_id,
            0x3233'3435'3637'3839u);
}

TEST_F(SwitchPortTest, IsUpOnceItIsAMemberOfTheGroup) {
  EXPECT_TRUE(one_.port.up());
  EXPECT_GE(one_.link_changes, 1);
  EXPECT_NE(one_.port.mac(), two_->port.mac());
  EXPECT_FALSE(IsGroup(one_.port.mac()));
}

TEST_F(SwitchPortTest, WhatIsForEverybodyReachesAllOthersAsItIs) {
  const Frame sent = Send(one_, kEverybody);
  EXPECT_THAT(two_->received, ElementsAre(sent));
  EXPECT_THAT(three_.received, ElementsAre(sent));
  EXPECT_THAT(one_.received, IsEmpty());
  EXPECT_EQ(one_.port.flooded(), 1u);
}

TEST_F(SwitchPortTest, WhatIsForAStationThatWasHeardOfReachesItAlone) {
  Send(*two_, kEverybody);
  three_.received.clear();
  const Frame sent = Send(one_, two_->port.mac());
  EXPECT_THAT(two_->received, ElementsAre(sent));
  EXPECT_THAT(three_.received, IsEmpty());
  EXPECT_EQ(one_.port.flooded(), 0u);
  EXPECT_EQ(one_.port.counters().sent_bytes, sent.size());
  EXPECT_EQ(two_->port.counters().received_bytes, sent.size());
}

TEST_F(SwitchPortTest, WhatIsForOneThatWasNotReachesAll) {
  Send(one_, {2, 1, 2, 3, 4, 5});
  EXPECT_THAT(two_->received, SizeIs(1));
  EXPECT_THAT(three_.received, SizeIs(1)) << "its kernel drops it";
}

// A bridge in a run: stations behind it are behind its port.
TEST_F(SwitchPortTest, StationsBehindAPortAreLearntToo) {
  const MacAddress behind{2, 1, 2, 3, 4, 5};
  two_->port.Send(To(kEverybody, behind));
  Settle();
  three_.received.clear();
  Send(one_, behind);
  EXPECT_THAT(two_->received, SizeIs(1));
  EXPECT_THAT(three_.received, IsEmpty());
}

TEST_F(SwitchPortTest, SwitchesOfOtherNamesHearNothing) {
  two_.reset();
  two_ = std::make_unique<SwitchHost>(lab_, 2, "red");
  Settle();
  ASSERT_TRUE(two_->port.up());
  Send(one_, kEverybody);
  EXPECT_THAT(two_->received, IsEmpty());
  EXPECT_THAT(three_.received, SizeIs(1));
}

TEST_F(SwitchPortTest, FramesAreAsLongAsTheMtuAllows) {
  constexpr size_t kTag = 4;  // of a VLAN
  one_.port.Send(To(kEverybody, one_.port.mac(), SwitchPort::kMtu + kTag));
  one_.port.Send(To(kEverybody, one_.port.mac(), SwitchPort::kMtu + kTag + 1));
  one_.port.Send(Frame(13));
  Settle();
  EXPECT_THAT(two_->received, ElementsAre(SizeIs(SwitchPort::kLongestFrame)));
  EXPECT_EQ(one_.port.counters().dropped, 2u);
}

TEST_F(SwitchPortTest, AFrameInTheNameOfAGroupIsDropped) {
  one_.port.Send(To(kEverybody, kEverybody));
  Settle();
  EXPECT_THAT(two_->received, IsEmpty());
  EXPECT_FALSE(two_->port.stations().stations().contains(kEverybody));
}

// As examples of packet sockets do.
TEST_F(SwitchPortTest, ProgramsMayUseTheEtherTypeForExperiments) {
  Frame frame;
  wire::Append(
      EthernetHeader{kEverybody, one_.port.mac(), EtherType::kExperiment},
      frame);
  frame.resize(60);
  one_.port.Send(frame);
  Settle();
  EXPECT_THAT(two_->received, ElementsAre(frame));
}

TEST_F(SwitchPortTest, ACutLinkTakesTheCarrierAwayAndWhatWasLearnt) {
  Send(*two_, kEverybody);
  ASSERT_THAT(one_.port.stations().stations(), Not(IsEmpty()));
  lab_.SetLink(lab_.Host(1), 1, false);
  Settle();
  EXPECT_FALSE(one_.port.up());
  EXPECT_THAT(one_.port.stations().stations(), IsEmpty());
  Send(one_, kEverybody);
  EXPECT_EQ(one_.port.counters().dropped, 1u);
  lab_.SetLink(lab_.Host(1), 1, true);
  lab_.timers.RunFor(absl::Seconds(20));
  EXPECT_TRUE(one_.port.up());
  two_->received.clear();
  Send(one_, kEverybody);
  EXPECT_THAT(two_->received, SizeIs(1));
}

// Its queue pair is another one then, and it says so before its kernel does.
TEST_F(SwitchPortTest, AHostThatHasComeAnewIsLearntAnew) {
  Send(*two_, kEverybody);
  const MacAddress mac = two_->port.mac();
  two_.reset();
  two_ = std::make_unique<SwitchHost>(lab_, 2);
  Settle();
  three_.received.clear();
  Send(one_, mac);
  EXPECT_THAT(two_->received, SizeIs(1));
  EXPECT_THAT(three_.received, IsEmpty()) << "what it said is for ports alone";
}

TEST_F(SwitchPortTest, ASilentHostIsReachedAfterItsLinkWasCut) {
  Send(*two_, kEverybody);
  lab_.SetLink(lab_.Host(2), 1, false);
  Settle();
  lab_.SetLink(lab_.Host(2), 1, true);
  lab_.timers.RunFor(absl::Seconds(20));
  ASSERT_TRUE(two_->port.up());
  two_->received.clear();
  Send(one_, two_->port.mac());
  EXPECT_THAT(two_->received, SizeIs(1));
}

}  // namespace
}  // namespace ibemu::ipoib

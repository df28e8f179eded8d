// Two joined hosts that send packets to each other by leases: LeaseTable in the
// daemon that has the subnet, HostLeases in theirs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "daemon/remote_node/fabric_cable.h"
#include "daemon/remote_node/joined_host.h"
#include "daemon/remote_node/leases/host_leases.h"
#include "daemon/remote_node/leases/lease_table.h"
#include "daemon/remote_node/node_link_host.h"
#include "daemon/remote_node/remote_cable.h"
#include "fabric/forwarding/forwarder.h"
#include "fabric/forwarding/packet_tap.h"
#include "launch/pass_descriptor.h"
#include "testing/lab.h"
#include "testing/socket_pair.h"
#include "testing/verbs_end.h"
#include "tests/daemon/virtual_loop.h"

namespace ibemu::daemon {
namespace {

using testing::Chain, testing::VerbsEnd;
using ::testing::Each, ::testing::ElementsAre, ::testing::IsEmpty,
    ::testing::SizeIs;
using topology::NodeId;

struct Tap final : fabric::PacketTap {
  void OnCrossing(fabric::PortId, fabric::PortId, uint8_t,
                  const fabric::Packet& packet) override {
    if (packet.transport != nullptr) ++packets;
  }
  int packets = 0;
};

// The daemons of two hosts find each other here, by their tokens.
class Meeting {
 public:
  HostLeases::Meet Through(Loop& loop) {
    return
        [this, &loop](const NodeLinkLease& lease, const std::string& address,
                      absl::AnyInvocable<void()> ready, HostLeases::Met met) {
          addresses.push_back(address);
          loop.RunSoon([this, token = lease.token, ready = std::move(ready),
                        met = std::move(met)]() mutable {
            if (fails) return met(absl::UnavailableError("a firewall"));
            ready();
            if (waits) {
              late_.emplace_back(token, std::move(met));
              return;
            }
            Find(token, std::move(met));
          });
        };
  }
  // Those who had to wait meet now.
  void GoOn() {
    waits = false;
    for (auto& [token, met] : late_) Find(token, std::move(met));
    late_.clear();
  }

  bool fails = false;
  bool waits = false;
  std::vector<std::string> addresses;

 private:
  void Find(const Secret& token, HostLeases::Met met) {
    auto other = waiting_.extract(token);
    if (other.empty()) {
      waiting_.emplace(token, std::move(met));
      return;
    }
    auto [one, another] = testing::SocketPair();
    other.mapped()(std::move(one));
    met(std::move(another));
  }

  std::map<Secret, HostLeases::Met> waiting_;
  std::vector<std::pair<Secret, HostLeases::Met>> late_;
};

// A daemon that has joined one host of the lab.
struct Joined {
  Joined(testing::Lab& lab, VirtualLoop& head, LeaseTable* leases,
         VirtualLoop& loop, Meeting& meeting, NodeId node, std::string address)
      : fabric(Chain(0), lab.timers, {}) {
    auto [near, far] = testing::SocketPair();
    auto cables = FabricCables::Plug(lab.fabric, node);
    EXPECT_TRUE(cables.ok()) << cables.status();
    there = std::make_unique<NodeLinkHost>(head, *std::move(cables),
                                           std::move(far));
    there->ServeDaemon();
    if (leases != nullptr) {
      there->TakeLeases(*leases, {.address = std::move(address)});
    }
    EXPECT_TRUE(there->Start().ok());
    UniqueFd hosts_line;
    std::tie(line, hosts_line) = testing::SocketPair();
    auto remote =
        RemoteCables::Adopt(std::move(near), absl::InfiniteDuration(),
                            RemoteCables::Side::kDaemon, std::move(hosts_line));
    EXPECT_TRUE(remote.ok()) << remote.status();
    here = std::make_unique<JoinedHost>(
        loop, fabric, NodeId{0}, NodeId{1},
        JoinedHost::Ways{
            [](auto done) { done(absl::UnavailableError("gone")); },
            meeting.Through(loop),
            {}},
        *std::move(remote));
    EXPECT_TRUE(here->Start().ok());
  }

  // Packets go by these sockets, of the host and of the daemon that has the
  // subnet, where there are any.
  void ConnectPackets(const UniqueFd& hosts, UniqueFd subnets) {
    if (hosts.valid()) {
      ASSERT_TRUE(launch::SendDescriptor(line.get(), hosts.get()).ok());
    }
    if (subnets.valid()) {
      ASSERT_TRUE(there->ConnectPackets(std::move(subnets)).ok());
    }
  }

  fabric::Fabric fabric;
  UniqueFd line;  // by which the host gets its packets' connection
  std::unique_ptr<NodeLinkHost> there;
  std::unique_ptr<JoinedHost> here;
};

// host-1 - sw1 - sw2 - host-2: each host is another daemon's.  `head_` is the
// loop of the daemon that has the subnet, `hosts_` that of the two.
class LeasesTest : public ::testing::Test {
 protected:
  void Join(bool with_leases = true, std::string first = "",
            std::string second = "") {
    LeaseTable* const table = with_leases ? &table_ : nullptr;
    for (auto& [joined, host, address] :
         {std::tie(one_, kOne, first), std::tie(two_, kTwo, second)}) {
      joined = std::make_unique<Joined>(lab_, head_, table, hosts_, meeting_,
                                        lab_.Host(host), address);
    }
    for (const auto& joined : {std::ref(one_), std::ref(two_)}) {
      if (!has_packet_connections_) continue;
      auto [near, far] = testing::SocketPair();
      joined.get()->ConnectPackets(near, std::move(far));
    }
    Settle();
    EXPECT_EQ(one_->there->has_packet_connection(), has_packet_connections_);
    for (auto& [end, joined] : {std::tie(a_, one_), std::tie(b_, two_)}) {
      end = std::make_unique<VerbsEnd>(
          lab_.timers, joined->fabric.provider(NodeId{0}),
          VerbsEnd::Options{.type = type_, .rights = VerbsEnd::kAllRights});
    }
    VerbsEnd::Join(*a_, *b_);
  }
  ~LeasesTest() override {
    a_.reset();
    b_.reset();
  }

  void Settle() {
    for (int turn = 0; turn < 40; ++turn) {
      head_.Poll();
      hosts_.Poll();
    }
  }
  // Without the daemon that has the subnet.
  void SettleHosts() {
    for (int turn = 0; turn < 40; ++turn) hosts_.Poll();
  }

  // Each sends the other so many messages, one after the other.
  void Talk(int messages) {
    for (int i = 0; i < messages; ++i) {
      for (auto& [from, to] : {std::tie(a_, b_), std::tie(b_, a_)}) {
        Say(*from, *to);
      }
    }
  }
  void Say(VerbsEnd& from, VerbsEnd& to) {
    const std::string text = testing::Pattern(kSize);
    from.memory->Put(0, text);
    to.memory->Put(kSize, std::string(kSize, ' '));
    ASSERT_TRUE(to.Receive(kSize, kSize).ok());
    ASSERT_TRUE(from.Send(0, kSize).ok());
    Settle();
    EXPECT_EQ(to.memory->Text(kSize, kSize), text);
    EXPECT_THAT(from.PollStatuses(), ElementsAre(0u));
    EXPECT_THAT(to.PollStatuses(), ElementsAre(0u));
  }

  // What each port has counted, once the hosts have told.
  std::vector<uint64_t> Counters() {
    lab_.timers.RunFor(LeasedSender::kReportAfter);
    Settle();
    std::vector<uint64_t> all;
    for (const fabric::NodePort& port : lab_.subnet().ports()) {
      const fabric::TrafficCounters& traffic = port.traffic;
      all.insert(all.end(), {traffic.xmit_data, traffic.rcv_data,
                             traffic.xmit_packets, traffic.rcv_packets});
    }
    return all;
  }
  std::vector<size_t> Leases() const {
    return {one_->there->leases(), two_->there->leases()};
  }

  static constexpr size_t kSize = 5000;  // of five packets
  static constexpr int kMessages = 2 * LeaseTable::kFirstPackets;
  static constexpr int kOne = 1, kTwo = 2;

  testing::Lab lab_{Chain(2), testing::Lab::kStatically};
  VirtualLoop head_{lab_.timers}, hosts_{lab_.timers};
  uint8_t drawn_ = 0;
  LeaseTable table_{lab_.timers, lab_.fabric,
                    [this] { return Secret{std::byte{++drawn_}}; }};
  Meeting meeting_;
  bool has_packet_connections_ = false;
  verbs::QpType type_ = verbs::QpType::kRc;
  std::unique_ptr<Joined> one_, two_;
  std::unique_ptr<VerbsEnd> a_, b_;
};

// The packets before a lease go by the node links, or by connections of their
// own.
class LeasesOfHostsTest : public LeasesTest,
                          public ::testing::WithParamInterface<bool> {
 protected:
  LeasesOfHostsTest() { has_packet_connections_ = GetParam(); }
};
INSTANTIATE_TEST_SUITE_P(All, LeasesOfHostsTest, ::testing::Bool());

TEST_P(LeasesOfHostsTest, AfterSomePacketsTheyGoFromHostToHost) {
  Join();
  Say(*a_, *b_);
  EXPECT_THAT(Leases(), Each(0));
  Talk(kMessages);
  EXPECT_THAT(Leases(), Each(1));
  // The subnet's daemon hears and says nothing now.
  const std::string text = testing::Pattern(kSize);
  a_->memory->Put(0, text);
  ASSERT_TRUE(b_->Receive(kSize, kSize).ok());
  ASSERT_TRUE(a_->Send(0, kSize).ok());
  SettleHosts();
  EXPECT_EQ(b_->memory->Text(kSize, kSize), text);
  EXPECT_THAT(a_->PollStatuses(), ElementsAre(0u));
}

TEST_P(LeasesOfHostsTest, PortsOnThePathCountWhatTheyWouldHaveSeen) {
  Join();
  const std::vector<uint64_t> before = Counters();
  Talk(kMessages);
  ASSERT_THAT(Leases(), Each(1));
  const std::vector<uint64_t> with = Counters();
  a_.reset();
  b_.reset();
  one_.reset();
  two_.reset();
  Join(false);
  const std::vector<uint64_t> between = Counters();
  Talk(kMessages);
  ASSERT_THAT(Leases(), Each(0));
  const std::vector<uint64_t> without = Counters();
  for (size_t i = 0; i < with.size(); ++i) {
    EXPECT_EQ(with[i] - before[i], without[i] - between[i]) << i;
  }
  EXPECT_NE(without, between);
}

TEST_P(LeasesOfHostsTest, AFaultOnThePathEndsThem) {
  Join();
  Talk(kMessages);
  ASSERT_THAT(Leases(), Each(1));
  lab_.AddFault(lab_.Switch(1), 2, fabric::Fabric::Direction::kTransmit,
                {.loss = 1});
  Settle();
  EXPECT_THAT(Leases(), ElementsAre(0, 1)) << "the other way has no fault";
  const uint64_t dropped = lab_.fabric.totals().dropped;
  ASSERT_TRUE(b_->Receive(kSize, kSize).ok());
  ASSERT_TRUE(a_->Send(0, kSize).ok());
  Settle();
  EXPECT_THAT(b_->PollStatuses(), IsEmpty());
  EXPECT_GT(lab_.fabric.totals().dropped, dropped);
}

TEST_P(LeasesOfHostsTest, ATapSeesAllThatIsSentFromThenOn) {
  Join();
  Talk(kMessages);
  ASSERT_THAT(Leases(), Each(1));
  Tap tap;
  lab_.fabric.forwarder().AddTap(tap);
  Settle();
  EXPECT_THAT(Leases(), Each(0));
  Talk(kMessages);
  EXPECT_THAT(Leases(), Each(0));
  // Five packets and an acknowledgement of each message, on three links.
  EXPECT_EQ(tap.packets, 2 * kMessages * 6 * 3);
  lab_.fabric.forwarder().RemoveTap(tap);
}

TEST_P(LeasesOfHostsTest, ACutEndsThemAndAnotherRouteBeginsThemAnew) {
  Join();
  Talk(kMessages);
  ASSERT_THAT(Leases(), Each(1));
  lab_.SetLink(lab_.Switch(1), 2, false);
  Settle();
  EXPECT_THAT(Leases(), Each(0));
  lab_.SetLink(lab_.Switch(1), 2, true);
  Settle();
  Talk(LeaseTable::kMorePackets);
  EXPECT_THAT(Leases(), Each(1));
}

TEST_P(LeasesOfHostsTest, ATableThatChangesEndsThemWhenSomethingWasSent) {
  Join();
  Talk(kMessages);
  lab_.subnet()
      .node(lab_.Switch(1))
      .sw->linear.Set(lab_.LidOf("host-2"), fabric::LinearTable::kNoPort);
  Counters();
  EXPECT_THAT(Leases(), ElementsAre(0, 1));
}

TEST_P(LeasesOfHostsTest, WhatWasSentBeforeArrivesBefore) {
  type_ = verbs::QpType::kUc;  // nobody asks for anything again
  Join();
  constexpr int kAll = 40;
  for (int i = 0; i < kAll; ++i) {
    a_->memory->Put(static_cast<size_t>(i), std::string(1, char('A' + i)));
    ASSERT_TRUE(b_->Receive(1000 + static_cast<size_t>(i), 1).ok());
    ASSERT_TRUE(a_->Send(static_cast<size_t>(i), 1).ok());
    // The daemon that has the subnet is slower than the hosts.
    hosts_.Poll();
    if (i % 5 == 4) head_.Poll();
    hosts_.Poll();
  }
  Settle();
  EXPECT_THAT(Leases(), ElementsAre(1, 0));
  for (int i = 0; i < kAll; ++i) {
    EXPECT_EQ(b_->memory->Text(1000 + static_cast<size_t>(i), 1),
              std::string(1, char('A' + i)));
  }
  EXPECT_THAT(b_->PollStatuses(), SizeIs(kAll));
}

TEST_P(LeasesOfHostsTest, HostsThatCantMeetGoOnThroughTheSubnet) {
  meeting_.fails = true;
  Join();
  Talk(kMessages);
  EXPECT_THAT(Leases(), Each(0));
  EXPECT_THAT(meeting_.addresses, SizeIs(2)) << "not for each packet";
  Talk(LeaseTable::kMorePackets / 4);
  EXPECT_THAT(meeting_.addresses, SizeIs(4));
  Talk(LeaseTable::kMorePackets / 8);
  EXPECT_THAT(meeting_.addresses, SizeIs(4)) << "and ever more seldom";
}

TEST_P(LeasesOfHostsTest, LongMessagesArriveWhole) {
  Join();
  Talk(kMessages);
  ASSERT_THAT(Leases(), Each(1));
  constexpr size_t kLong = 700'001;  // of many packets, and not of whole ones
  const std::string text = testing::Pattern(kLong);
  a_->memory->Put(0, text);
  ASSERT_TRUE(b_->Receive(0, kLong).ok());
  ASSERT_TRUE(a_->Send(0, kLong).ok());
  ASSERT_TRUE(a_->Rdma(IB_UVERBS_WR_RDMA_WRITE, 0, kLong, *b_, 2 * kLong).ok());
  ASSERT_TRUE(
      a_->Rdma(IB_UVERBS_WR_RDMA_READ, 3 * kLong, kLong, *b_, 2 * kLong).ok());
  SettleHosts();
  EXPECT_EQ(b_->memory->Text(0, kLong), text);
  EXPECT_EQ(b_->memory->Text(2 * kLong, kLong), text);
  EXPECT_EQ(a_->memory->Text(3 * kLong, kLong), text);
  EXPECT_THAT(a_->PollStatuses(), ElementsAre(0u, 0u, 0u));
}

TEST_P(LeasesOfHostsTest, WhatWasSentByALeaseThatEndsAtOnceArrives) {
  type_ = verbs::QpType::kUc;
  Join();
  for (uint32_t i = 0; i < LeaseTable::kFirstPackets; ++i) {
    ASSERT_TRUE(b_->Receive(0, 1).ok());
    ASSERT_TRUE(a_->Send(0, 1).ok());
    Settle();
  }
  ASSERT_THAT(Leases(), ElementsAre(1, 0));
  b_->PollStatuses();
  // What b's daemon is told of the lease waits until it has ended.
  ASSERT_TRUE(b_->Receive(0, 1).ok());
  ASSERT_TRUE(a_->Send(0, 1).ok());
  hosts_.Poll();
  Tap tap;
  lab_.fabric.forwarder().AddTap(tap);
  Settle();
  EXPECT_THAT(Leases(), Each(0));
  EXPECT_THAT(b_->PollStatuses(), ElementsAre(0u));
  EXPECT_EQ(tap.packets, 0) << "it went by the lease";
  lab_.fabric.forwarder().RemoveTap(tap);
}

TEST_P(LeasesOfHostsTest, ALeaseThatNobodyUsesEnds) {
  Join();
  Talk(kMessages);
  ASSERT_THAT(Leases(), Each(1));
  lab_.timers.RunFor(LeaseTable::kIdle / 2);
  Talk(1);
  lab_.timers.RunFor(LeaseTable::kIdle);
  Settle();
  EXPECT_THAT(Leases(), Each(1)) << "it was used within that time";
  lab_.timers.RunFor(2 * LeaseTable::kIdle);
  Settle();
  EXPECT_THAT(Leases(), Each(0));
}

TEST_P(LeasesOfHostsTest, WhoSendsIsToldTheAddressOfWhoReceives) {
  Join(true, "10.0.0.1:100", "10.0.0.2:200");
  Talk(kMessages);
  EXPECT_THAT(Leases(), Each(1));
  std::ranges::sort(meeting_.addresses);
  EXPECT_THAT(meeting_.addresses,
              ElementsAre("", "", "10.0.0.1:100", "10.0.0.2:200"));
}

TEST_P(LeasesOfHostsTest, AHostThatIsKnownByLocalhostIsReachedFromThereAlone) {
  Join(true, "10.0.0.1:100", "127.0.0.1:200");
  Talk(kMessages);
  EXPECT_THAT(Leases(), ElementsAre(0, 1));
}

TEST_P(LeasesOfHostsTest, OneOfThisMachineAndOneOfAnotherGetNone) {
  Join(true, "", "10.0.0.2:200");
  Talk(kMessages);
  EXPECT_THAT(Leases(), Each(0));
}

TEST_P(LeasesOfHostsTest, AHostThatIsGoneHasNone) {
  Join();
  Talk(kMessages);
  two_->there.reset();
  Settle();
  EXPECT_EQ(one_->there->leases(), 0u);
  const uint64_t sent = lab_.fabric.totals().sent;
  ASSERT_TRUE(a_->Send(0, kSize).ok());
  Settle();
  EXPECT_GT(lab_.fabric.totals().sent, sent) << "through the subnet again";
}

// Packets to b, of which the first are enough for a lease, and go by the node
// links; what goes by the connections of packets that come then arrives
// nowhere.
class LostWordOfALeaseTest : public LeasesTest {
 protected:
  LostWordOfALeaseTest() {
    type_ = verbs::QpType::kUc;
    meeting_.waits = true;
    Join();
    for (uint32_t i = 0; i < LeaseTable::kFirstPackets; ++i) Send();
    Settle();
    EXPECT_EQ(b_->PollStatuses().size(), LeaseTable::kFirstPackets);
  }
  void Send() {
    ASSERT_TRUE(b_->Receive(0, 1).ok());
    ASSERT_TRUE(a_->Send(0, 1).ok());
  }
  // Both hosts have the lease, and one sends by it what the other does not take
  // until `nowhere` ends.
  void ExpectToArriveWithTheEndOf(UniqueFd& nowhere) {
    Settle();
    meeting_.GoOn();
    Settle();
    Send();
    Settle();
    EXPECT_THAT(b_->PollStatuses(), IsEmpty());
    nowhere.Reset();
    Settle();
    EXPECT_THAT(b_->PollStatuses(), ElementsAre(0u));
  }
};

TEST_F(LostWordOfALeaseTest, IsSaidAgainByWhoSends) {
  auto [hosts, nowhere] = testing::SocketPair();
  one_->ConnectPackets(hosts, UniqueFd());
  hosts.Reset();
  ExpectToArriveWithTheEndOf(nowhere);
}

TEST_F(LostWordOfALeaseTest, IsSaidAgainByTheDaemonThatHasTheSubnet) {
  auto [hosts, read_by_nobody] = testing::SocketPair();
  auto [subnets, nowhere] = testing::SocketPair();
  two_->ConnectPackets(hosts, std::move(subnets));
  ExpectToArriveWithTheEndOf(nowhere);
}

TEST_P(LeasesOfHostsTest, ADaemonThatIsGoneLosesNobodysMemory) {
  Join();
  Talk(kMessages);
  two_->here.reset();
  Settle();
  EXPECT_EQ(one_->there->leases(), 0u);
  one_->here.reset();
  lab_.timers.RunFor(2 * HostLeases::kEndsWithin);
  Settle();
  EXPECT_TRUE(one_->there->ended());
}

}  // namespace
}  // namespace ibemu::daemon

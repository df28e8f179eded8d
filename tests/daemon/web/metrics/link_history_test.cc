#include "daemon/web/metrics/link_history.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "testing/lab.h"
#include "tests/daemon/method_caller.h"

namespace ibemu::daemon {
namespace {

using nlohmann::json;
using ::testing::HasSubstr, ::testing::IsEmpty, ::testing::SizeIs;

// host-1 – sw1 – host-2.
class LinkHistoryTest : public ::testing::Test, protected MethodCaller {
 protected:
  static constexpr uint64_t kWords = 5000;  // 4,000 bytes in each of 5 s
  static constexpr uint64_t kWordsOfAPacket = 50;

  LinkHistoryTest() { history_.AddTo(dispatcher); }

  // The link of a host carries something between two looks.
  void Carry(int host, uint64_t sent, uint64_t received) {
    fabric::Subnet& subnet = lab_.subnet();
    auto& traffic = subnet.port(subnet.port_id(lab_.Host(host), 1)).traffic;
    traffic.xmit_data += sent;
    traffic.rcv_data += received;
    traffic.xmit_packets += sent / kWordsOfAPacket;
    traffic.rcv_packets += received / kWordsOfAPacket;
    lab_.timers.RunFor(LinkHistory::kEvery);
  }
  json Samples(const json& place) {
    return Result("link.history", place)["samples"];
  }

  testing::Lab lab_{testing::Chain(1), testing::Lab::kStatically};
  LinkHistory history_{lab_.timers, lab_.fabric};
};

TEST_F(LinkHistoryTest, WhatALinkCarriedIsSeenFromEitherEnd) {
  Carry(1, kWords, 2 * kWords);
  lab_.timers.RunFor(LinkHistory::kEvery);
  EXPECT_EQ(Samples({{"node", "host-1"}, {"port", 1}}),
            (json{{1, 4000., 8000., 20., 40., 0.}}));
  EXPECT_EQ(Samples({{"node", "sw1"}, {"port", 1}}),
            (json{{1, 8000., 4000., 40., 20., 0.}}));
  EXPECT_THAT(Samples({{"node", "host-2"}, {"port", 1}}), IsEmpty());
  EXPECT_EQ(Result("link.history", {{"node", "sw1"}})["looks"], 2);
}

TEST_F(LinkHistoryTest, AllLinksOfANodeAreSummedUp) {
  Carry(1, kWords, 0);
  fabric::Subnet& subnet = lab_.subnet();
  const fabric::PortId other = subnet.port_id(lab_.Host(2), 1);
  // What counts is the end with the lower id.
  auto& traffic = subnet.port(subnet.port(other).peer).traffic;
  traffic.rcv_data += kWords;
  traffic.rcv_packets += kWords / kWordsOfAPacket;
  Carry(1, kWords, 0);
  EXPECT_EQ(Samples({{"node", "sw1"}}),
            (json{{1, 0., 4000., 0., 20., 0.}, {0, 0., 8000., 0., 40., 0.}}));
}

TEST_F(LinkHistoryTest, ErrorsOfEitherEndAreOfBothAndOfAnIdleLink) {
  Carry(1, 0, 0);
  fabric::Subnet& subnet = lab_.subnet();
  fabric::NodePort& port = subnet.port(subnet.port_id(lab_.Host(1), 1));
  port.Events().symbol_errors = 3;
  subnet.port(port.peer).Events().link_downed = 1;
  Carry(1, 0, 0);
  Carry(1, 0, 0);
  const json expected = {{1, 0., 0., 0., 0., 4.}};
  EXPECT_EQ(Samples({{"node", "host-1"}}), expected);
  EXPECT_EQ(Samples({{"node", "sw1"}, {"port", 1}}), expected);
}

TEST_F(LinkHistoryTest, WhatIsOlderThanHalfAnHourIsForgotten) {
  Carry(1, kWords, 0);
  lab_.timers.RunFor((LinkHistory::kLooks - 2) * LinkHistory::kEvery);
  Carry(1, kWords, 0);
  EXPECT_THAT(Samples({{"node", "host-1"}}), SizeIs(2));
  lab_.timers.RunFor(LinkHistory::kEvery);
  EXPECT_THAT(Samples({{"node", "host-1"}}), SizeIs(1));
  lab_.timers.RunFor(LinkHistory::kLooks * LinkHistory::kEvery);
  const json history = Result("link.history", {{"node", "host-1"}});
  EXPECT_THAT(history["samples"], IsEmpty());
  EXPECT_EQ(history["looks"], LinkHistory::kLooks);
}

TEST_F(LinkHistoryTest, WhatDoesNotExistIsRefused) {
  EXPECT_THAT(Error("link.history", {{"node", "host-1"}, {"port", 9}}),
              HasSubstr("port 9"));
  EXPECT_THAT(Error("link.history", {{"node", "nobody"}}), HasSubstr("nobody"));
}

}  // namespace
}  // namespace ibemu::daemon

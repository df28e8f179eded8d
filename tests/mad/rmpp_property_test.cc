// Whatever the channel does, a message arrives whole or not at all.
#include <algorithm>
#include <climits>
#include <deque>

#include "base/random.h"
#include "mad/filter/faulty_port.h"
#include "mad/rmpp_receiver.h"
#include "mad/rmpp_sender.h"
#include "testing/one_port_device.h"
#include "testing/wire.h"
#include "tests/mad/fixture.h"

namespace ibemu::mad {
namespace {

using ::ibemu::testing::OnePortDevice;
using ::ibemu::testing::WiredPort;

std::vector<std::byte> RandomMessage(Random& random, size_t bytes) {
  std::vector<std::byte> message(bytes);
  for (std::byte& b : message) b = std::byte(random.Next());
  return message;
}

// Loses, duplicates and reorders.
template <class Packet>
class HostileChannel {
 public:
  explicit HostileChannel(Random& random) : random_(random) {}

  void Put(const Packet& packet) {
    if (random_.Chance(0.2)) return;
    packets_.push_back(packet);
    if (random_.Chance(0.1)) packets_.push_back(packet);
  }
  std::optional<Packet> Take() {
    if (packets_.empty()) return std::nullopt;
    const auto place = packets_.begin() +
                       static_cast<ptrdiff_t>(
                           random_.Below(std::min<size_t>(packets_.size(), 8)));
    const Packet packet = *place;
    packets_.erase(place);
    return packet;
  }

 private:
  Random& random_;
  std::deque<Packet> packets_;
};

class RmppOverHostileChannelTest : public ::testing::TestWithParam<int> {};

TEST_P(RmppOverHostileChannelTest, TheMessageArrivesAsItWasSent) {
  Random random(static_cast<uint64_t>(GetParam()));
  constexpr size_t kHeaders[] = {40, 56, 64};
  const size_t header = kHeaders[random.Below(3)];
  const std::vector<std::byte> message =
      RandomMessage(random, header + random.Below(60'000));

  RmppSender sender(message, header, 1, INT_MAX);
  RmppReceiver receiver(header);
  HostileChannel<MadBytes> data(random);
  HostileChannel<RmppHeader> acks(random);
  std::vector<std::byte> received;

  const auto send = [&] {
    MadBytes segment;
    while (sender.NextSegment(segment)) data.Put(segment);
  };
  send();
  int steps = 0;
  while (!sender.all_acknowledged()) {
    ASSERT_LT(++steps, 200'000) << "no end in sight";
    bool idle = true;
    if (const auto segment = data.Take()) {
      idle = false;
      const RmppHeader rmpp = RmppOf(*segment);
      ASSERT_EQ(RmppReceiver::Check(rmpp), std::nullopt);
      const auto outcome = receiver.OnData(rmpp, *segment);
      if (outcome.reply) acks.Put(*outcome.reply);
      if (outcome.complete) {
        ASSERT_TRUE(received.empty()) << "complete twice";
        received = receiver.TakeMessage();
      }
    }
    if (const auto ack = acks.Take()) {
      idle = false;
      ASSERT_EQ(RmppSender::Check(*ack), std::nullopt);
      const auto step = sender.OnAck(ack->segment, ack->length_or_window);
      ASSERT_NE(step, RmppSender::Step::kSegmentTooBig);
      if (step == RmppSender::Step::kProgress) send();
    }
    if (idle) {
      ASSERT_TRUE(sender.OnTimeout());
      send();
    }
  }
  ASSERT_TRUE(receiver.complete());
  // All but the RMPP header, which is the protocol's.
  ASSERT_EQ(received.size(), message.size());
  EXPECT_TRUE(
      std::equal(message.begin(), message.begin() + 24, received.begin()));
  EXPECT_TRUE(
      std::equal(message.begin() + 36, message.end(), received.begin() + 36));
}

INSTANTIATE_TEST_SUITE_P(Seeds, RmppOverHostileChannelTest,
                         ::testing::Range(0, 100));

// --- The same with agents, ports and time.

// Answers each GetTable with a message that its TID determines.
class TableServer : public RecordingClient {
 public:
  static std::vector<std::byte> Answer(uint64_t tid) {
    Random random(tid & 0xffffffff);
    std::vector<std::byte> data = RandomMessage(random, random.Below(30'000));
    const MadBytes head =
        MakeMad({.mgmt_class = MgmtClass::kSubnetAdministration,
                 .class_version = 2,
                 .method = Method::kGetTableResp,
                 .tid = tid});
    data.insert(data.begin(), head.begin(), head.begin() + 56);
    data[26] = std::byte{1};
    return data;
  }
  void OnMad(Agent& agent, IncomingMessage message) override {
    // Refused while the answer to an earlier copy is under way.
    agent
        .Send({.to = {.dlid = message.slid, .qpn = 1},
               .mad = Answer(HeaderOf(message.mad).tid),
               .timeout = absl::ZeroDuration(),
               .retries = 20})
        .IgnoreError();
  }
};

class RmppOverBadCableTest : public ::testing::TestWithParam<int> {};

TEST_P(RmppOverBadCableTest, EachQueryIsAnsweredRightlyOrTimesOut) {
  constexpr PortFaults kBad{.loss = 0.02,
                            .duplicate = 0.02,
                            .reorder = 0.05,
                            .delay = absl::Microseconds(20),
                            .jitter = absl::Microseconds(10)};
  const auto seed = static_cast<uint64_t>(GetParam());
  ibemu::testing::VirtualTimers timers;
  WiredPort client_end(timers), server_end(timers);
  client_end.Connect(server_end);
  client_end.info.lid = Lid{1};
  server_end.info.lid = Lid{2};
  FaultyPort client_port(timers, client_end, kBad, {}, Random(seed));
  FaultyPort server_port(timers, server_end, kBad, {}, Random(~seed));
  OnePortDevice client_device(client_port), server_device(server_port);
  Host client_host(timers, client_device), server_host(timers, server_device);

  RecordingClient client;
  TableServer server;
  const Registration sa{.mgmt_class = 3,
                        .mgmt_class_version = 2,
                        .methods = Methods({Method::kGetTable}),
                        .rmpp_version = 1};
  auto asking = client_host.Register(1, sa, client);
  auto serving = server_host.Register(1, sa, server);
  ASSERT_TRUE(asking.ok() && serving.ok());

  constexpr uint64_t kQueries = 40;
  for (uint64_t tid = 1; tid <= kQueries; ++tid) {
    ASSERT_TRUE((*asking)
                    ->Send(MessageTo(
                        Lid{2},
                        MakeMad({.mgmt_class = MgmtClass::kSubnetAdministration,
                                 .class_version = 2,
                                 .method = Method::kGetTable,
                                 .tid = tid}),
                        absl::Seconds(10), /*retries=*/3, tid))
                    .ok());
  }
  timers.RunFor(absl::Minutes(10));

  EXPECT_EQ(client.done.size() + client.timed_out.size(), kQueries);
  EXPECT_GE(client.inbox.size(), kQueries / 2);
  EXPECT_EQ(client.inbox.size(), client.done.size());
  for (const IncomingMessage& message : client.inbox) {
    const std::vector<std::byte> sent =
        TableServer::Answer(HeaderOf(message.mad).tid);
    ASSERT_EQ(message.mad.size(), sent.size());
    EXPECT_TRUE(
        std::equal(sent.begin() + 36, sent.end(), message.mad.begin() + 36));
  }
  EXPECT_TRUE(timers.idle());
}

INSTANTIATE_TEST_SUITE_P(Seeds, RmppOverBadCableTest, ::testing::Range(0, 20));

}  // namespace
}  // namespace ibemu::mad

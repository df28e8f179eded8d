// Whatever the channel does, a message arrives whole or not at all.
#include <algorithm>
#include <climits>
#include <deque>

#include "base/random.h"
#include "mad/rmpp_receiver.h"
#include "mad/rmpp_sender.h"
#include "tests/mad/fixture.h"

namespace ibemu::mad {
namespace {

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
  // Distinct segments that came in, and the last of them.
  std::vector<bool> arrived(sender.segments() + 1);
  size_t count = 0;
  uint32_t highest = 0;
  int steps = 0;
  while (!sender.all_acknowledged()) {
    ASSERT_LT(++steps, 200'000) << "no end in sight";
    bool idle = true;
    if (const auto segment = data.Take()) {
      idle = false;
      const RmppHeader rmpp = RmppOf(*segment);
      ASSERT_EQ(RmppReceiver::Check(rmpp), std::nullopt);
      const auto outcome = receiver.OnData(rmpp, *segment);
      count += arrived[rmpp.segment] ? 0 : 1;
      arrived[rmpp.segment] = true;
      highest = std::max(highest, rmpp.segment);
      if (!outcome.complete && !receiver.complete()) {
        const size_t each = kMadBytes - header;
        const size_t least = header + highest * each;
        ASSERT_LE(receiver.capacity(),
                  std::max(least, 8 * (header + count * each)));
        ASSERT_LE(receiver.capacity(),
                  std::max(least, 2 * (message.size() + each)));
      }
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

}  // namespace
}  // namespace ibemu::mad

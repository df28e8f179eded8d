// Long messages between the agents of two hosts, over cables of every quality:
// each transfer ends, and what arrives is what was sent.
#include <algorithm>
#include <cstring>
#include <map>
#include <optional>

#include "base/random.h"
#include "testing/faulty_port.h"
#include "testing/one_port_device.h"
#include "testing/wired_port.h"
#include "tests/mad/fixture.h"

namespace ibemu::mad {
namespace {

using ::ibemu::testing::OnePortDevice;
using ::ibemu::testing::WiredPort;

constexpr wire::Lid kAsker{1}, kServer{2};

// The data of a message, which its TID and its method determine.
class Pattern {
 public:
  explicit Pattern(const MadHeader& header)
      : random_(header.tid << 40 | static_cast<uint64_t>(header.method)) {}

  void Fill(std::span<std::byte> data) {
    for (; !data.empty();
         data = data.subspan(std::min<size_t>(8, data.size()))) {
      const uint64_t next = random_.Next();
      std::memcpy(data.data(), &next, std::min<size_t>(8, data.size()));
    }
  }
  bool Matches(Bytes data) {
    for (; !data.empty();
         data = data.subspan(std::min<size_t>(8, data.size()))) {
      const uint64_t next = random_.Next();
      if (std::memcmp(data.data(), &next, std::min<size_t>(8, data.size())) !=
          0) {
        return false;
      }
    }
    return true;
  }

 private:
  Random random_;
};

// So many bytes of data by RMPP, or one plain MAD without any.
using Size = std::optional<size_t>;

std::vector<std::byte> Message(const MadHeader& header, Size data) {
  if (!data) return ToVector(MakeMad(header));
  const size_t front = HeaderBytes(header.mgmt_class);
  std::vector<std::byte> message(front + *data);
  wire::Encode(header, message);
  Pattern(header).Fill(std::span(message).subspan(front));
  message[26] = std::byte{1};
  return message;
}

bool IsIntact(const std::vector<std::byte>& message, Size data) {
  const MadHeader header = HeaderOf(message);
  if (!data) return message == ToVector(MakeMad(header));
  const size_t front = HeaderBytes(header.mgmt_class);
  return message.size() == front + *data &&
         Pattern(header).Matches(Bytes(message).subspan(front));
}

uint32_t TidOf(const IncomingMessage& message) {
  return static_cast<uint32_t>(HeaderOf(message.mad).tid);
}

struct Transfer {
  Size request, answer;
  int received = 0;  // how often the server got the request
};

// Answers each request as its transfer says.
class Server : public RecordingClient {
 public:
  Server(std::map<uint32_t, Transfer>& transfers, absl::Duration ack_time)
      : transfers_(transfers), ack_time_(ack_time) {}

  void OnMad(Agent& agent, IncomingMessage message) override {
    Transfer& transfer = transfers_.at(TidOf(message));
    ++transfer.received;
    EXPECT_TRUE(IsIntact(message.mad, transfer.request));
    MadHeader header = HeaderOf(message.mad);
    header.method = Method::kGetMultiResp;
    // Refused while the answer to an earlier copy of the request is under way.
    agent
        .Send({.to = {.dlid = message.slid, .qpn = 1},
               .mad = Message(header, transfer.answer),
               .timeout = transfer.answer ? ack_time_ : absl::ZeroDuration(),
               .retries = 30})
        .IgnoreError();
  }

 private:
  std::map<uint32_t, Transfer>& transfers_;
  absl::Duration ack_time_;
};

// Two hosts and the cable between them.
class Scene {
 public:
  Scene(const PortFaults& cable, uint64_t seed, absl::Duration ack_time)
      : asking_port_(timers_, asking_end_, cable, {}, Random(seed)),
        serving_port_(timers_, serving_end_, cable, {}, Random(~seed)),
        server_(transfers, ack_time) {
    asking_end_.Connect(serving_end_);
    asking_end_.info.lid = kAsker;
    serving_end_.info.lid = kServer;
  }

  void Ask(MgmtClass mgmt_class, Size request, Size answer,
           absl::Duration timeout, int retries) {
    const auto tid = static_cast<uint32_t>(transfers.size());
    transfers[tid] = {.request = request, .answer = answer};
    OutgoingMessage message{
        .to = {.dlid = kServer, .qpn = 1},
        .mad =
            Message({.mgmt_class = mgmt_class,
                     .class_version = kVersion,
                     .method = Method::kGetMulti,
                     .tid = uint64_t{Asking(mgmt_class).hi_tid()} << 32 | tid},
                    request),
        .timeout = timeout,
        .retries = retries,
        .cookie = tid};
    ASSERT_TRUE(Asking(mgmt_class).Send(std::move(message)).ok());
  }

  // Everything ends in time, once, whole or not at all.
  void Finish(absl::Duration most) {
    timers_.RunFor(most);
    EXPECT_TRUE(timers_.idle()) << "no end in sight";

    std::map<uint64_t, int> ends, answers;
    for (const uint64_t cookie : client.done) ++ends[cookie];
    for (const uint64_t cookie : client.timed_out) ++ends[cookie];
    for (const IncomingMessage& message : client.inbox) {
      const uint32_t tid = TidOf(message);
      EXPECT_EQ(++answers[tid], 1);
      EXPECT_TRUE(IsIntact(message.mad, transfers.at(tid).answer));
      EXPECT_THAT(client.done, ::testing::Contains(tid));
    }
    for (const auto& [tid, transfer] : transfers) {
      EXPECT_EQ(ends[tid], 1) << tid;
      if (transfer.request) {
        EXPECT_LE(transfer.received, 1) << tid;
      }
    }
  }

  std::map<uint32_t, Transfer> transfers;
  RecordingClient client;

 private:
  static constexpr uint8_t kVersion = 2;

  using Agents = std::map<MgmtClass, std::unique_ptr<Agent>>;

  Agent& Asking(MgmtClass mgmt_class) {
    auto& agent = asking_[mgmt_class];
    if (agent == nullptr) {
      const Registration wanted{.mgmt_class = static_cast<uint8_t>(mgmt_class),
                                .mgmt_class_version = kVersion,
                                .methods = Methods({Method::kGetMulti}),
                                .rmpp_version = 1};
      agent = asking_host_.Register(1, wanted, client).value();
      serving_[mgmt_class] = serving_host_.Register(1, wanted, server_).value();
    }
    return *agent;
  }

  ibemu::testing::VirtualTimers timers_;
  WiredPort asking_end_{timers_}, serving_end_{timers_};
  FaultyPort asking_port_, serving_port_;
  OnePortDevice asking_device_{asking_port_}, serving_device_{serving_port_};
  Host asking_host_{timers_, asking_device_};
  Host serving_host_{timers_, serving_device_};
  Server server_;
  Agents asking_, serving_;
};

// --- Many short messages.

constexpr PortFaults kPerfect{};
constexpr PortFaults kPoor{.loss = 0.01,
                           .duplicate = 0.02,
                           .reorder = 0.05,
                           .delay = absl::Microseconds(20),
                           .jitter = absl::Microseconds(10)};
constexpr PortFaults kAwful{.loss = 0.2,
                            .duplicate = 0.2,
                            .reorder = 0.2,
                            .delay = absl::Microseconds(20),
                            .jitter = absl::Microseconds(200)};

class RmppTransferTest : public ::testing::TestWithParam<int> {
 protected:
  static constexpr size_t kTransfers = 30;
  static constexpr int kLongest = 17;  // 128 KiB

  // All at once, of every size and direction.  Returns how many were answered.
  size_t Run(const PortFaults& cable) {
    const auto seed = static_cast<uint64_t>(GetParam());
    Random random(seed);
    Scene scene(cable, seed, /*ack_time=*/absl::Milliseconds(5));
    const auto size = [&random] {
      return 1 + random.Below(uint64_t{1} << random.Below(kLongest + 1));
    };
    for (size_t i = 0; i < kTransfers; ++i) {
      const uint64_t ways = 1 + random.Below(3);
      scene.Ask(random.Chance(0.5) ? MgmtClass::kSubnetAdministration
                                   : MgmtClass::kDevice,
                (ways & 1) != 0 ? Size(size()) : std::nullopt,
                (ways & 2) != 0 ? Size(size()) : std::nullopt,
                absl::Milliseconds(500), /*retries=*/30);
    }
    scene.Finish(absl::Minutes(5));
    return scene.client.inbox.size();
  }
};

TEST_P(RmppTransferTest, APerfectCableLosesNothing) {
  EXPECT_EQ(Run(kPerfect), kTransfers);
}

TEST_P(RmppTransferTest, APoorCableLosesLittle) {
  EXPECT_GE(Run(kPoor), kTransfers * 9 / 10);
}

TEST_P(RmppTransferTest, AnAwfulCableLosesSome) {
  EXPECT_GE(Run(kAwful), kTransfers * 2 / 3);
}

INSTANTIATE_TEST_SUITE_P(Seeds, RmppTransferTest, ::testing::Range(0, 30));

// Seconds between the tries of a segment make 40 seconds short: what takes
// longer is aborted, and its sender hears nothing more.
TEST(RmppSlowTransferTest, WhatTakesTooLongEndsInSilence) {
  Scene scene(kAwful, /*seed=*/3, absl::Milliseconds(5));
  for (int i = 0; i < 10; ++i) {
    scene.Ask(MgmtClass::kSubnetAdministration, 200'000, std::nullopt,
              absl::Seconds(2), /*retries=*/30);
  }
  scene.Finish(absl::Minutes(10));
  EXPECT_THAT(scene.client.inbox, IsEmpty());
  EXPECT_THAT(scene.client.timed_out, IsEmpty());
  EXPECT_THAT(scene.client.done, SizeIs(10));
}

TEST(RmppSlowTransferTest, ADeadCableTimesOut) {
  Scene scene({.loss = 1}, /*seed=*/3, absl::Milliseconds(5));
  for (const Size size : {Size(1), Size(100'000), Size()}) {
    scene.Ask(MgmtClass::kDevice, size, 1000, absl::Milliseconds(100),
              /*retries=*/2);
  }
  scene.Finish(absl::Milliseconds(300));
  EXPECT_THAT(scene.client.timed_out, ElementsAre(0, 1, 2));
}

// --- A few long ones.

constexpr size_t kMebibyte = size_t{1} << 20;

TEST(RmppLongTransferTest, SixtyFourMebibytesGoBothWays) {
  Scene scene(kPerfect, /*seed=*/1, absl::Seconds(2));
  scene.Ask(MgmtClass::kDevice, 64 * kMebibyte, 64 * kMebibyte,
            absl::Seconds(2), 0);
  scene.Finish(absl::Minutes(1));
  EXPECT_THAT(scene.client.inbox, SizeIs(1));
}

// Whole, timed out or silent: Finish() tells.
TEST(RmppLongTransferTest, SixtyFourMebibytesAreNeverCutShort) {
  for (const PortFaults& cable : {kPoor, kAwful}) {
    Scene scene(cable, /*seed=*/1, absl::Milliseconds(5));
    scene.Ask(MgmtClass::kDevice, 64 * kMebibyte, std::nullopt,
              absl::Milliseconds(5), /*retries=*/30);
    scene.Ask(MgmtClass::kSubnetAdministration, std::nullopt, 64 * kMebibyte,
              absl::Minutes(1), 0);
    scene.Finish(absl::Minutes(5));
  }
}

TEST(RmppLongTransferTest, SixteenMebibytesPassAPoorCable) {
  Scene scene(kPoor, /*seed=*/1, absl::Milliseconds(5));
  scene.Ask(MgmtClass::kSubnetAdministration, std::nullopt, 16 * kMebibyte,
            absl::Minutes(1), 0);
  scene.Finish(absl::Minutes(5));
  EXPECT_THAT(scene.client.inbox, SizeIs(1));
}

}  // namespace
}  // namespace ibemu::mad

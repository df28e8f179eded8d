// One host with agents, on a device that leads nowhere.
#ifndef IBEMU_TESTS_MAD_FIXTURE_H_
#define IBEMU_TESTS_MAD_FIXTURE_H_

#include <memory>
#include <utility>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "mad/host.h"
#include "mad/mad_class.h"
#include "testing/fake_device.h"
#include "testing/mad_builder.h"
#include "testing/recording_client.h"
#include "testing/virtual_timers.h"

namespace ibemu::mad {

using ::ibemu::testing::FakeDevice;
using ::ibemu::testing::FakePort;
using ::ibemu::testing::HasMethod;
using ::ibemu::testing::HasTid;
using ::ibemu::testing::HeaderOf;
using ::ibemu::testing::MakeMad;
using ::ibemu::testing::RecordingClient;
using ::ibemu::testing::RmppOf;
using ::ibemu::testing::SetRmpp;
using ::ibemu::testing::ToVector;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr wire::Lid kPeer{7};
constexpr MadHeader kPerfGet{.mgmt_class = MgmtClass::kPerformance,
                             .method = Method::kGet,
                             .tid = 0x1234,
                             .attr_id = AttributeId::kPortCounters};

// Methods of a server of Get and Set.
inline std::bitset<128> Methods(std::initializer_list<Method> methods) {
  std::bitset<128> mask;
  for (const Method method : methods) mask.set(static_cast<size_t>(method));
  return mask;
}

inline OutgoingMessage MessageTo(wire::Lid dlid, const MadBytes& mad,
                                 absl::Duration timeout = absl::ZeroDuration(),
                                 int retries = 0, uint64_t cookie = 0) {
  return {.to = {.dlid = dlid, .qpn = 1},
          .mad = ToVector(mad),
          .timeout = timeout,
          .retries = retries,
          .cookie = cookie};
}

inline Arrival From(wire::Lid slid, const MadBytes& mad, int qp = 1) {
  return {.qp = qp,
          .slid = slid,
          .source_qpn = static_cast<uint32_t>(qp),
          .mad = mad};
}

class HostTest : public ::testing::Test {
 protected:
  // Registers, and must succeed.
  std::unique_ptr<Agent> Register(const Registration& registration,
                                  AgentClient& client, int port = 1) {
    auto agent = host_.Register(port, registration, client);
    EXPECT_TRUE(agent.ok()) << agent.status();
    return *std::move(agent);
  }
  std::unique_ptr<Agent> Register(const Registration& registration) {
    return Register(registration, client_);
  }
  std::unique_ptr<Agent> RegisterSender() { return Register({}); }

  absl::StatusCode TryRegister(const Registration& registration, int port = 1) {
    return host_.Register(port, registration, client_).status().code();
  }

  // The last MAD sent, as its addressee would answer it.
  MadBytes AnswerToLast() {
    MadBytes answer = port_.sent.back().mad;
    wire::Put<&MadHeader::method>(
        answer,
        Method(static_cast<uint8_t>(HeaderOf(answer).method) | kResponseBit));
    return answer;
  }

  ibemu::testing::VirtualTimers timers_;
  FakeDevice device_{2};
  FakePort& port_ = device_.port(1);
  Host host_{timers_, device_};
  RecordingClient client_;
};

}  // namespace ibemu::mad

#endif  // IBEMU_TESTS_MAD_FIXTURE_H_

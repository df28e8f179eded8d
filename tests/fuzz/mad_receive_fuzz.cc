// Arbitrary MADs arrive at a host with agents of every kind, which also send.
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <utility>
#include <vector>

#include "mad/host.h"
#include "mad/mad_class.h"
#include "testing/fake_device.h"
#include "testing/fuzz_input.h"
#include "testing/virtual_timers.h"

namespace ibemu::mad {
namespace {

using Input = testing::FuzzInput;

constexpr uint32_t kOui = 0x1405;

// Answers every fourth request with what it got, at length.
class EchoClient : public AgentClient {
 public:
  void OnMad(Agent& agent, IncomingMessage message) override {
    if (message.mad.size() < kRmppHeaderBytes) std::abort();
    if (IsResponseMad(message.mad)) return;
    if (++requests_ % 4 != 0) return;
    OutgoingMessage answer{.to = {.dlid = message.slid, .qpn = 1},
                           .mad = std::move(message.mad)};
    answer.mad[3] |= std::byte{kResponseBit};
    if (agent.registration().rmpp_version != 0) answer.mad.resize(5000);
    agent.Send(std::move(answer)).IgnoreError();
  }
  void OnSendDone(Agent&, uint64_t) override { ++ended_; }
  void OnSendTimeout(Agent&, uint64_t) override { ++ended_; }

 private:
  unsigned requests_ = 0;
  unsigned ended_ = 0;
};

class Scene {
 public:
  Scene() {
    for (const int mgmt_class : {0, 3, 4, 6, 0x32}) {
      for (const int rmpp : {0, 1, 2}) AddAgent(mgmt_class, rmpp);
    }
    for (const int mgmt_class : {1, 0x81}) AddAgent(mgmt_class, 0);
  }

  void Step(Input& input) {
    const uint8_t what = input.Byte();
    const uint8_t who = input.Byte();
    switch (what % 8) {
      case 0:
        timers_.RunFor(absl::Milliseconds(100) * who);
        break;
      case 1:
      case 5:
        Receive(input, who);
        break;
      default:
        Send(input, who, /*answered=*/what % 4 == 2);
        break;
    }
    device_.port(1).sent.clear();
    timers_.RunPending();
  }

 private:
  void AddAgent(int mgmt_class, int rmpp) {
    Registration wanted{.qp = mgmt_class == 1 || mgmt_class == 0x81 ? 0 : 1,
                        .mgmt_class = static_cast<uint8_t>(mgmt_class),
                        .mgmt_class_version = static_cast<uint8_t>(1 + rmpp),
                        .oui = kOui,
                        .rmpp_version = rmpp == 0 ? uint8_t{0} : uint8_t{1},
                        .user_rmpp = rmpp == 2};
    wanted.methods.set();
    auto agent = host_.Register(1, wanted, client_);
    if (agent.ok()) agents_.push_back(*std::move(agent));
  }

  void Receive(Input& input, uint8_t how) {
    Arrival arrival{.qp = how & 1,
                    .slid = wire::Lid(how >> 4),
                    .source_qpn = 1,
                    .mad = input.Mad()};
    if ((how & 2) != 0) arrival.grh = GlobalRoute{.gid_index = input.Byte()};
    // Often enough, the TID of an agent.
    if ((how & 4) != 0) arrival.mad[8] = arrival.mad[9] = std::byte{0};
    if ((how & 8) != 0) arrival.mad[10] = std::byte{0};
    device_.port(1).Receive(arrival);
  }

  void Send(Input& input, uint8_t who, bool answered) {
    if (agents_.empty()) return;
    Agent& agent = *agents_[who % agents_.size()];
    const MadBytes mad = input.Mad();
    OutgoingMessage message{.to = {.dlid = wire::Lid{1}, .qpn = 1},
                            .mad = {mad.begin(), mad.end()},
                            .timeout = absl::Milliseconds(10) * input.Byte(),
                            .retries = input.Byte() % 4,
                            .cookie = ++last_cookie_};
    message.mad.resize(input.Byte() * size_t{20});
    if (!agent.Send(std::move(message)).ok() || !answered) return;
    auto& sent = device_.port(1).sent;
    if (sent.empty()) return;
    Arrival answer{.qp = agent.registration().qp,
                   .slid = wire::Lid{1},
                   .source_qpn = 1,
                   .mad = sent.back().mad};
    answer.mad[3] ^= std::byte{kResponseBit};
    for (size_t i = 24; i < 36; ++i) answer.mad[i] = std::byte{input.Byte()};
    device_.port(1).Receive(answer);
  }

  testing::VirtualTimers timers_;
  testing::FakeDevice device_;
  Host host_{timers_, device_};
  EchoClient client_;
  uint64_t last_cookie_ = 0;
  std::vector<std::unique_ptr<Agent>> agents_;
};

}  // namespace
}  // namespace ibemu::mad

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  ibemu::testing::FuzzInput input(data, size);
  ibemu::mad::Scene scene;
  while (!input.empty()) scene.Step(input);
  return 0;
}

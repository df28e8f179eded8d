// Hosts of a managed subnet with IPoIB interfaces.
#ifndef IBEMU_TESTS_IPOIB_ENGINE_LAB_H_
#define IBEMU_TESTS_IPOIB_ENGINE_LAB_H_

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "ipoib/engine.h"
#include "mad/host.h"
#include "mad/sa/multicast_members.h"
#include "mad/sa/sa_client.h"
#include "testing/lab.h"

namespace ibemu::ipoib {

// An EngineHost is a host of a lab, with its interface: 198.18.0.N and
// fd1b:e000::N.
struct EngineHost {
  EngineHost(testing::Lab& lab, int number, uint16_t partition = 0)
      : provider(lab.Provider(number)),
        host(lab.timers, lab.fabric.device(lab.Host(number))),
        sa(lab.timers, host, 1),
        members(lab.timers, provider, 1, sa),
        engine({lab.timers, host, 1, provider, sa, members, partition},
               Random(7), {{Ipv4(number), 16}, {Ipv6(number), 64}}) {}

  static wire::IpAddress Ipv4(int number) {
    return wire::IpAddress::Ipv4(0xc6120000 + static_cast<uint32_t>(number));
  }
  static wire::IpAddress Ipv6(int number) {
    auto address = wire::IpAddress::Ipv6({0xfd, 0x1b, 0xe0});
    address.bytes[15] = static_cast<uint8_t>(number);
    return address;
  }

  verbs::Provider& provider;
  mad::Host host;
  mad::SaClient sa;
  mad::MulticastMembers members;
  Engine engine;
};

// The outcome of a question.
struct Outcome {
  std::unique_ptr<Resolution> resolution;
  std::optional<absl::StatusOr<wire::Gid>> answer;

  bool Is(const wire::Gid& gid) const {
    return answer && answer->ok() && **answer == gid;
  }
  absl::StatusCode code() const {
    return answer ? answer->status().code() : absl::StatusCode::kUnknown;
  }
};

class EngineTest : public ::testing::Test {
 protected:
  std::unique_ptr<Outcome> Resolve(Engine& engine,
                                   const wire::IpAddress& address,
                                   absl::Duration timeout = absl::Seconds(2)) {
    auto outcome = std::make_unique<Outcome>();
    outcome->resolution = engine.Resolve(
        address, timeout,
        [outcome = outcome.get()](absl::StatusOr<wire::Gid> answer) {
          outcome->answer = std::move(answer);
        });
    EXPECT_FALSE(outcome->answer.has_value());
    return outcome;
  }
  void Settle(absl::Duration time = absl::Seconds(1)) {
    lab_.timers.RunFor(time);
  }

  testing::Lab lab_{"single-switch:hosts=3", testing::Lab::kByItsManager};
};

}  // namespace ibemu::ipoib

#endif  // IBEMU_TESTS_IPOIB_ENGINE_LAB_H_

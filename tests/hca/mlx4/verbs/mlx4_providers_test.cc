// What verbs::Provider promises, of our driver and the adapter's model.
#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <vector>

#include "testing/mlx4_machine.h"
#include "tests/fabric/soft_hca/fabric_host_pair.h"
#include "tests/verbs/providers/provider_suites.h"

namespace ibemu::verbs {
namespace {

using hca::mlx4::Mlx4Device, testing::Mlx4Machine;

// A Mlx4HostPair is two hosts of which one or both have a modelled adapter that
// our driver drives; the other one has the software's.
class Mlx4HostPair final : public fabric::FabricHostPair {
 public:
  Mlx4HostPair(uint64_t seed, const std::vector<HostNumber>& driven)
      : FabricHostPair(seed) {
    for (const HostNumber host : driven) {
      Driven& mine = driven_[static_cast<size_t>(host)];
      mine.machine = std::make_unique<Mlx4Machine>(lab_, NameOf(host));
      mine.device = *Mlx4Device::Start(
          *mine.machine->function, timers_,
          {.pause = [this](absl::Duration span) { timers_.RunFor(span); },
           .note = [](std::string_view) {},
           .name = "0000:3b:00.0"});
    }
    RunFor(absl::Milliseconds(10));
  }

  Provider& provider(HostNumber host) override {
    const auto& device = At(host).device;
    return device ? device->provider() : FabricHostPair::provider(host);
  }
  GidBytes gid(HostNumber host) override {
    const auto& device = At(host).device;
    return device ? GidOf(*device) : FabricHostPair::gid(host);
  }
  void RunFor(absl::Duration span) override {
    std::vector<Mlx4Device*> devices;
    for (const Driven& driven : driven_) {
      if (driven.device) devices.push_back(driven.device.get());
    }
    testing::RunDevices(timers_, span, devices);
  }
  void Break(HostNumber host) override {
    if (!At(host).machine) return FabricHostPair::Break(host);
    At(host).machine->model.Fail(0x0badcafe);
    RunFor(absl::Milliseconds(1100));  // the driver looks once in a second
  }

 private:
  struct Driven {
    std::unique_ptr<Mlx4Machine> machine;
    std::unique_ptr<Mlx4Device> device;
  };
  Driven& At(HostNumber host) { return driven_[static_cast<size_t>(host)]; }

  std::array<Driven, 2> driven_;
};

Wiring Wire(const char* name, const std::vector<HostNumber>& driven) {
  return {name, [driven](uint64_t seed) {
            return std::make_unique<Mlx4HostPair>(seed, driven);
          }};
}

const Wiring kDriven = Wire("Driven", {HostNumber::kOne, HostNumber::kTwo});
const Wiring kDrivenToSoftware = Wire("DrivenToSoftware", {HostNumber::kOne});
const Wiring kSoftwareToDriven = Wire("SoftwareToDriven", {HostNumber::kTwo});

const auto kWirings =
    ::testing::Values(kDriven, kDrivenToSoftware, kSoftwareToDriven);
// No memory for peers is behind a real adapter.
const auto kWiringsWithRemoteMemory = ::testing::Values(kDrivenToSoftware);

}  // namespace

INSTANTIATE_TEST_SUITE_P(Mlx4, ProviderTest, kWirings, NameOfWiring);
INSTANTIATE_TEST_SUITE_P(Mlx4, ConnectionTest,
                         ::testing::Combine(kWirings, AnyConnection()),
                         NameOfConnection);
INSTANTIATE_TEST_SUITE_P(Mlx4, ReliableConnectionTest, kWirings, NameOfWiring);
INSTANTIATE_TEST_SUITE_P(Mlx4, UnreliableConnectionTest, kWirings,
                         NameOfWiring);
INSTANTIATE_TEST_SUITE_P(Mlx4, DatagramTest, kWirings, NameOfWiring);
INSTANTIATE_TEST_SUITE_P(Mlx4, MulticastTest, kWirings, NameOfWiring);
INSTANTIATE_TEST_SUITE_P(Mlx4, SharedReceiveTest, kWirings, NameOfWiring);
INSTANTIATE_TEST_SUITE_P(Mlx4, RemoteMemoryTest, kWiringsWithRemoteMemory,
                         NameOfWiring);
INSTANTIATE_TEST_SUITE_P(Mlx4, PacketLossTest,
                         ::testing::Combine(kWiringsWithRemoteMemory,
                                            ::testing::Range(uint64_t{1},
                                                             uint64_t{11})));

}  // namespace ibemu::verbs

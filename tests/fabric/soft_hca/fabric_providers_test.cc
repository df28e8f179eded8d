// What verbs::Provider promises, of the software's adapters.
#include <gtest/gtest.h>

#include <memory>

#include "tests/fabric/soft_hca/fabric_host_pair.h"
#include "tests/verbs/providers/provider_suites.h"

namespace ibemu::verbs {
namespace {

const Wiring kSoftware = {
    "Software", [](uint64_t seed) {
      return std::make_unique<fabric::FabricHostPair>(seed);
    }};
const auto kWirings = ::testing::Values(kSoftware);

}  // namespace

INSTANTIATE_TEST_SUITE_P(Fabric, ProviderTest, kWirings, NameOfWiring);
INSTANTIATE_TEST_SUITE_P(Fabric, ConnectionTest,
                         ::testing::Combine(kWirings, AnyConnection()),
                         NameOfConnection);
INSTANTIATE_TEST_SUITE_P(Fabric, ReliableConnectionTest, kWirings,
                         NameOfWiring);
INSTANTIATE_TEST_SUITE_P(Fabric, UnreliableConnectionTest, kWirings,
                         NameOfWiring);
INSTANTIATE_TEST_SUITE_P(Fabric, DatagramTest, kWirings, NameOfWiring);
INSTANTIATE_TEST_SUITE_P(Fabric, MulticastTest, kWirings, NameOfWiring);
INSTANTIATE_TEST_SUITE_P(Fabric, SharedReceiveTest, kWirings, NameOfWiring);
INSTANTIATE_TEST_SUITE_P(Fabric, RemoteMemoryTest, kWirings, NameOfWiring);
INSTANTIATE_TEST_SUITE_P(
    Fabric, PacketLossTest,
    ::testing::Combine(kWirings, ::testing::Range(uint64_t{1}, uint64_t{41})));

}  // namespace ibemu::verbs

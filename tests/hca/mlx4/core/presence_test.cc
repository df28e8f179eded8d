#include "hca/mlx4/core/presence.h"

#include <gtest/gtest.h>

#include "hca/bus/pci_config.h"
#include "tests/hca/scripted_adapter.h"

namespace ibemu::hca::mlx4 {
namespace {

TEST(PresenceTest, AnAdapterIsThereAsLongAsItHasAClass) {
  ScriptedAdapter adapter;
  adapter.WriteConfig(pci_config::kRevision, 4, 0x02070000);
  EXPECT_TRUE(CheckPresence(adapter).ok());
  adapter.WriteConfig(pci_config::kRevision, 4, kAllOnes);
  EXPECT_EQ(CheckPresence(adapter).code(), absl::StatusCode::kUnavailable);
}

// That is what vfio-pci answers, whoever is there.
TEST(PresenceTest, ItsIdsProveNothing) {
  ScriptedAdapter adapter;
  adapter.WriteConfig(pci_config::kVendor, 4, 0x100315b3);
  adapter.WriteConfig(pci_config::kRevision, 4, kAllOnes);
  EXPECT_FALSE(CheckPresence(adapter).ok());
  adapter.WriteConfig(pci_config::kVendor, 4, kAllOnes);
  adapter.WriteConfig(pci_config::kRevision, 4, 0x02070000);
  EXPECT_TRUE(CheckPresence(adapter).ok());
}

}  // namespace
}  // namespace ibemu::hca::mlx4

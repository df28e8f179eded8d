#include "daemon/hca_probe.h"

#include <gtest/gtest.h>

#include <string>

#include "gmock/gmock.h"
#include "tests/hca/mlx4/driver_bench.h"

namespace ibemu::daemon {
namespace {

using hca::mlx4::DriverBench, hca::mlx4::ModelledHost;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class HcaProbeTest : public DriverBench {
 protected:
  absl::StatusOr<std::string> Probe() {
    return ProbeHca(*host_.function, timers_,
                    [this](absl::Duration span) { timers_.RunFor(span); });
  }

  ModelledHost& host_ = PlugIn();
};

TEST_F(HcaProbeTest, PrintsWhatTheFirmwareSays) {
  const auto text = Probe();
  ASSERT_TRUE(text.ok()) << text.status();
  EXPECT_THAT(*text, AllOf(HasSubstr("ConnectX-3 (15b3:1003)"),
                           HasSubstr("firmware 2.42.5000"),
                           HasSubstr("cmd_interface_rev          3"),
                           HasSubstr("num_ports                  1"),
                           HasSubstr("QUERY_PORT 1")));
}

TEST_F(HcaProbeTest, OnlyAsksAndLeavesNothing) {
  ASSERT_TRUE(Probe().ok());
  EXPECT_THAT(host_.trace.Names(),
              ElementsAre("QUERY_FW", "MAP_FA", "RUN_FW", "QUERY_DEV_CAP",
                          "QUERY_PORT", "UNMAP_FA"));
  EXPECT_EQ(host_.function->mapped(), 0u);
  EXPECT_EQ(host_.model.stage(), hca::model::mlx4::Firmware::Stage::kReset);
  EXPECT_TRUE(Probe().ok()) << "the owner's semaphore was given back";
}

TEST_F(HcaProbeTest, TellsThatTheLastOwnerWasKilled) {
  host_.function->OpenBar(0).value()->Read32(hca::prm::kOwner);
  const auto text = Probe();
  ASSERT_TRUE(text.ok()) << text.status();
  EXPECT_THAT(*text, HasSubstr("note: the adapter's last owner was killed"));
}

}  // namespace
}  // namespace ibemu::daemon

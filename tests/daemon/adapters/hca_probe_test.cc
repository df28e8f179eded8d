#include "daemon/adapters/hca_probe.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "gmock/gmock.h"
#include "testing/mlx4_machine.h"

namespace ibemu::daemon {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::Mlx4Lab, testing::Mlx4Machine;
using ::testing::Not;

class HcaProbeTest : public Mlx4Lab {
 protected:
  absl::Status Probe() {
    printed_.clear();
    return ProbeHca(
        *host_.function, "0000:3b:00.0", timers_,
        [this](absl::Duration span) { timers_.RunFor(span); },
        [this](std::string_view text) { printed_ += text; });
  }

  std::string printed_;
  Mlx4Machine& host_ = PlugIn();
};

TEST_F(HcaProbeTest, PrintsWhatTheFirmwareSays) {
  const absl::Status probed = Probe();
  ASSERT_TRUE(probed.ok()) << probed;
  EXPECT_THAT(printed_, AllOf(HasSubstr("ConnectX-3 (15b3:1003)\n"),
                              HasSubstr("firmware 2.42.5000\n"),
                              HasSubstr("cmd_interface_rev          3"),
                              HasSubstr("num_ports                  1"),
                              HasSubstr("board IBE0000000001\n"),
                              HasSubstr("\nQUERY_PORT 1\n")));
}

TEST_F(HcaProbeTest, PrintsTheBytesOfWhatTheFirmwareSaysAtTheEnd) {
  ASSERT_TRUE(Probe().ok());
  const std::string bytes =
      printed_.substr(printed_.find("the same in bytes\n"));
  EXPECT_THAT(bytes, AllOf(HasSubstr("\nQUERY_FW\n  000: 06 06 00 02 13 88"),
                           HasSubstr("\nQUERY_DEV_CAP\n  000:"),
                           HasSubstr("\nQUERY_ADAPTER\n  000:"),
                           HasSubstr("\n  0f0: 30 45 42 49"),
                           HasSubstr("\nQUERY_PORT 1\n  000:")));
}

TEST_F(HcaProbeTest, PrintsWhatItLearnedOfAnAdapterThatItRefuses) {
  host_.model.SetPortType(1, hca::prm::PortType::kEthernet);
  const absl::Status refused = Probe();
  EXPECT_EQ(refused.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(refused.message()),
              HasSubstr("\"mstconfig -d 0000:3b:00.0 set LINK_TYPE_P1=1\""));
  EXPECT_THAT(printed_, AllOf(HasSubstr("firmware 2.42.5000"),
                              HasSubstr("board IBE0000000001"),
                              HasSubstr("supported_type             2"),
                              HasSubstr("the same in bytes")));
  EXPECT_EQ(host_.function->mapped(), 0u);
  host_.model.SetPortType(1, hca::prm::PortType::kInfiniBand);
  EXPECT_TRUE(Probe().ok()) << "it was given back";
}

TEST_F(HcaProbeTest, DoesWithoutWhatFirmwareTellsLaterOnly) {
  host_.model.faults().Refuse(hca::prm::Opcode::kQueryAdapter,
                              hca::prm::CommandStatus::kBadSysState);
  ASSERT_TRUE(Probe().ok());
  EXPECT_THAT(printed_, Not(HasSubstr("board")));
}

TEST_F(HcaProbeTest, OnlyAsksAndLeavesNothing) {
  ASSERT_TRUE(Probe().ok());
  EXPECT_THAT(host_.trace.Names(),
              ElementsAre("QUERY_FW", "MAP_FA", "RUN_FW", "QUERY_DEV_CAP",
                          "QUERY_ADAPTER", "QUERY_PORT", "UNMAP_FA"));
  EXPECT_EQ(host_.function->mapped(), 0u);
  EXPECT_EQ(host_.model.stage(), hca::model::mlx4::Firmware::Stage::kReset);
  EXPECT_TRUE(Probe().ok()) << "the owner's semaphore was given back";
}

TEST_F(HcaProbeTest, TellsThatTheLastOwnerWasKilled) {
  host_.function->OpenBar(0).value()->Read32(hca::prm::kOwner);
  ASSERT_TRUE(Probe().ok());
  EXPECT_THAT(printed_, HasSubstr("note: the adapter's last owner was killed"));
}

}  // namespace
}  // namespace ibemu::daemon

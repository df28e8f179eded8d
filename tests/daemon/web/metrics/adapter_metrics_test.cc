#include "daemon/web/metrics/adapter_metrics.h"

#include <gtest/gtest.h>
#include <prometheus/text_serializer.h>

#include <sstream>
#include <string>

#include "absl/strings/str_cat.h"
#include "daemon/subnet/fabric_methods.h"
#include "daemon/words/port_text.h"
#include "gmock/gmock.h"
#include "hca/prm/mlx4_commands.h"
#include "mad/host.h"
#include "testing/lab.h"
#include "testing/mad_builder.h"
#include "testing/recording_client.h"
#include "tests/daemon/hca_adapters_lab.h"

namespace ibemu::daemon {
namespace {

using ::testing::ContainsRegex, ::testing::HasSubstr, ::testing::Not;
using testing::LidGet;

class AdapterMetricsTest : public HcaAdaptersLab {
 protected:
  static std::string Text(const MetricFamilies& families) {
    std::ostringstream text;
    prometheus::TextSerializer().Serialize(text, families);
    return text.str();
  }
  std::string Metrics() { return Text(AdapterMetrics(adapters_)); }
  std::string PortMetrics() {
    MetricFamilies families;
    for (size_t kind = 0; kind < kAdapterPortMetrics; ++kind) {
      families.push_back(AdapterPortMetrics(adapters_, kind));
    }
    return Text(families);
  }
};

TEST_F(AdapterMetricsTest, SayWhatEachAdapterIs) {
  Start("host-1");
  Start("host-2");
  const std::string text = Metrics();
  EXPECT_THAT(text,
              ContainsRegex("ibemu_adapter_info\\{adapter=\"lab/host-1\","
                            "device=\"ConnectX-3 \\(15b3:1003\\)\","
                            "board_id=\"[^\"]+\",firmware=\"2.42.5000\","
                            "node=\"host-1\",guid=\"0x[0-9a-f]+\"\\} 1\n"));
  EXPECT_THAT(text,
              HasSubstr("ibemu_adapter_alive{adapter=\"lab/host-2\"} 1\n"));
}

// Prometheus would take no metric at all.
TEST_F(AdapterMetricsTest, AreUtf8WhateverTheNodeIsCalled) {
  Start("host-1");
  adapters_.device(AdapterId{0})
      .SetNodeDescription(
          "r\xc3\xa4"
          "ck \xff");
  EXPECT_THAT(Metrics(), HasSubstr("node=\"r\xc3\xa4"
                                   "ck \xef\xbf\xbd\""));
}

TEST_F(AdapterMetricsTest, CountCommandsByWhatBecameOfThem) {
  testing::Mlx4Machine& host = PlugInAlone("host-1");
  host.model.faults().Refuse(hca::prm::Opcode::kModStatCfg,
                             hca::prm::CommandStatus::kBadParam);
  ASSERT_TRUE(Add(host, "card").ok());
  const std::string text = Metrics();
  const auto commands = [](const std::string& command,
                           const std::string& result) {
    return "ibemu_adapter_commands_total{adapter=\"card\",command=\"" +
           command + "\",result=\"" + result + "\"} ";
  };
  EXPECT_THAT(text, HasSubstr(commands("INIT_HCA", "done") + "1\n"));
  EXPECT_THAT(text, HasSubstr(commands("INIT_HCA", "timed_out") + "0\n"));
  EXPECT_THAT(text, HasSubstr(commands("MOD_STAT_CFG", "refused") + "1\n"));
  EXPECT_THAT(text, HasSubstr("ibemu_adapter_command_seconds_total{adapter="
                              "\"card\",command=\"INIT_HCA\"} "));
}

TEST_F(AdapterMetricsTest, CountEventsByTheirType) {
  Start("host-1");
  ASSERT_TRUE(fabric_.SetLink(lab_.Find("host-1"), 1, false).ok());
  Run(absl::Milliseconds(10));
  EXPECT_THAT(Metrics(), ContainsRegex("ibemu_adapter_events_total\\{adapter="
                                       "\"lab/host-1\",type=\"port_change\"\\} "
                                       "[1-9]"));
  EXPECT_THAT(PortMetrics(),
              ContainsRegex("ibemu_port_state\\{node=\"host-1\",guid=\"0x[0-9a-"
                            "f]+\",port=\"1\"\\} 1\n"));
}

TEST_F(AdapterMetricsTest, TellWhatProgramsHave) {
  Start("host-1");
  EXPECT_THAT(Metrics(), HasSubstr("ibemu_adapter_objects{adapter=\"lab/"
                                   "host-1\",kind=\"protection_domain\"} 0\n"));
  const auto pd = adapters_.provider(AdapterId{0}).CreatePd(/*process=*/0);
  ASSERT_TRUE(pd.ok()) << pd.status();
  const std::string text = Metrics();
  EXPECT_THAT(text, HasSubstr("ibemu_adapter_objects{adapter=\"lab/host-1\","
                              "kind=\"protection_domain\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("ibemu_adapter_message_memory_bytes{adapter="
                              "\"lab/host-1\",queue=\"send\"} 0\n"));
}

// The link's other end asks, and the firmware's agent answers.
TEST_F(AdapterMetricsTest, CountTheMadsOfEachQueuePair) {
  Start("host-1");
  const std::string labels = "{node=\"host-1\",guid=\"" +
                             GuidText(adapters_.node_guid(AdapterId{0})) +
                             "\",port=\"1\",qp=\"";
  EXPECT_THAT(PortMetrics(), HasSubstr("ibemu_port_mads_received_total" +
                                       labels + "0\"} 0\n"));
  mad::Host asking(timers_, fabric_.device(lab_.Find("host-2")));
  testing::RecordingClient client;
  const auto agent = asking.Register(1, {.qp = 1}, client);
  ASSERT_TRUE(agent.ok()) << agent.status();
  const mad::Outgoing packet =
      LidGet(1, mad::MgmtClass::kPerformance,
             adapters_.device(AdapterId{0}).port(1).Info().lid,
             mad::AttributeId::kClassPortInfo);
  ASSERT_TRUE((*agent)
                  ->Send({.to = packet.to,
                          .mad = {packet.mad.begin(), packet.mad.end()},
                          .timeout = absl::Milliseconds(20)})
                  .ok());
  Run(absl::Milliseconds(10));
  const std::string text = PortMetrics();
  for (const char* const name : {"received", "sent"}) {
    EXPECT_THAT(text, HasSubstr(absl::StrCat("ibemu_port_mads_", name, "_total",
                                             labels, "1\"} 1\n")));
  }
  EXPECT_THAT(text,
              HasSubstr("ibemu_port_mads_dropped_total" + labels + "1\"} 0\n"));
}

TEST_F(AdapterMetricsTest, ADeadAdapterIsTold) {
  Start("host-1").model.Fail(1);
  Run(absl::Seconds(3));
  EXPECT_THAT(Metrics(),
              HasSubstr("ibemu_adapter_alive{adapter=\"lab/host-1\"} 0\n"));
  EXPECT_THAT(PortMetrics(), ContainsRegex("ibemu_port_state\\{.*\\} 1\n"));
}

}  // namespace
}  // namespace ibemu::daemon

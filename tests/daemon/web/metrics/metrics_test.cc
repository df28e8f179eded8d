#include "daemon/web/metrics/metrics.h"

#include <prometheus/text_serializer.h>

#include <sstream>
#include <string>

#include "daemon/subnet/fabric_methods.h"
#include "daemon/web/metrics/process_metrics.h"
#include "daemon/words/port_text.h"
#include "fabric/subnet/subnet.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "testing/lab.h"
#include "testing/verbs_end.h"

namespace ibemu::daemon {
namespace {

using ::testing::HasSubstr, ::testing::Not;

std::string Text(const MetricFamilies& families) {
  std::ostringstream text;
  prometheus::TextSerializer().Serialize(text, families);
  return text.str();
}

// Three hosts on one switch.
class MetricsTest : public ::testing::Test {
 protected:
  MetricsTest() { lab_.timers.RunFor(absl::Seconds(1)); }
  topology::NodeId Find(std::string_view name) {
    return *lab_.fabric.Find(name);
  }

  testing::Lab lab_{"single-switch:hosts=3", testing::Lab::kStatically};
};

TEST_F(MetricsTest, CountNodesAndLinks) {
  lab_.fabric.SetNode(Find("node-3"), false);
  const std::string text = Text(FabricMetrics(lab_.fabric));
  EXPECT_THAT(text, HasSubstr("ibemu_nodes{type=\"ca\",state=\"up\"} 2\n"));
  EXPECT_THAT(text, HasSubstr("ibemu_nodes{type=\"ca\",state=\"down\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("ibemu_nodes{type=\"switch\",state=\"up\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("ibemu_links{state=\"active\"} 2\n"));
  EXPECT_THAT(text, HasSubstr("ibemu_links{state=\"down\"} 1\n"));
}

TEST_F(MetricsTest, CountTheRequestsInQueuePairsOfAHost) {
  EXPECT_THAT(Text(FabricMetrics(lab_.fabric)),
              Not(HasSubstr("ibemu_queue_pair_requests")));
  testing::VerbsEnd one(lab_.timers, lab_.Provider(1), {});
  one.Modify(testing::VerbsEnd::Towards(one), verbs::QpState::kInit,
             testing::StepTo(verbs::QpState::kInit, verbs::QpType::kRc));
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(one.Receive(0, 8).ok());
  const std::string text = Text(FabricMetrics(lab_.fabric));
  EXPECT_THAT(text, HasSubstr("ibemu_queue_pair_requests{node=\"node-1\","));
  EXPECT_THAT(text, HasSubstr(",queue=\"receive\"} 3\n"));
  EXPECT_THAT(text, HasSubstr(",queue=\"send\"} 0\n"));
  EXPECT_THAT(text, Not(HasSubstr("node-2\",guid")));
}

TEST_F(MetricsTest, TellWhatAPortCounts) {
  lab_.SetLink(Find("node-2"), 1, false);
  lab_.SetLink(Find("node-2"), 1, true);
  fabric::Subnet& subnet = lab_.subnet();
  fabric::NodePort& port =
      subnet.port(*lab_.fabric.FindPort(Find("node-2"), 1));
  port.traffic.xmit_data = 10;
  std::string text;
  for (size_t kind = 0; kind < PortMetricKinds(); ++kind) {
    text += Text({PortMetrics(kind, subnet, 0, subnet.ports().size())});
  }
  const std::string labels = "{node=\"node-2\",guid=\"" +
                             GuidText(subnet.node(Find("node-2")).node_guid) +
                             "\",port=\"1\"}";
  EXPECT_THAT(
      text, HasSubstr("ibemu_port_transmitted_bytes_total" + labels + " 40\n"));
  EXPECT_THAT(text,
              HasSubstr("ibemu_port_link_downed_total" + labels + " 1\n"));
  EXPECT_THAT(text, HasSubstr("ibemu_port_state" + labels + " 4\n"));
}

TEST_F(MetricsTest, SlicesTogetherHoldEachPortOnce) {
  const fabric::Subnet& subnet = lab_.subnet();
  size_t found = 0;
  for (size_t from = 0; from < subnet.ports().size(); from += 2) {
    found += PortMetrics(0, subnet, from, 2).metric.size();
  }
  EXPECT_EQ(found, 6u) << "with a cable";
}

TEST_F(MetricsTest, TellOfTheProcess) {
  const std::string text = Text(ProcessMetrics());
  EXPECT_THAT(text, HasSubstr("ibemu_build_info{version=\""));
  EXPECT_THAT(text, HasSubstr("process_resident_memory_bytes "));
  EXPECT_THAT(text, Not(HasSubstr("process_resident_memory_bytes 0\n")));
  EXPECT_THAT(text, Not(HasSubstr("process_open_fds 0\n")));
}

}  // namespace
}  // namespace ibemu::daemon

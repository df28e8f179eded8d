#include "daemon/web/metrics/joined_metrics.h"

#include <prometheus/text_serializer.h>

#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ibemu::daemon {
namespace {

using ::testing::HasSubstr, ::testing::Not;

TEST(JoinedMetricsTest, WithoutAHostThereAreNone) {
  EXPECT_TRUE(JoinedMetrics({}).empty());
}

TEST(JoinedMetricsTest, EachHostHasItsTimesAndLeases) {
  std::ostringstream out;
  prometheus::TextSerializer().Serialize(
      out, JoinedMetrics({{.node = "node-2",
                           .peer = "pc7 (10.0.0.7)",
                           .round_trip = absl::Milliseconds(250),
                           .behind = absl::ZeroDuration(),
                           .leases = 3,
                           .has_packet_connection = true},
                          {.node = "node-3",
                           .peer = "",
                           .round_trip = std::nullopt,
                           .behind = absl::Seconds(4),
                           .leases = 0,
                           .has_packet_connection = false}}));
  const std::string text = out.str();
  const std::string first = R"x({node="node-2",peer="pc7 (10.0.0.7)"})x";
  const std::string second = R"x({node="node-3",peer=""})x";
  const auto line = [](const char* name, const std::string& labels,
                       const char* value) {
    return absl::StrCat("\nibemu_joined_host_", name, labels, " ", value, "\n");
  };
  EXPECT_THAT(text, HasSubstr(line("round_trip_seconds", first, "0.25")));
  EXPECT_THAT(text, HasSubstr(line("behind_seconds", first, "0")));
  EXPECT_THAT(text, HasSubstr(line("leases", first, "3")));
  EXPECT_THAT(text, HasSubstr(line("packet_connection", first, "1")));
  EXPECT_THAT(text, HasSubstr(line("packet_connection", second, "0")));
  // No echo has come back from there yet.
  EXPECT_THAT(text, Not(HasSubstr("round_trip_seconds" + second)));
  EXPECT_THAT(text, HasSubstr(line("behind_seconds", second, "4")));
}

}  // namespace
}  // namespace ibemu::daemon

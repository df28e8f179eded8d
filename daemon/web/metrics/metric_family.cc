#include "daemon/web/metrics/metric_family.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "absl/strings/ascii.h"

namespace ibemu::daemon {
namespace {

using nlohmann::json;

// Prometheus throws away all metrics that come with a label that is not UTF-8,
// and what somebody calls a node may be any bytes.
std::string Utf8(std::string text) {
  if (std::ranges::all_of(text, absl::ascii_isascii)) return text;
  return json::parse(json(std::move(text))
                         .dump(-1, ' ', /*ensure_ascii=*/false,
                               json::error_handler_t::replace));
}

}  // namespace

prometheus::MetricFamily MakeFamily(std::string name, std::string help,
                                    prometheus::MetricType type) {
  return {.name = std::move(name),
          .help = std::move(help),
          .type = type,
          .metric = {}};
}

void AddSample(prometheus::MetricFamily& family, double value,
               MetricLabels labels) {
  prometheus::ClientMetric metric;
  metric.label = std::move(labels);
  for (auto& label : metric.label) label.value = Utf8(std::move(label.value));
  if (family.type == prometheus::MetricType::Counter) {
    metric.counter.value = value;
  } else {
    metric.gauge.value = value;
  }
  family.metric.push_back(std::move(metric));
}

}  // namespace ibemu::daemon

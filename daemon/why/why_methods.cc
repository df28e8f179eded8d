#include "daemon/why/why_methods.h"

#include <algorithm>
#include <string>

#include "absl/strings/str_format.h"
#include "base/status_macros.h"
#include "fabric/history/queue_pair_histories.h"
#include "fabric/subnet/subnet.h"
#include "nlohmann/json.hpp"

namespace ibemu::daemon {
namespace {

using nlohmann::json;

constexpr int64_t kLastQpn = 0xffffff;

}  // namespace

WhyMethods::WhyMethods(Timers& timers, const fabric::Fabric& fabric,
                       const Diagnosis& diagnosis)
    : timers_(timers), fabric_(fabric), diagnosis_(diagnosis) {}

void WhyMethods::AddTo(control::MethodTable& dispatcher) {
  dispatcher.Add("queue_pair.why",
                 [this](control::Parameters& parameters, control::Caller&) {
                   return Why(parameters);
                 });
}

absl::StatusOr<json> WhyMethods::Why(control::Parameters& parameters) const {
  const std::string name = parameters.Text("node", "");
  const int64_t qpn = parameters.Number("qpn", 0, 2, kLastQpn);
  IBEMU_RETURN_IF_ERROR(parameters.Finish());
  IBEMU_ASSIGN_OR_RETURN(const auto nodes, fabric_.FindHost(name));
  json failed = json::array();
  json others = json::array();
  for (const topology::NodeId node : nodes) {
    fabric_.histories().ForEach(
        node, [&](uint32_t number, bool exists,
                  const fabric::QueuePairHistory& history) {
          if (qpn != 0 && number != qpn) return;
          (history.failure() ? failed : others)
              .push_back(Describe(node, number, exists, history));
        });
  }
  if (qpn != 0 && failed.empty() && others.empty()) {
    return absl::NotFoundError(absl::StrFormat(
        "%s has no queue pair %#x, and had none lately", name, qpn));
  }
  for (json& other : others) failed.push_back(std::move(other));
  const size_t more = failed.size() - std::min(failed.size(), kMost);
  failed.erase(failed.end() - static_cast<long>(more), failed.end());
  return json{{"queue_pairs", std::move(failed)},
              {"more", more},
              {"now_ns", SinceStart(timers_.Now())}};
}

int64_t WhyMethods::SinceStart(absl::Time time) const {
  return absl::ToInt64Nanoseconds(diagnosis_.SinceStart(time));
}

json WhyMethods::Describe(topology::NodeId node, uint32_t qpn, bool exists,
                          const fabric::QueuePairHistory& history) const {
  json incidents = json::array();
  for (const fabric::Incident& incident : history.incidents()) {
    incidents.push_back({{"time_ns", SinceStart(incident.first)},
                         {"until_ns", SinceStart(incident.last)},
                         {"count", incident.count},
                         {"kind", fabric::NameOf(incident.kind)},
                         {"psn", incident.psn},
                         {"text", incident.drop ? diagnosis_.DropText(incident)
                                                : incident.text}});
  }
  const std::string why = diagnosis_.Explain(node, qpn, history);
  return {
      {"node", fabric_.subnet().node(node).description},
      {"qpn", qpn},
      {"exists", exists},
      {"why", why.empty() ? json() : json(why)},
      {"failed_ns",
       history.failure() ? json(SinceStart(history.failure()->time)) : json()},
      {"incidents", std::move(incidents)}};
}

}  // namespace ibemu::daemon

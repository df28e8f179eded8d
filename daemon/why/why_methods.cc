#include "daemon/why/why_methods.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/status_macros.h"
#include "daemon/words/queue_pair_text.h"
#include "fabric/history/queue_pair_histories.h"
#include "fabric/subnet/subnet.h"
#include "nlohmann/json.hpp"

namespace ibemu::daemon {
namespace {

using nlohmann::json;

constexpr int64_t kLastQpn = 0xffffff;

}  // namespace

WhyMethods::WhyMethods(Timers& timers, const fabric::Fabric& fabric,
                       const Diagnosis& diagnosis, const MadHistory& mads,
                       const RefusedCalls& calls, ActedFaults faults)
    : timers_(timers),
      fabric_(fabric),
      diagnosis_(diagnosis),
      mads_(mads),
      calls_(calls),
      faults_(std::move(faults)) {}

void WhyMethods::AddTo(control::MethodTable& dispatcher) {
  dispatcher.Add("queue_pair.why",
                 [this](control::Parameters& parameters, control::Caller&) {
                   return Why(parameters);
                 });
}

absl::StatusOr<json> WhyMethods::Why(control::Parameters& parameters) const {
  const std::string name = parameters.Text("node", "");
  const int64_t qpn = parameters.Number("qpn", 0, 2, kLastQpn);
  const int64_t process =
      parameters.Number("pid", 0, 1, std::numeric_limits<int64_t>::max());
  const bool all = parameters.Flag("all", false);
  IBEMU_RETURN_IF_ERROR(parameters.Finish());
  if (process != 0 && (qpn != 0 || !name.empty())) {
    return absl::InvalidArgumentError(
        "pid goes with neither node nor qpn: it is of all nodes");
  }
  json failed = json::array();
  json others = json::array();
  json mads = json::array();
  json calls = json::array();
  json faults = json::array();
  const auto take = [&](topology::NodeId node, uint32_t number, bool exists,
                        const fabric::QueuePairHistory& history) {
    if (qpn != 0 && number != qpn) return;
    (history.failure() ? failed : others)
        .push_back(Describe(node, number, exists, history));
  };
  if (process != 0) {
    const auto id = static_cast<uint64_t>(process);
    fabric_.histories().ForEachOf(id, take);
    std::vector<topology::NodeId> nodes;
    for (const fabric::Node& node : fabric_.subnet().nodes()) {
      DescribeCalls(node, id, calls);
      nodes.push_back(static_cast<topology::NodeId>(nodes.size()));
    }
    mads = DescribeMads(nodes, id, all);
    faults = faults_({}, id);
  } else {
    IBEMU_ASSIGN_OR_RETURN(const auto nodes, fabric_.FindHost(name));
    for (const topology::NodeId node : nodes) {
      fabric_.histories().ForEach(node, take);
    }
    if (qpn == 0) {
      mads = DescribeMads(nodes, 0, all);
      for (const topology::NodeId node : nodes) {
        DescribeCalls(fabric_.subnet().node(node), std::nullopt, calls);
      }
      faults = faults_(nodes, 0);
    }
  }
  if (qpn != 0 && failed.empty() && others.empty()) {
    return absl::NotFoundError(absl::StrFormat(
        "%s has no queue pair %#x, and had none lately", name, qpn));
  }
  for (json& other : others) failed.push_back(std::move(other));
  const size_t more = failed.size() - std::min(failed.size(), kMax);
  failed.erase(failed.end() - static_cast<long>(more), failed.end());
  return json{{"queue_pairs", std::move(failed)},
              {"more", more},
              {"mads", std::move(mads)},
              {"calls", std::move(calls)},
              {"faults", std::move(faults)},
              {"now_ns", SinceStart(timers_.Now())}};
}

int64_t WhyMethods::SinceStart(absl::Time time) const {
  return absl::ToInt64Nanoseconds(diagnosis_.SinceStart(time));
}

json WhyMethods::DescribeMads(const std::vector<topology::NodeId>& nodes,
                              uint64_t process, bool answered) const {
  json all = json::array();
  const auto add = [&](topology::NodeId node, const auto& one) {
    if (process != 0 && one.process != process) return;
    all.push_back({{"node", fabric_.subnet().node(node).description},
                   {"port", one.port},
                   {"pid", one.process == 0 ? json() : json(one.process)},
                   {"begin_ns", SinceStart(one.begin)},
                   {"end_ns", SinceStart(one.end)},
                   {"tries", one.tries},
                   {"why", mads_.Sentence(node, one)}});
  };
  for (const topology::NodeId id : nodes) {
    for (const MadHistory::Timeout& one : mads_.Of(id)) add(id, one);
    if (!answered) continue;
    for (const MadHistory::Answer& one : mads_.AnswersOf(id)) add(id, one);
  }
  if (answered) {
    std::ranges::stable_sort(
        all.get_ref<json::array_t&>(), {},
        [](const json& one) { return one["end_ns"].get<int64_t>(); });
  }
  return all;
}

void WhyMethods::DescribeCalls(const fabric::Node& node,
                               std::optional<uint64_t> process,
                               json& calls) const {
  for (const RefusedCalls::Call& call : calls_.Of(node.node_guid)) {
    if (process.value_or(call.process) != call.process) continue;
    const auto number = ProcessNumber(call.process);
    calls.push_back({{"node", node.description},
                     {"pid", number ? json(*number) : json()},
                     {"begin_ns", SinceStart(call.first)},
                     {"end_ns", SinceStart(call.last)},
                     {"count", call.count},
                     {"why", RefusedCalls::Sentence(node.description, call)}});
  }
}

json WhyMethods::Describe(topology::NodeId node, uint32_t qpn, bool exists,
                          const fabric::QueuePairHistory& history) const {
  json incidents = json::array();
  std::optional<absl::Time> last;
  for (const fabric::Incident& incident : history.incidents()) {
    last = std::max(last.value_or(incident.last), incident.last);
    incidents.push_back({{"time_ns", SinceStart(incident.first)},
                         {"until_ns", SinceStart(incident.last)},
                         {"count", incident.count},
                         {"kind", fabric::NameOf(incident.kind)},
                         {"psn", incident.psn ? json(*incident.psn) : json()},
                         {"text", diagnosis_.IncidentText(incident)}});
  }
  const std::string why = diagnosis_.Explain(node, qpn, history);
  const std::string trouble = diagnosis_.Trouble(node, qpn, history);
  const auto process = ProcessNumber(history.process());
  return {
      {"node", fabric_.subnet().node(node).description},
      {"qpn", qpn},
      {"pid", process ? json(*process) : json()},
      {"exists", exists},
      {"why", why.empty() ? json() : json(why)},
      {"trouble", trouble.empty() ? json() : json(trouble)},
      {"last_ns", last ? json(SinceStart(*last)) : json()},
      {"failed_ns",
       history.failure() ? json(SinceStart(history.failure()->time)) : json()},
      {"incidents", std::move(incidents)}};
}

}  // namespace ibemu::daemon

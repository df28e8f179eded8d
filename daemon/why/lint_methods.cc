#include "daemon/why/lint_methods.h"

#include <cstdint>
#include <limits>
#include <string>

#include "base/status_macros.h"
#include "daemon/why/pitfalls.h"
#include "daemon/words/queue_pair_text.h"
#include "fabric/history/queue_pair_histories.h"
#include "fabric/subnet/subnet.h"
#include "nlohmann/json.hpp"

namespace ibemu::daemon {

using nlohmann::json;

void LintMethods::AddTo(control::MethodTable& dispatcher) {
  dispatcher.Add("queue_pair.lint",
                 [this](control::Parameters& parameters, control::Caller&) {
                   return Lint(parameters);
                 });
}

absl::StatusOr<json> LintMethods::Lint(control::Parameters& parameters) const {
  const std::string name = parameters.Text("node", "");
  const absl::Duration since = absl::Nanoseconds(
      parameters.Number("since_ns", 0, 0, std::numeric_limits<int64_t>::max()));
  IBEMU_RETURN_IF_ERROR(parameters.Finish());
  IBEMU_ASSIGN_OR_RETURN(const auto nodes, fabric_.FindHost(name));
  json findings = json::array();
  const auto add = [&](const fabric::Node& node, const json& qpn,
                       uint64_t process, const Pitfall& one) {
    findings.push_back({{"node", node.description},
                        {"qpn", qpn},
                        {"pid", process},
                        {"rule", one.rule},
                        {"what", one.what}});
  };
  const auto look = [&](topology::NodeId node, uint32_t qpn, bool /*exists*/,
                        const fabric::QueuePairHistory& history) {
    const auto& facts = history.facts();
    const auto process = ProcessNumber(history.process());
    if (!facts || !process || diagnosis_.SinceStart(facts->time) < since) {
      return;
    }
    for (const Pitfall& one : FindPitfalls(*facts, PeerOf(qpn, history))) {
      add(fabric_.subnet().node(node), qpn, *process, one);
    }
  };
  for (const topology::NodeId node : nodes) {
    fabric_.histories().ForEach(node, look);
    for (const EndedContexts::Ended& ended : contexts_.all()) {
      if (ended.node_guid != fabric_.subnet().node(node).node_guid ||
          diagnosis_.SinceStart(ended.time) < since) {
        continue;
      }
      for (const Pitfall& one : ended.pitfalls) {
        add(fabric_.subnet().node(node), nullptr, ended.process, one);
      }
    }
  }
  return json{{"findings", std::move(findings)},
              {"now_ns",
               absl::ToInt64Nanoseconds(diagnosis_.SinceStart(timers_.Now()))}};
}

const fabric::QueuePairFacts* LintMethods::PeerOf(
    uint32_t qpn, const fabric::QueuePairHistory& history) const {
  const fabric::QueuePairHistory* const peer = diagnosis_.PeerOf(history);
  return peer != nullptr && peer->facts() &&
                 peer->facts()->attributes.dest_qp_num == qpn
             ? &*peer->facts()
             : nullptr;
}

}  // namespace ibemu::daemon

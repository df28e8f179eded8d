#include "daemon/why/why_events.h"

#include <algorithm>

#include "daemon/words/queue_pair_text.h"
#include "fabric/history/queue_pair_histories.h"
#include "fabric/subnet/subnet.h"
#include "nlohmann/json.hpp"
#include "verbs/wc_status.h"

namespace ibemu::daemon {

using nlohmann::json;

WhyEvents::WhyEvents(fabric::Fabric& fabric, FabricEventLog& events,
                     const Diagnosis& diagnosis, MadHistory& mads,
                     RefusedCalls& calls)
    : fabric_(fabric),
      events_(events),
      diagnosis_(diagnosis),
      mads_(mads),
      calls_(calls) {
  fabric_.histories().SetIncidentListener(
      [this](topology::NodeId node, uint32_t qpn,
             const fabric::QueuePairHistory& history,
             const fabric::Incident& incident) {
        OnIncident(node, qpn, history, incident);
      });
  mads_.SetTimeoutListener(
      [this](topology::NodeId node, const MadHistory::Timeout& timeout) {
        OnTimeout(node, timeout);
      });
  calls_.SetListener(
      [this](wire::Guid node_guid, const RefusedCalls::Call& call) {
        OnRefusal(node_guid, call);
      });
}

WhyEvents::~WhyEvents() {
  fabric_.histories().SetIncidentListener(nullptr);
  mads_.SetTimeoutListener(nullptr);
  calls_.SetListener(nullptr);
}

void WhyEvents::OnIncident(topology::NodeId node, uint32_t qpn,
                           const fabric::QueuePairHistory& history,
                           const fabric::Incident& incident) {
  if (incident.kind == fabric::Incident::Kind::kFailed) {
    return OnFailure(node, qpn, history);
  }
  if (!events_.DetailsWanted("qp")) return;
  events_.TellDetail("qp",
                     {{"node", fabric_.subnet().node(node).description},
                      {"qpn", qpn},
                      {"kind", fabric::NameOf(incident.kind)},
                      {"psn", incident.psn ? json(*incident.psn) : json()},
                      {"text", diagnosis_.IncidentText(incident)}});
}

void WhyEvents::OnFailure(topology::NodeId node, uint32_t qpn,
                          const fabric::QueuePairHistory& history) {
  if (!events_.Wanted("qp")) return;
  const fabric::QueuePairHistory::Failure& failure = *history.failure();
  events_.Tell("qp", {{"node", fabric_.subnet().node(node).description},
                      {"qpn", qpn},
                      {"kind", fabric::NameOf(fabric::Incident::Kind::kFailed)},
                      {"psn", failure.psn ? json(*failure.psn) : json()},
                      {"wr_id", failure.id},
                      {"status", verbs::wc_status::NameOf(failure.status)},
                      {"why", diagnosis_.Explain(node, qpn, history)}});
}

void WhyEvents::OnTimeout(topology::NodeId node,
                          const MadHistory::Timeout& timeout) {
  if (!events_.DetailsWanted("mad")) return;
  events_.TellDetail("mad", {{"node", fabric_.subnet().node(node).description},
                             {"port", timeout.port},
                             {"tries", timeout.tries},
                             {"why", mads_.Sentence(node, timeout)}});
}

void WhyEvents::OnRefusal(wire::Guid node_guid,
                          const RefusedCalls::Call& call) {
  if (!events_.DetailsWanted("call")) return;
  const auto& nodes = fabric_.subnet().nodes();
  const auto node =
      std::ranges::find(nodes, node_guid, &fabric::Node::node_guid);
  if (node == nodes.end()) return;
  const auto process = ProcessNumber(call.process);
  events_.TellDetail(
      "call", {{"node", node->description},
               {"pid", process ? json(*process) : json()},
               {"why", RefusedCalls::Sentence(node->description, call)}});
}

}  // namespace ibemu::daemon

#include "daemon/why/failure_events.h"

#include "fabric/history/queue_pair_histories.h"
#include "fabric/subnet/subnet.h"
#include "nlohmann/json.hpp"
#include "verbs/wc_status.h"

namespace ibemu::daemon {

FailureEvents::FailureEvents(fabric::Fabric& fabric, FabricEventLog& events,
                             const Diagnosis& diagnosis)
    : fabric_(fabric), events_(events), diagnosis_(diagnosis) {
  fabric_.histories().SetFailureListener(
      [this](topology::NodeId node, uint32_t qpn,
             const fabric::QueuePairHistory& history) {
        OnFailure(node, qpn, history);
      });
}

FailureEvents::~FailureEvents() {
  fabric_.histories().SetFailureListener(nullptr);
}

void FailureEvents::OnFailure(topology::NodeId node, uint32_t qpn,
                              const fabric::QueuePairHistory& history) {
  if (!events_.Wanted("qp")) return;
  const fabric::QueuePairHistory::Failure& failure = *history.failure();
  events_.Tell("qp", {{"node", fabric_.subnet().node(node).description},
                      {"qpn", qpn},
                      {"wr_id", failure.id},
                      {"status", verbs::wc_status::NameOf(failure.status)},
                      {"why", diagnosis_.Explain(node, qpn, history)}});
}

}  // namespace ibemu::daemon

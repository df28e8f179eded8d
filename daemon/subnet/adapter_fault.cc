#include "daemon/subnet/adapter_fault.h"

#include <string>
#include <vector>

#include "absl/strings/str_format.h"
#include "base/status_macros.h"
#include "daemon/words/queue_pair_text.h"
#include "fabric/soft_hca/hca.h"
#include "fabric/soft_hca/queue_pair.h"
#include "fabric/subnet/subnet.h"
#include "nlohmann/json.hpp"

namespace ibemu::daemon {
namespace {

using fabric::Fabric, fabric::FaultPlace, fabric::Hca, fabric::QueuePair;
using nlohmann::json;
using topology::NodeId;

json DescribeActs(const fabric::FaultActs& acts) {
  return {{"seen", acts.seen}, {"acted", acts.acted}};
}

absl::Status CheckOpcode(const QueuePair& qp, const std::string& place,
                         const fabric::OpcodeFilter& filter) {
  if (filter.IsOf(qp.type())) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrFormat("opcode %s: %s is of type %s, which has no such packets",
                      fabric::NameOf(filter), place, QpTypeText(qp.type())));
}

absl::Status CheckAct(const QueuePair& qp, const std::string& place,
                      FaultAct act) {
  if (act == FaultAct::kError && qp.state() == verbs::QpState::kError) {
    return absl::FailedPreconditionError(
        absl::StrFormat("%s is in the error state already", place));
  }
  if (act != FaultAct::kSendQueueError || qp.CanFailToSend()) {
    return absl::OkStatus();
  }
  if (qp.type() == verbs::QpType::kRc) {
    return absl::FailedPreconditionError(absl::StrFormat(
        "%s is of type RC, which has no state SQE: its errors lead to ERR",
        place));
  }
  return absl::FailedPreconditionError(
      absl::StrFormat("%s is in the state %s: SQE follows RTS and SQD", place,
                      verbs::NameOf(qp.state())));
}

// Returns the adapters that the request concerns and that exist.
std::vector<Hca*> AdaptersOf(Fabric& fabric, NodeId node,
                             const FaultRequest& request) {
  std::vector<Hca*> adapters;
  const auto add = [&](NodeId id) {
    Hca* const hca = fabric.FindHca(id);
    if (hca != nullptr) adapters.push_back(hca);
  };
  if (request.place != FaultRequest::Place::kProcess) {
    add(node);
    return adapters;
  }
  for (size_t i = 0; i < fabric.subnet().nodes().size(); ++i) {
    add(static_cast<NodeId>(i));
  }
  return adapters;
}

}  // namespace

absl::Status AdapterFault::CheckNode(const Fabric& fabric, NodeId id,
                                     const FaultRequest& request) {
  const fabric::Node& node = fabric.subnet().node(id);
  if (node.type != mad::NodeType::kChannelAdapter) {
    return absl::FailedPreconditionError(absl::StrFormat(
        "\"%s\" is no channel adapter: it has no verbs", node.description));
  }
  if (node.remote) {
    return absl::FailedPreconditionError(absl::StrFormat(
        "the adapter of \"%s\" is that of another machine, which alone has its "
        "queue pairs",
        node.description));
  }
  if (request.act != FaultAct::kEvent || request.event_port == 0) {
    return absl::OkStatus();
  }
  return fabric.FindPort(id, request.event_port).status();
}

absl::Status AdapterFault::CheckQueuePair(const Fabric& fabric, NodeId node,
                                          const FaultRequest& request) {
  if (!request.qpn) return absl::OkStatus();
  const Hca* const hca = fabric.FindHca(node);
  const QueuePair* const qp =
      hca == nullptr ? nullptr : hca->FindQueuePair(*request.qpn);
  const std::string place =
      absl::StrFormat("queue pair 0x%x of \"%s\"", *request.qpn,
                      fabric.subnet().node(node).description);
  if (qp == nullptr) {
    return absl::NotFoundError(
        absl::StrFormat("there is no %s: \"ibemu qp ls\" lists them", place));
  }
  if (request.faults.concerns.opcode) {
    IBEMU_RETURN_IF_ERROR(
        CheckOpcode(*qp, place, *request.faults.concerns.opcode));
  }
  return CheckAct(*qp, place, request.act);
}

absl::Status AdapterFault::Act(Fabric& fabric, NodeId node,
                               const FaultRequest& request,
                               std::string_view name) {
  bool done = request.act == FaultAct::kEvent;
  const bool of_process = request.place == FaultRequest::Place::kProcess;
  const auto act = [&](QueuePair& qp) {
    if (!CheckAct(qp, "", request.act).ok()) return;
    done = true;
    request.act == FaultAct::kError ? qp.FailBy(name) : qp.FailToSendBy(name);
  };
  for (Hca* const hca : AdaptersOf(fabric, node, request)) {
    if (request.act == FaultAct::kEvent) {
      hca->Raise(request.event, request.event_port);
      continue;
    }
    for (const fabric::QueuePairStatus& status : hca->QueuePairs()) {
      if (request.qpn.value_or(status.number) != status.number) continue;
      if (of_process && request.process != status.process) continue;
      act(*hca->FindQueuePair(status.number));
    }
  }
  if (done) return absl::OkStatus();
  if (of_process) {
    return absl::FailedPreconditionError(absl::StrFormat(
        "process %d has no queue pair that could enter that state",
        request.process));
  }
  return absl::FailedPreconditionError(
      absl::StrFormat("\"%s\" has no queue pair that could enter that state",
                      fabric.subnet().node(node).description));
}

AdapterFault::AdapterFault(Fabric& fabric, NodeId node,
                           const FaultRequest& request, std::string_view name,
                           const fabric::FaultChance& chance)
    : faults_(fabric.adapter_faults()) {
  using enum fabric::QueuePairDirection;
  const FaultPlace place = request.place == FaultRequest::Place::kProcess
                               ? FaultPlace::OfProcess(request.process)
                               : FaultPlace::OfNode(node);
  if (request.resource) {
    fabric::ResourceFault fault = *request.resource;
    fault.name = name;
    resource_ = faults_.resources.Add(place, fault);
  } else if (request.events) {
    events_ = faults_.events.Add(place, *request.events);
  } else if (request.requests) {
    fabric::WorkRequestFault fault = *request.requests;
    fault.name = name;
    requests_ = faults_.requests.Add(place, request.qpn, fault);
  } else {
    const auto add = [&](fabric::QueuePairDirection direction) {
      return faults_.packets.Add(place, direction, request.qpn, request.faults,
                                 chance);
    };
    if (request.direction != FaultDirection::kReceive) sent_ = add(kSent);
    if (request.direction != FaultDirection::kTransmit) {
      received_ = add(kReceived);
    }
  }
}

AdapterFault::~AdapterFault() {
  if (sent_) faults_.packets.Remove(*sent_);
  if (received_) faults_.packets.Remove(*received_);
  if (requests_) faults_.requests.Remove(*requests_);
  if (resource_) faults_.resources.Remove(*resource_);
  if (events_) faults_.events.Remove(*events_);
}

void AdapterFault::AddNumbers(std::vector<uint32_t>& numbers) const {
  if (sent_) numbers.push_back(sent_->number);
  if (received_) numbers.push_back(received_->number);
}

void AdapterFault::DescribeCounts(json& description) const {
  if (sent_) {
    description["tx"] = DescribeFaultCounts(faults_.packets.CountsOf(*sent_));
  }
  if (received_) {
    description["rx"] =
        DescribeFaultCounts(faults_.packets.CountsOf(*received_));
  }
  if (requests_) {
    description["acts"] = DescribeActs(faults_.requests.ActsOf(*requests_));
  }
  if (resource_) {
    description["acts"] = DescribeActs(faults_.resources.ActsOf(*resource_));
  }
  if (events_) {
    description["acts"] = DescribeActs(faults_.events.ActsOf(*events_));
  }
}

json DescribeFaultCounts(const fabric::FaultCounts& counts) {
  return {{"packets", counts.packets},     {"lost", counts.lost},
          {"corrupted", counts.corrupted}, {"duplicated", counts.duplicated},
          {"reordered", counts.reordered}, {"delayed", counts.delayed}};
}

}  // namespace ibemu::daemon

#include "daemon/why/diagnosis.h"

#include <algorithm>
#include <optional>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/absl_text.h"
#include "fabric/history/queue_pair_histories.h"
#include "fabric/subnet/subnet.h"
#include "verbs/wc_status.h"

namespace ibemu::daemon {
namespace {

using fabric::DropCause, fabric::Incident;
using Kind = Incident::Kind;

constexpr char kUnknown[] = "the cause is not known";

// "536ms", "1.92ms"
std::string SpanText(absl::Duration span) {
  const absl::Duration unit = span < absl::Milliseconds(10)
                                  ? absl::Microseconds(10)
                                  : absl::Milliseconds(1);
  return absl::FormatDuration(absl::Trunc(span, unit));
}

}  // namespace

struct Diagnosis::PeerEnd {
  std::optional<topology::NodeId> node;
  uint32_t qpn = 0;
  const History* history = nullptr;         // null: nothing is known of it
  absl::Time end = absl::InfiniteFuture();  // when it was destroyed
};

std::string Diagnosis::QueuePairText(topology::NodeId node,
                                     uint32_t qpn) const {
  return absl::StrFormat("%s queue pair 0x%x",
                         fabric_.subnet().node(node).description, qpn);
}

std::string Diagnosis::Explain(topology::NodeId node, uint32_t qpn,
                               const History& history) const {
  if (!history.failure()) return "";
  const History::Failure& failure = *history.failure();
  return absl::StrFormat("%s: work request %d (%s) ended with %s: %s",
                         QueuePairText(node, qpn), failure.id, failure.what,
                         Absl(verbs::wc_status::NameOf(failure.status)),
                         Cause(history));
}

std::string Diagnosis::Trouble(topology::NodeId node, uint32_t qpn,
                               const History& history) const {
  if (history.failure()) return "";
  if (history.error()) {
    return absl::StrCat(QueuePairText(node, qpn), " went from ",
                        *history.error());
  }
  const Incident* const again =
      history.Latest(Kind::kSentAgain, absl::InfinitePast());
  if (again == nullptr) return "";
  // Since ever: what a NAK asks for was lost before it came.
  return absl::StrCat(
      QueuePairText(node, qpn), " sent packets again",
      again->count == 1 ? "" : absl::StrFormat(" (%d times)", again->count),
      ": ", WhereTheyWent(history, absl::InfinitePast()));
}

std::string Diagnosis::Cause(const History& history) const {
  namespace status = verbs::wc_status;
  if (history.failure()->status == status::kFlushed) return WhyFlushed(history);
  // What happened to it at its own end explains it, whatever the status.
  for (const Kind kind : {Kind::kFault, Kind::kDenied}) {
    const Incident* const own = history.LatestOf(kind, history.failure()->psn);
    if (own != nullptr) return own->text;
  }
  switch (history.failure()->status) {
    case status::kRetriesExceeded:
      return WhyUnanswered(history);
    case status::kRnrRetriesExceeded:
      return WhyNotReady(history);
    case status::kRemoteInvalidRequest:
    case status::kRemoteAccess:
    case status::kRemoteOperation:
      return WhyRefused(history);
    default:
      return kUnknown;
  }
}

std::string Diagnosis::WhyUnanswered(const History& history) const {
  const Incident* const again =
      history.Latest(Kind::kSentAgain, absl::InfinitePast());
  if (again == nullptr) return kUnknown;
  return absl::StrFormat("%d tries of PSN 0x%x in %s, none answered: %s",
                         again->count, again->psn,
                         SpanText(again->last - again->first),
                         WhereTheyWent(history, again->first));
}

// From the near end to the far one, and back.
std::string Diagnosis::WhereTheyWent(const History& history,
                                     absl::Time since) const {
  if (const Incident* const drop = history.Latest(Kind::kDropped, since)) {
    return DropsText(*drop);
  }
  if (!history.peer()) return kUnknown;
  const PeerEnd peer = FindPeer(history);
  if (!peer.node) {
    return absl::StrFormat("no port has LID %d",
                           static_cast<unsigned>(history.peer()->lid));
  }
  const std::string name = QueuePairText(*peer.node, peer.qpn);
  if (peer.history == nullptr) {
    return fabric_.subnet().node(*peer.node).remote
               ? absl::StrCat(name, " is an adapter's of its own")
               : absl::StrCat(name, " does not exist");
  }
  if (history.failure() && peer.end < history.failure()->time) {
    return absl::StrCat(name, " was destroyed");
  }
  if (const auto* const drop = peer.history->Latest(Kind::kDropped, since)) {
    return absl::StrCat("the answers of ", name, " were ", DropsText(*drop));
  }
  if (const auto* const not_taken =
          peer.history->Latest(Kind::kNotTaken, since)) {
    return absl::StrCat(name, " did not take them: ", not_taken->text);
  }
  if (const auto* const delay = history.Latest(Kind::kDelayed, since)) {
    return DelayText(*delay);
  }
  if (const auto* const delay = peer.history->Latest(Kind::kDelayed, since)) {
    return absl::StrCat("the answers of ", name, " were ", DelayText(*delay));
  }
  return absl::StrCat(name, " got them and did not answer in time");
}

std::string Diagnosis::WhyNotReady(const History& history) const {
  const PeerEnd peer = FindPeer(history);
  const Incident* const not_ready =
      history.Latest(Kind::kNotReady, absl::InfinitePast());
  const std::string tries =
      not_ready == nullptr
          ? ""
          : absl::StrFormat(
                " at %d tries of PSN 0x%x in %s", not_ready->count + 1,
                not_ready->psn,
                SpanText(history.failure()->time - not_ready->first));
  const Incident* const fault =
      peer.history == nullptr || not_ready == nullptr
          ? nullptr
          : peer.history->Latest(Kind::kKeptBack, not_ready->first);
  return absl::StrCat(
      peer.node ? QueuePairText(*peer.node, peer.qpn) : "the peer",
      " had no receive request", tries, fault == nullptr ? "" : ": ",
      fault == nullptr ? "" : fault->text);
}

std::string Diagnosis::WhyRefused(const History& history) const {
  const PeerEnd peer = FindPeer(history);
  if (peer.history == nullptr) return "the peer refused it";
  const std::string name = QueuePairText(*peer.node, peer.qpn);
  const Incident* const denied =
      peer.history->Latest(Kind::kDenied, absl::InfinitePast());
  return absl::StrCat(
      name, " refused it: ", denied == nullptr ? kUnknown : denied->text);
}

// Work requests are flushed in an error state, which has a reason of its own.
std::string Diagnosis::WhyFlushed(const History& history) {
  return history.error() ? "it went from " + *history.error() : kUnknown;
}

const fabric::QueuePairHistory* Diagnosis::PeerOf(
    const History& history) const {
  return FindPeer(history).history;
}

Diagnosis::PeerEnd Diagnosis::FindPeer(const History& history) const {
  PeerEnd peer;
  if (!history.peer()) return peer;
  peer.node = OwnerOf(history.peer()->lid);
  if (!peer.node) return peer;
  const fabric::QueuePairHistories& histories = fabric_.histories();
  peer.qpn = history.peer()->qpn;
  peer.history = histories.Find(*peer.node, peer.qpn);
  if (peer.history != nullptr && !histories.Exists(*peer.node, peer.qpn)) {
    peer.end = peer.history->incidents().back().last;
  }
  return peer;
}

std::optional<topology::NodeId> Diagnosis::OwnerOf(wire::Lid lid) const {
  const fabric::Subnet& subnet = fabric_.subnet();
  const auto port = std::ranges::find_if(
      subnet.ports(),
      [lid](const fabric::NodePort& one) { return one.Owns(lid); });
  if (port == subnet.ports().end()) return std::nullopt;
  return port->node;
}

std::string Diagnosis::FaultText(uint32_t number) const {
  const std::string name = name_of_fault_(number);
  return name.empty() ? "a fault that has been removed" : name;
}

// "from 12.301s to 14.1s", "from 2s on, cut by shaky"
std::string Diagnosis::OutageText(const LinkOutages::Outage& outage) const {
  const auto text = [this](absl::Time time) {
    return absl::FormatDuration(
        absl::Trunc(SinceStart(time), absl::Milliseconds(1)));
  };
  return absl::StrCat(
      "from ", text(outage.begin),
      outage.end == absl::InfiniteFuture() ? " on" : " to " + text(outage.end),
      outage.fault == 0 ? "" : ", cut by " + FaultText(outage.fault));
}

std::string Diagnosis::DropsText(const Incident& dropped) const {
  const std::string text = DropText(dropped);
  return dropped.count == 1
             ? text
             : absl::StrFormat("%s (%d times)", text, dropped.count);
}

std::string Diagnosis::IncidentText(const Incident& incident) const {
  if (incident.drop) return DropText(incident);
  return incident.delay ? DelayText(incident) : incident.text;
}

std::string Diagnosis::DelayText(const Incident& delayed) const {
  const Incident::Delay& delay = *delayed.delay;
  const fabric::Subnet& subnet = fabric_.subnet();
  return absl::StrCat("held up at ", subnet.NodeOf(delay.port).description, "/",
                      subnet.port(delay.port).number, " by ",
                      FaultText(delay.fault));
}

std::string Diagnosis::DropText(const Incident& dropped) const {
  const Incident::Drop& drop = *dropped.drop;
  const fabric::Subnet& subnet = fabric_.subnet();
  const std::string place =
      absl::StrCat("dropped at ", subnet.NodeOf(drop.port).description, "/",
                   subnet.port(drop.port).number, ": ");
  const auto outage = outages_.FindBefore(drop.port, dropped.last);
  const bool was_down = outage && dropped.last <= outage->end;
  const std::string span = was_down ? " " + OutageText(*outage) : "";
  // A link that comes up waits for the subnet manager.
  const std::string since =
      outage && !was_down
          ? absl::StrCat(" since it was down ", OutageText(*outage))
          : "";
  switch (drop.cause) {
    case DropCause::kNodeDown:
      return absl::StrCat(place, "the node was switched off", span);
    case DropCause::kLinkDown:
      return was_down ? absl::StrCat(place, "the link was down", span)
                      : absl::StrCat(place, "the link was not active", since);
    case DropCause::kCut:
      return absl::StrCat(place, "the link went down with the packet in it",
                          was_down ? ", and was down" : "", span);
    case DropCause::kFaultLoss:
      return place + "lost by " + FaultText(drop.fault);
    case DropCause::kFaultCorrupt:
      return place + "corrupted by " + FaultText(drop.fault);
    case DropCause::kNoRoute:
      return place + "no forwarding entry leads to its LID";
    case DropCause::kPKey:
      return place + "the switch does not admit its P_Key";
    case DropCause::kMtu:
      return place + "it was longer than the link's MTU";
    case DropCause::kPortInactive:
      return absl::StrCat(place, "the port was not active", since);
    default:
      return absl::StrCat(place, Absl(fabric::NameOf(drop.cause)));
  }
}

}  // namespace ibemu::daemon

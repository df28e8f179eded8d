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

constexpr uint8_t kRetriesWithoutEnd = 7;  // of rnr_retry
constexpr char kUnknown[] = "the cause is not known";

// "536ms", "1.92ms"
std::string SpanText(absl::Duration span) {
  const absl::Duration unit = span < absl::Milliseconds(10)
                                  ? absl::Microseconds(10)
                                  : absl::Milliseconds(1);
  return absl::FormatDuration(absl::Trunc(span, unit));
}

// " (3 times)"; empty: it was once.
std::string TimesText(const Incident& incident) {
  return incident.count == 1 ? ""
                             : absl::StrFormat(" (%d times)", incident.count);
}

// ", and the timeout here is 4.19ms"
std::string TimeoutText(const fabric::QueuePairHistory& history) {
  const auto& facts = history.facts();
  if (!facts || facts->attributes.timeout == 0) return "";
  // IBA vol 1 §9.7.6.1.3
  const absl::Duration timeout =
      absl::Nanoseconds(4096) * (uint64_t{1} << facts->attributes.timeout);
  return ", and the timeout here is " + SpanText(timeout);
}

// "; its alternate path was not armed: ...", of a connection whose packets were
// not answered; empty: it had none.
std::string AlternatePathText(const fabric::QueuePairHistory& history) {
  const auto& facts = history.facts();
  if (!facts || facts->attributes.alt_port_num == 0) return "";
  const verbs::MigrationState state{facts->attributes.path_mig_state};
  const Incident* const moved =
      history.Latest(Kind::kMigrated, history.restarted());
  if (state == verbs::MigrationState::kMigrated && moved != nullptr) {
    return absl::StrCat("; it had taken its alternate path, ", moved->text);
  }
  return absl::StrCat("; its alternate path was not armed: ",
                      state == verbs::MigrationState::kRearm
                          ? "no packet came of a peer that is rearmed, too"
                          : "REARM was not asked for");
}

// ": fault-1 keeps its receive requests back", of what happened until then to
// the queue pair; empty: there were none, or nothing is known.
std::string WhoKeptBack(const fabric::QueuePairHistory* history,
                        absl::Time until) {
  if (history == nullptr) return "";
  const Incident* latest = nullptr;
  for (const Incident& one : history->incidents()) {
    // What was before a reset does not count, unless that came later.
    if ((one.kind != Kind::kKeptBack && one.kind != Kind::kNoReceive) ||
        one.first > until ||
        (history->restarted() <= until && one.last < history->restarted())) {
      continue;
    }
    if (latest == nullptr || one.last >= latest->last) latest = &one;
  }
  return latest != nullptr && latest->kind == Kind::kKeptBack
             ? ": " + latest->text
             : "";
}

// Returns whether the subnet is another daemon's.
bool IsJoined(const fabric::Subnet& subnet) {
  return std::ranges::any_of(subnet.nodes(), &fabric::Node::is_beyond);
}

}  // namespace

struct Diagnosis::OwnEnd {
  topology::NodeId node;
  uint32_t qpn;
  const History& history;
};

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
                         Cause({node, qpn, history}));
}

std::string Diagnosis::Trouble(topology::NodeId node, uint32_t qpn,
                               const History& history) const {
  if (history.failure()) return "";
  if (history.error()) {
    return absl::StrCat(QueuePairText(node, qpn), " went from ",
                        *history.error());
  }
  const OwnEnd own{node, qpn, history};
  // What a NAK asks for was lost before it came.
  const absl::Time since = history.restarted();
  const Incident* const again = history.Latest(Kind::kSentAgain, since);
  const Incident* const not_ready = history.Latest(Kind::kNotReady, since);
  const bool waits = again == nullptr ||
                     (not_ready != nullptr && not_ready->last >= again->last);
  const std::string what =
      waits ? SilentLoss(own)
            : absl::StrCat("sent packets again", TimesText(*again), ": ",
                           WhereTheyWent(own, since));
  return what.empty() ? "" : absl::StrCat(QueuePairText(node, qpn), " ", what);
}

// Of a reliable connection the requester hears of what its peer does not take,
// and sends again what is lost, unless it has no timeout.
std::string Diagnosis::SilentLoss(const OwnEnd& own) const {
  const auto& facts = own.history.facts();
  if (!facts) return "";
  const bool reliable = facts->type == verbs::QpType::kRc;
  const Incident* latest = nullptr;
  const auto look = [&](Kind kind) {
    const Incident* const found =
        own.history.Latest(kind, own.history.restarted());
    if (found == nullptr) return;
    if (latest == nullptr || found->last >= latest->last) latest = found;
  };
  if (reliable) {
    look(Kind::kNotReady);
    // The answers of one that does not send are asked for again.
    if (facts->may_send && facts->attributes.timeout == 0) look(Kind::kDropped);
  } else {
    for (const Kind kind : {Kind::kDropped, Kind::kNotTaken, Kind::kNoReceive,
                            Kind::kKeptBack, Kind::kDenied}) {
      look(kind);
    }
  }
  if (latest == nullptr) return "";
  switch (latest->kind) {
    case Kind::kNotReady: {
      const PeerEnd peer = FindPeer(own.history);
      return absl::StrCat(
          "sent packets again", TimesText(*latest), ": ",
          peer.node ? QueuePairText(*peer.node, peer.qpn) : "the peer",
          " had no receive request", WhoKeptBack(peer.history, latest->last),
          facts->attributes.rnr_retry == kRetriesWithoutEnd
              ? ", and rnr_retry is 7: that is without end"
              : "");
    }
    case Kind::kDropped:
      return absl::StrCat("lost packets",
                          reliable ? " for good, as its timeout is 0" : "",
                          ": ", DropsText(*latest));
    case Kind::kNotTaken:
      return absl::StrCat("did not take a packet", TimesText(*latest), ": ",
                          latest->text);
    default:
      return absl::StrCat("lost a message", TimesText(*latest), ": ",
                          latest->text);
  }
}

std::string Diagnosis::Cause(const OwnEnd& own) const {
  namespace status = verbs::wc_status;
  const History& history = own.history;
  if (history.failure()->status == status::kFlushed) return WhyFlushed(history);
  // What happened to it at its own end explains it, whatever the status.
  for (const Kind kind : {Kind::kFault, Kind::kDenied}) {
    const Incident* const cause =
        history.LatestOf(kind, history.failure()->psn);
    if (cause != nullptr) return cause->text;
  }
  switch (history.failure()->status) {
    case status::kRetriesExceeded:
      return WhyUnanswered(own);
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

std::string Diagnosis::WhyUnanswered(const OwnEnd& own) const {
  const History& history = own.history;
  const Incident* const again =
      history.Latest(Kind::kSentAgain, history.restarted());
  if (again == nullptr) return kUnknown;
  // What ended packets on the path before says nothing of this one.
  const Incident* const moved =
      history.Latest(Kind::kMigrated, history.restarted());
  const absl::Time since =
      moved == nullptr ? again->first : std::max(again->first, moved->last);
  return absl::StrFormat("%d tries of PSN 0x%x in %s, none answered: %s",
                         again->count, again->psn.value_or(0),
                         SpanText(again->last - again->first),
                         WhereTheyWent(own, since)) +
         AlternatePathText(history);
}

// From the near end to the far one, and back.
std::string Diagnosis::WhereTheyWent(const OwnEnd& own,
                                     absl::Time since) const {
  const History& history = own.history;
  if (const Incident* const drop = history.Latest(Kind::kDropped, since)) {
    return DropsText(*drop);
  }
  if (!history.peer()) return kUnknown;
  const PeerEnd peer = FindPeer(history);
  if (IsJoined(fabric_.subnet())) {
    return "what became of them beyond its cable is not known here, but where "
           "the subnet is";
  }
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
  // What was before the peer was reset does not count, unless it was reset
  // after the failure.
  const absl::Time reset = peer.history->restarted();
  if (!history.failure() || reset <= history.failure()->time) {
    since = std::max(since, reset);
  }
  if (const auto* const drop = peer.history->Latest(Kind::kDropped, since)) {
    return absl::StrCat("the answers of ", name, " were ", DropsText(*drop));
  }
  if (const auto* const not_taken =
          peer.history->Latest(Kind::kNotTaken, since)) {
    return absl::StrCat(name, " did not take them: ", not_taken->text);
  }
  if (const std::string psn = WhichPsn(own, peer); !psn.empty()) {
    return absl::StrCat(name, " expects others: ", psn);
  }
  if (const auto* const delay = history.Latest(Kind::kDelayed, since)) {
    return absl::StrCat(DelayText(*delay), TimeoutText(history));
  }
  if (const auto* const delay = peer.history->Latest(Kind::kDelayed, since)) {
    return absl::StrCat("the answers of ", name, " were ", DelayText(*delay),
                        TimeoutText(history));
  }
  return absl::StrCat(name, " got them and did not answer in time");
}

// A responder takes PSNs before the one that it expects for packets that it has
// had, and acknowledges what the requester has not sent yet.
std::string Diagnosis::WhichPsn(const OwnEnd& own, const PeerEnd& peer) const {
  const auto& here = own.history.facts();
  const auto& there = peer.history->facts();
  const auto& back = peer.history->peer();
  if (!here || !there || !back || back->qpn != own.qpn ||
      OwnerOf(back->lid) != own.node ||
      here->attributes.sq_psn == there->attributes.rq_psn) {
    return "";
  }
  return absl::StrFormat("its rq_psn is %#x, the sq_psn here %#x",
                         there->attributes.rq_psn, here->attributes.sq_psn);
}

std::string Diagnosis::WhyNotReady(const History& history) const {
  const PeerEnd peer = FindPeer(history);
  const Incident* const not_ready =
      history.Latest(Kind::kNotReady, history.restarted());
  const std::string tries =
      not_ready == nullptr
          ? ""
          : absl::StrFormat(
                " at %d tries of PSN 0x%x in %s", not_ready->count + 1,
                not_ready->psn.value_or(0),
                SpanText(history.failure()->time - not_ready->first));
  return absl::StrCat(
      peer.node ? QueuePairText(*peer.node, peer.qpn) : "the peer",
      " had no receive request", tries,
      WhoKeptBack(peer.history, history.failure()->time));
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

// "from 12.301s to 14.1s", "from 2s on, cut by shaky", "from 2s on, as host-2
// was switched off"
std::string Diagnosis::OutageText(const LinkOutages::Outage& outage) const {
  const auto text = [this](absl::Time time) {
    return absl::FormatDuration(
        absl::Trunc(SinceStart(time), absl::Milliseconds(1)));
  };
  std::string cause;
  if (outage.node) {
    const std::string& name = fabric_.subnet().node(*outage.node).description;
    cause = outage.unplugged
                ? absl::StrCat(", as the adapter of ", name, " was removed")
                : absl::StrCat(", as ", name, " was switched off");
  } else if (outage.fault != 0) {
    cause = ", cut by " + FaultText(outage.fault);
  }
  return absl::StrCat(
      "from ", text(outage.begin),
      outage.end == absl::InfiniteFuture() ? " on" : " to " + text(outage.end),
      cause);
}

std::string Diagnosis::DropsText(const Incident& dropped) const {
  return DropText(dropped) + TimesText(dropped);
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
      return absl::StrCat(place, "its node was down", span);
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
    case DropCause::kNotOurs:
      return absl::StrCat(
          place, "it was for another LID: the port has ",
          static_cast<unsigned>(subnet.port(drop.port).info.lid));
    case DropCause::kLooping:
      return place + "the forwarding entry leads back to where it came from";
    case DropCause::kHopLimit:
      return place + "the forwarding entries lead it round in a loop";
    case DropCause::kCopyLimit:
      return place + "multicast made too many copies of it: groups have loops";
    case DropCause::kVlMapping:
      return place + "its SL is mapped to VL 15, which takes no data";
    case DropCause::kDirectedRoute:
      return place + "the directed route leads no further";
    case DropCause::kDelayFull:
      return place + "faults hold up too many packets already";
  }
  return place + kUnknown;
}

}  // namespace ibemu::daemon

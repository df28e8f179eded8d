#include "daemon/why/mad_history.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/absl_text.h"
#include "daemon/adapters/fabric_adapters.h"
#include "fabric/subnet/subnet.h"
#include "mad/attribute_names.h"
#include "mad/wire/smp.h"

namespace ibemu::daemon {
namespace {

using fabric::Incident;
using mad::MadHeader;

std::string NameOrNumber(std::string_view name, unsigned number) {
  return name.empty() ? absl::StrFormat("0x%x", number) : std::string(name);
}

// "0,1,3"; empty if the packet has no directed route.
std::string RouteText(const mad::MadBytes& mad) {
  if (wire::Get<&MadHeader::mgmt_class>(mad) !=
      mad::MgmtClass::kSubnetDirectedRoute) {
    return "";
  }
  const auto path = wire::Get<&mad::Smp::initial_path>(mad);
  const size_t hops =
      std::min<size_t>(wire::Get<&mad::Smp::hop_count>(mad), path.size() - 1);
  std::string text = "0";
  for (size_t hop = 1; hop <= hops; ++hop) {
    absl::StrAppend(&text, ",", path[hop]);
  }
  return text;
}

// "3 tries in 2s, none answered"
std::string CourseText(const MadHistory::Timeout& timeout) {
  const std::string span = absl::FormatDuration(
      absl::Trunc(timeout.end - timeout.begin, absl::Milliseconds(1)));
  const std::string_view tries = timeout.tries == 1 ? "try" : "tries";
  if (!timeout.rmpp) {
    return absl::StrFormat("%d %s in %s, none answered", timeout.tries, tries,
                           span);
  }
  const mad::RmppProgress& rmpp = *timeout.rmpp;
  if (rmpp.all_acknowledged()) {
    return absl::StrFormat("%d %s acknowledged, but no answer in %s",
                           rmpp.segments,
                           rmpp.segments == 1 ? "segment" : "segments", span);
  }
  if (rmpp.broken_off) {
    return absl::StrFormat(
        "broken off at segment %d of %d %s (%s)", rmpp.acknowledged + 1,
        rmpp.segments,
        rmpp.by_peer ? "by the receiver" : "for what the receiver sent",
        NameOrNumber(mad::NameOf(*rmpp.broken_off),
                     static_cast<unsigned>(*rmpp.broken_off)));
  }
  return absl::StrFormat("%d %s of segment %d of %d in %s, none acknowledged",
                         timeout.tries, tries, rmpp.acknowledged + 1,
                         rmpp.segments, span);
}

// "SM Get(NodeInfo) by the directed route 0,1", "SA Get(PathRecord) to LID 3"
std::string RequestText(const mad::Outgoing& packet) {
  const auto mgmt_class = wire::Get<&MadHeader::mgmt_class>(packet.mad);
  const auto method = wire::Get<&MadHeader::method>(packet.mad);
  const auto attribute = wire::Get<&MadHeader::attr_id>(packet.mad);
  const std::string what = absl::StrCat(
      NameOrNumber(mad::NameOf(mgmt_class), static_cast<unsigned>(mgmt_class)),
      " ", NameOrNumber(mad::NameOf(method), static_cast<unsigned>(method)),
      "(",
      NameOrNumber(mad::NameOf(mgmt_class, attribute),
                   static_cast<unsigned>(attribute)),
      ")");
  const std::string route = RouteText(packet.mad);
  if (!route.empty()) {
    return absl::StrCat(what, " by the directed route ", route);
  }
  return absl::StrFormat("%s to LID %d", what,
                         static_cast<unsigned>(packet.to.dlid));
}

}  // namespace

MadHistory::MadHistory(Timers& timers, fabric::Fabric& fabric,
                       const Diagnosis& diagnosis, HostTable& hosts)
    : timers_(timers), fabric_(fabric), diagnosis_(diagnosis) {
  fabric_.AddWatcher(*this);
  hosts.AddWatcher(*this);
}

MadHistory::~MadHistory() { fabric_.RemoveWatcher(*this); }

const std::deque<MadHistory::Timeout>& MadHistory::Of(
    topology::NodeId node) const {
  static const std::deque<Timeout> none;
  const auto found = timeouts_.find(node);
  return found == timeouts_.end() ? none : found->second;
}

// Almost all MADs are answered, so this copies, and finds words when it is
// asked for them.
void MadHistory::HostWatch::OnAnswer(const mad::AnsweredSend& send) {
  Answer answer{.port = send.port,
                .process = send.process,
                .begin = send.begin,
                .end = owner_.timers_.Now(),
                .tries = send.tries,
                .status = send.status,
                .request = send.packet};
  if (answers_.size() < kMax) {
    answers_.push_back(answer);
    return;
  }
  answers_[oldest_] = answer;
  oldest_ = (oldest_ + 1) % kMax;
}

std::vector<MadHistory::Answer> MadHistory::HostWatch::Answers() const {
  std::vector<Answer> answers = answers_;
  std::rotate(answers.begin(),
              answers.begin() + static_cast<ptrdiff_t>(oldest_), answers.end());
  return answers;
}

std::vector<MadHistory::Answer> MadHistory::AnswersOf(
    topology::NodeId node) const {
  const auto found = watches_.find(node);
  if (found == watches_.end()) return {};
  return found->second.Answers();
}

std::string MadHistory::Describe(const Answer& answer) {
  std::string text =
      absl::StrCat(RequestText(answer.request), ": answered in ",
                   absl::FormatDuration(absl::Trunc(answer.end - answer.begin,
                                                    absl::Microseconds(1))));
  if (answer.tries > 1) {
    absl::StrAppendFormat(&text, ", sent %d times", answer.tries);
  }
  // By a directed route the highest bit is the direction.
  const unsigned status = static_cast<unsigned>(answer.status) & 0x7fff;
  if (status != 0) absl::StrAppendFormat(&text, ", status 0x%x", status);
  return text;
}

std::string MadHistory::Describe(const Timeout& timeout) const {
  std::string text = absl::StrCat(timeout.what, ": ", CourseText(timeout));
  const bool has_reason = timeout.rmpp && timeout.rmpp->broken_off;
  if (!has_reason) {
    absl::StrAppend(&text, ": ", Why(timeout));
  } else if (!timeout.lost.empty()) {
    absl::StrAppend(&text, ": ", timeout.lost);
  }
  return text;
}

std::string MadHistory::SenderText(topology::NodeId node, int port) const {
  return absl::StrCat(fabric_.subnet().node(node).description, " port ", port,
                      ": ");
}

std::string MadHistory::Sentence(topology::NodeId node,
                                 const Timeout& timeout) const {
  return SenderText(node, timeout.port) + Describe(timeout);
}

std::string MadHistory::Sentence(topology::NodeId node,
                                 const Answer& answer) const {
  return SenderText(node, answer.port) + Describe(answer);
}

std::string MadHistory::Why(const Timeout& timeout) const {
  if (!timeout.lost.empty()) return timeout.lost;
  if (!timeout.all_known) return "the cause is not known";
  const std::string_view silent =
      timeout.rmpp && !timeout.rmpp->all_acknowledged()
          ? " got it and did not acknowledge it in time"
          : " got it and did not answer in time";
  if (!timeout.lid)
    return absl::StrCat("whom the route leads to", Absl(silent));
  const auto owner = diagnosis_.OwnerOf(*timeout.lid);
  if (!owner) {
    return absl::StrFormat("no port has LID %d",
                           static_cast<unsigned>(*timeout.lid));
  }
  return absl::StrCat(fabric_.subnet().node(*owner).description, Absl(silent));
}

void MadHistory::OnHost(AdapterId adapter, mad::Host& host) {
  const topology::NodeId node = FabricAdapters::NodeOf(adapter);
  host.SetSendWatcher(watches_.try_emplace(node, *this, node).first->second);
}

void MadHistory::OnDrop(const fabric::DroppedPacket& dropped) {
  const fabric::Packet& packet = dropped.packet;
  if (packet.transport != nullptr) return;
  Keep(packet).drop = {
      .port = dropped.port, .cause = dropped.cause, .fault = dropped.fault};
}

void MadHistory::OnMadDelay(const fabric::Packet& packet, fabric::PortId port,
                            uint32_t fault) {
  Keep(packet).delay = {.port = port, .fault = fault};
}

MadHistory::LostPacket& MadHistory::Keep(const fabric::Packet& packet) {
  if (lost_.size() == kMaxLost) lost_.pop_front();
  return lost_.emplace_back(LostPacket{
      .tid = wire::Get<&MadHeader::tid>(packet.mad),
      .is_answer = IsResponse(wire::Get<&MadHeader::method>(packet.mad)),
      .slid = packet.slid,
      .dlid = packet.dlid,
      .route = RouteText(packet.mad),
      .time = timers_.Now()});
}

void MadHistory::Add(topology::NodeId node, const mad::UnansweredSend& send) {
  const absl::Time now = timers_.Now();
  Timeout timeout{.port = send.port,
                  .process = send.process,
                  .begin = send.begin,
                  .end = now,
                  .tries = send.tries,
                  .what = RequestText(send.packet),
                  .lost = WhereLost(node, send),
                  .rmpp = send.rmpp};
  if (send.agent_ended && timeout.lost.empty()) return;
  timeout.all_known =
      lost_.size() < kMaxLost || lost_.front().time < timeout.begin;
  if (RouteText(send.packet.mad).empty()) timeout.lid = send.packet.to.dlid;
  std::deque<Timeout>& all = timeouts_[node];
  if (!all.empty() && !timeout.rmpp && !all.back().rmpp &&
      all.back().port == timeout.port &&
      all.back().process == timeout.process &&
      all.back().what == timeout.what &&
      timeout.begin - all.back().end <= kPause) {
    timeout.begin = all.back().begin;
    timeout.tries += all.back().tries;
    if (timeout.lost.empty()) timeout.lost = std::move(all.back().lost);
    all.pop_back();
  }
  if (all.size() == kMax) all.pop_front();
  all.push_back(std::move(timeout));
  if (timeout_listener_ != nullptr) timeout_listener_(node, all.back());
}

bool MadHistory::LostPacket::SameWay(const mad::Outgoing& sent) const {
  return is_answer == IsResponse(wire::Get<&MadHeader::method>(sent.mad));
}

bool MadHistory::IsOf(const LostPacket& lost, const mad::Outgoing& sent,
                      const fabric::NodePort& sender) const {
  if (lost.tid != wire::Get<&MadHeader::tid>(sent.mad) ||
      lost.route != RouteText(sent.mad)) {
    return false;
  }
  if (!lost.route.empty()) return true;
  const bool same_way = lost.SameWay(sent);
  const wire::Lid peer = same_way ? lost.dlid : lost.slid;
  const wire::Lid own = same_way ? lost.slid : lost.dlid;
  return peer == sent.to.dlid && (sender.Owns(own) || sender.info.lid == own);
}

// From the near end to the far one, and back.
std::string MadHistory::WhereLost(topology::NodeId node,
                                  const mad::UnansweredSend& send) const {
  const fabric::Subnet& subnet = fabric_.subnet();
  const fabric::NodePort& sender =
      subnet.port(subnet.port_id(subnet.node(node), send.port));
  Incident there{.kind = Incident::Kind::kDropped, .count = 0};
  Incident back = there;
  for (auto lost = lost_.rbegin();
       lost != lost_.rend() && lost->time >= send.begin; ++lost) {
    if (!IsOf(*lost, send.packet, sender)) continue;
    Incident& found = lost->SameWay(send.packet) ? there : back;
    if (!found.delay) found.delay = lost->delay;
    if (!lost->drop) continue;
    if (!found.drop) {
      found.drop = lost->drop;
      found.last = lost->time;
    }
    if (*lost->drop == *found.drop) ++found.count;
  }
  if (there.drop) return diagnosis_.DropsText(there);
  const char* const what = send.rmpp && !send.rmpp->all_acknowledged()
                               ? "its ACK was "
                               : "the answer was ";
  if (back.drop) return absl::StrCat(what, diagnosis_.DropsText(back));
  if (there.delay) return diagnosis_.IncidentText(there);
  if (back.delay) return absl::StrCat(what, diagnosis_.IncidentText(back));
  return "";
}

}  // namespace ibemu::daemon

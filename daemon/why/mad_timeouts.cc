#include "daemon/why/mad_timeouts.h"

#include <algorithm>
#include <string_view>

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

// "0,1,3"
std::string RouteText(const mad::MadBytes& smp) {
  const auto path = wire::Get<&mad::Smp::initial_path>(smp);
  const size_t hops =
      std::min<size_t>(wire::Get<&mad::Smp::hop_count>(smp), path.size() - 1);
  std::string text = "0";
  for (size_t hop = 1; hop <= hops; ++hop) {
    absl::StrAppend(&text, ",", path[hop]);
  }
  return text;
}

// "SM Get(NodeInfo) by the directed route 0,1", "SA Get(PathRecord) to LID 3"
std::string MadText(const mad::Outgoing& packet) {
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
  if (mgmt_class == mad::MgmtClass::kSubnetDirectedRoute) {
    return absl::StrCat(what, " by the directed route ", RouteText(packet.mad));
  }
  return absl::StrFormat("%s to LID %d", what,
                         static_cast<unsigned>(packet.to.dlid));
}

}  // namespace

MadTimeouts::MadTimeouts(Timers& timers, fabric::Fabric& fabric,
                         const Diagnosis& diagnosis, HostTable& hosts)
    : timers_(timers), fabric_(fabric), diagnosis_(diagnosis) {
  fabric_.AddWatcher(*this);
  hosts.AddWatcher(*this);
}

MadTimeouts::~MadTimeouts() { fabric_.RemoveWatcher(*this); }

void MadTimeouts::OnHost(AdapterId adapter, mad::Host& host) {
  const topology::NodeId node = FabricAdapters::NodeOf(adapter);
  host.SetTimeoutWatcher(watches_.try_emplace(node, *this, node).first->second);
}

void MadTimeouts::OnDrop(const fabric::DroppedPacket& dropped) {
  const fabric::Packet& packet = dropped.packet;
  if (packet.transport != nullptr) return;
  if (drops_.size() == kMostDrops) drops_.pop_front();
  drops_.push_back(
      {.tid = wire::Get<&MadHeader::tid>(packet.mad),
       .mgmt_class = wire::Get<&MadHeader::mgmt_class>(packet.mad),
       .is_answer = IsResponse(wire::Get<&MadHeader::method>(packet.mad)),
       .time = timers_.Now(),
       .where = {.port = dropped.port,
                 .cause = dropped.cause,
                 .fault = dropped.fault}});
}

void MadTimeouts::Add(topology::NodeId node, const mad::UnansweredSend& send) {
  const absl::Time now = timers_.Now();
  const std::optional<std::string> lost = WhereLost(send, now - send.waited);
  if (send.agent_ended && !lost) return;
  Timeout timeout{.node = node,
                  .port = send.port,
                  .begin = now - send.waited,
                  .end = now,
                  .tries = send.tries,
                  .what = MadText(send.packet)};
  timeout.why = lost ? *lost : WhoDidNotAnswer(send.packet);
  // The same once more, with nothing in between.
  if (!timeouts_.empty()) {
    const Timeout& last = timeouts_.back();
    if (last.node == node && last.port == timeout.port &&
        last.what == timeout.what && last.end >= timeout.begin) {
      timeout.begin = last.begin;
      timeout.tries += last.tries;
      timeouts_.pop_back();
    }
  }
  if (timeouts_.size() == kMost) timeouts_.pop_front();
  timeouts_.push_back(std::move(timeout));
}

// From the near end to the far one, and back.
std::optional<std::string> MadTimeouts::WhereLost(
    const mad::UnansweredSend& send, absl::Time since) const {
  auto drop = DropText(send.packet, since, /*is_answer=*/false);
  if (drop) return drop;
  drop = DropText(send.packet, since, /*is_answer=*/true);
  return drop ? std::optional(absl::StrCat("the answer was ", *drop)) : drop;
}

std::string MadTimeouts::WhoDidNotAnswer(const mad::Outgoing& packet) const {
  if (wire::Get<&MadHeader::mgmt_class>(packet.mad) ==
      mad::MgmtClass::kSubnetDirectedRoute) {
    return "whom the route leads to got it and did not answer in time";
  }
  const fabric::Subnet& subnet = fabric_.subnet();
  const auto port = std::ranges::find_if(
      subnet.ports(),
      [&](const fabric::NodePort& one) { return one.Owns(packet.to.dlid); });
  if (port == subnet.ports().end()) {
    return absl::StrFormat("no port has LID %d",
                           static_cast<unsigned>(packet.to.dlid));
  }
  return absl::StrCat(subnet.node(port->node).description,
                      " got it and did not answer in time");
}

std::optional<std::string> MadTimeouts::DropText(const mad::Outgoing& packet,
                                                 absl::Time since,
                                                 bool is_answer) const {
  const auto tid = wire::Get<&MadHeader::tid>(packet.mad);
  const auto mgmt_class = wire::Get<&MadHeader::mgmt_class>(packet.mad);
  Incident found{.kind = Incident::Kind::kDropped, .count = 0};
  for (auto drop = drops_.rbegin(); drop != drops_.rend(); ++drop) {
    if (drop->time < since) break;
    if (drop->tid != tid || drop->mgmt_class != mgmt_class ||
        drop->is_answer != is_answer) {
      continue;
    }
    if (!found.drop) {
      found.drop = drop->where;
      found.last = drop->time;
    }
    if (drop->where == *found.drop) ++found.count;
  }
  if (!found.drop) return std::nullopt;
  std::string text = diagnosis_.DropText(found);
  if (found.count > 1) absl::StrAppendFormat(&text, " (%d times)", found.count);
  return text;
}

}  // namespace ibemu::daemon

#include "fabric/agents/traps.h"

#include <algorithm>
#include <utility>

#include "mad/wire/smp.h"

namespace ibemu::fabric {
namespace {

// The most notices that wait at a port.  Further ones are dropped.
constexpr size_t kMaxWaitingNotices = 16;

// An agent may take longer than SubnetTimeOut asks for.  Whoever sets that to 0
// and represses no trap would keep the loop busy with it for ever.
constexpr absl::Duration kLeastInterval = absl::Milliseconds(10);

// The least time between two transmissions of a trap (§13.4.9).
absl::Duration Interval(const NodePort& port) {
  return std::max(kLeastInterval, absl::Nanoseconds(4096) *
                                      (int64_t{1} << port.info.subnet_timeout));
}

}  // namespace

Traps::Traps(Subnet& subnet, FabricEvents& events, MadSender& sender,
             Timers& timers)
    : subnet_(subnet), events_(events), sender_(sender), timers_(timers) {}

Traps::~Traps() {
  for (const auto& [port, queue] : queues_) timers_.Cancel(queue.timer);
}

void Traps::RaiseNotice(PortId id, mad::Notice notice) {
  if (!MaySend(id)) return;
  const NodePort& port = subnet_.port(id);
  notice.producer_type = static_cast<uint32_t>(subnet_.node(port.node).type);
  notice.issuer_lid = port.info.lid;

  Queue& queue = queues_[id];
  const auto same = std::find_if(
      queue.notices.begin(), queue.notices.end(),
      [&](const Waiting& waiting) { return waiting.notice == notice; });
  if (same != queue.notices.end()) {
    same->again = true;
    return;
  }
  if (queue.notices.size() == kMaxWaitingNotices) return;
  queue.notices.push_back({.notice = notice, .tid = next_tid_++});
  Send(id, queue.notices.back(), false);
  if (queue.timer == TimerId::kNone) StartTimer(id, queue);
}

bool Traps::Repress(PortId id, uint64_t tid) {
  const auto found = queues_.find(id);
  if (found == queues_.end()) return false;
  Queue& queue = found->second;
  const auto waiting =
      std::find_if(queue.notices.begin(), queue.notices.end(),
                   [tid](const Waiting& one) { return one.tid == tid; });
  if (waiting == queue.notices.end()) return false;
  const bool again = waiting->again;
  const mad::Notice notice = waiting->notice;
  queue.notices.erase(waiting);
  if (queue.notices.empty()) {
    timers_.Cancel(queue.timer);
    queues_.erase(found);
  }
  if (again) RaiseNotice(id, notice);
  return true;
}

std::optional<mad::Notice> Traps::Oldest(PortId port) const {
  const auto found = queues_.find(port);
  if (found == queues_.end()) return std::nullopt;
  return found->second.notices.front().notice;
}

bool Traps::MaySend(PortId id) const {
  const NodePort& port = subnet_.port(id);
  return subnet_.node(port.node).up && port.IsActive() &&
         wire::IsUnicast(port.info.lid) &&
         wire::IsUnicast(port.info.master_sm_lid);
}

void Traps::Send(PortId id, const Waiting& waiting, bool repeated) {
  events_.OnTrap(id, waiting.notice, repeated);
  mad::Smp smp;
  smp.method = mad::Method::kTrap;
  smp.attr_id = mad::AttributeId::kNotice;
  smp.tid = waiting.tid;
  wire::Encode(waiting.notice, smp.data);

  mad::Outgoing packet;
  packet.qp = 0;
  packet.to.dlid = subnet_.port(id).info.master_sm_lid;
  packet.to.qpn = 0;
  wire::Encode(smp, packet.mad);
  sender_.SendMad(id, packet);
}

void Traps::Repeat(PortId id) {
  const auto found = queues_.find(id);
  if (found == queues_.end()) return;
  if (!MaySend(id)) {
    queues_.erase(found);
    return;
  }
  for (const Waiting& waiting : found->second.notices) {
    Send(id, waiting, true);
  }
  StartTimer(id, found->second);
}

void Traps::StartTimer(PortId id, Queue& queue) {
  queue.timer =
      timers_.RunAfter(Interval(subnet_.port(id)), [this, id] { Repeat(id); });
}

}  // namespace ibemu::fabric

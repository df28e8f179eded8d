#include "daemon/remote_node/leases/lease_table.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <vector>

#include "fabric/forwarding/forwarder.h"
#include "fabric/subnet/subnet.h"

namespace ibemu::daemon {
namespace {

bool IsLoopback(std::string_view address) {
  return address.starts_with("127.") || address.starts_with("[::1]");
}

// "[fe80::1%2]:40123": the interface is one of this machine's, and another
// machine has other numbers.
bool IsLinkLocal(std::string_view address) {
  return address.find('%') != std::string_view::npos;
}

// Returns whether who is at the one place can connect to the other, as far as
// we know: a daemon of this machine has no address, and who is on it by
// "localhost" can be reached there alone.
bool Reach(const LeaseTable::Place& from, const LeaseTable::Place& to) {
  return from.address.empty() == to.address.empty() &&
         from.encrypts == to.encrypts && !IsLinkLocal(to.address) &&
         (!IsLoopback(to.address) || IsLoopback(from.address));
}

}  // namespace

LeaseTable::LeaseTable(Timers& timers, fabric::Fabric& fabric,
                       std::function<Secret()> draw_token)
    : timers_(timers), fabric_(fabric), draw_token_(std::move(draw_token)) {
  fabric_.AddWatcher(*this);
  fabric_.forwarder().OnInterference([this](fabric::PortId port) {
    port == fabric::kNoPort ? CheckAll() : CheckAt(port);
  });
}

LeaseTable::~LeaseTable() {
  timers_.Cancel(idle_timer_);
  fabric_.forwarder().OnInterference([](fabric::PortId) {});
  fabric_.RemoveWatcher(*this);
}

std::unique_ptr<LeaseTable::Party> LeaseTable::Join(topology::NodeId node,
                                                    Place place,
                                                    Party::Tell tell) {
  std::unique_ptr<Party> party(
      new Party(*this, node, std::move(place), std::move(tell)));
  parties_[node] = party.get();
  return party;
}

LeaseTable::Party::~Party() {
  table_.parties_.erase(node_);
  // Each end takes the lease out of the set.
  for (const uint32_t number : std::set<uint32_t>(sent_)) {
    table_.ForgetSender(table_.leases_.find(number));
  }
  for (const uint32_t number : std::set<uint32_t>(received_)) {
    table_.Revoke(table_.leases_.find(number));
  }
}

void LeaseTable::Party::OnPacket(fabric::PortId from,
                                 const fabric::Packet& packet) {
  const std::optional<fabric::PacketKind> kind = fabric::KindOf(packet);
  if (!kind) return;
  if (candidates_.size() == kMaxKinds) {
    absl::erase_if(candidates_,
                   [](const auto& entry) { return entry.second.lease == 0; });
  }
  Candidate& candidate = candidates_[{from, *kind}];
  if (candidate.lease != 0) return;
  candidate.left -= std::min(candidate.left, packet.Count());
  if (candidate.left > 0) return;
  candidate.left = candidate.more;
  candidate.more = std::min(2 * candidate.more, kMaxPackets);
  candidate.lease = table_.Give(*this, from, *kind);
}

uint32_t LeaseTable::Give(Party& sender, fabric::PortId from,
                          const fabric::PacketKind& kind) {
  if (sender.sent_.size() == kMaxLeases) return 0;
  std::optional<fabric::ClearPath> path =
      fabric_.forwarder().FindClear(from, kind);
  if (!path) return 0;
  const auto found = parties_.find(fabric_.subnet().port(path->end).node);
  if (found == parties_.end()) return 0;
  Party& receiver = *found->second;
  // A host knows its leases by their numbers, so it is not both ends of one.
  if (&receiver == &sender || !Reach(sender.place_, receiver.place_) ||
      !MakeRoom(sender, receiver)) {
    return 0;
  }
  std::vector<fabric::PortId> ports;
  for (const fabric::ClearPath::Link& link : path->links) {
    ports.push_back(link.out);
    ports.push_back(fabric_.subnet().port(link.out).peer);
  }
  const uint32_t number = ++last_number_;
  const Lease& lease = leases_[number] = {
      .sender = sender.node_,
      .receiver = receiver.node_,
      .from = from,
      .kind = kind,
      .path = *std::move(path),
      .ports = std::move(ports),
      .token = draw_token_(),
  };
  if (!TellLease(number, lease, true)) {
    leases_.erase(number);
    return 0;
  }
  for (const fabric::PortId port : lease.ports) at_port_[port].insert(number);
  sender.sent_.insert(number);
  receiver.received_.insert(number);
  if (idle_timer_ == TimerId::kNone) {
    idle_timer_ = timers_.RunAfter(kIdle, [this] { CheckIdle(); });
  }
  return number;
}

bool LeaseTable::MakeRoom(const Party& sender, Party& receiver) {
  if (receiver.received_.size() < kMaxLeases) return true;
  std::map<topology::NodeId, std::vector<uint32_t>> by_sender;
  for (const uint32_t number : receiver.received_) {
    by_sender[leases_.at(number).sender].push_back(number);
  }
  const auto most = std::ranges::max_element(
      by_sender, {}, [](const auto& entry) { return entry.second.size(); });
  // Or the two would take it from each other in turn.
  if (most->second.size() <= by_sender[sender.node_].size() + 1) return false;
  Revoke(leases_.find(most->second.front()));
  return true;
}

bool LeaseTable::TellLease(uint32_t number, const Lease& lease,
                           bool receives) const {
  const Party& receiver = *parties_.at(lease.receiver);
  const Party& told = receives ? receiver : *parties_.at(lease.sender);
  return told.tell_(NodeLinkMessage::kLease,
                    NumberOf(receives ? lease.path.end : lease.from),
                    EncodeLease({.number = number,
                                 .receives = receives,
                                 .sl = lease.kind.sl,
                                 .dlid = lease.kind.dlid,
                                 .p_key = lease.kind.p_key,
                                 .mtu = static_cast<uint16_t>(lease.path.mtu),
                                 .token = lease.token},
                                receives ? "" : receiver.place_.address));
}

void LeaseTable::TellOf(NodeLinkMessage type, uint32_t number,
                        topology::NodeId node, fabric::PortId port) const {
  const auto party = parties_.find(node);
  if (party == parties_.end()) return;
  party->second->tell_(type, NumberOf(port), EncodeNumber(number));
}

LeaseTable::Leases::iterator LeaseTable::Find(const Party& party,
                                              uint32_t number,
                                              topology::NodeId Lease::*end) {
  const auto lease = leases_.find(number);
  if (lease == leases_.end() || lease->second.*end != party.node_) {
    return leases_.end();
  }
  return lease;
}

// Not before, or somebody else's connection might be taken for the sender's.
void LeaseTable::Party::OnReady(uint32_t number) {
  const auto found = table_.Find(*this, number, &Lease::receiver);
  if (found == table_.leases_.end()) return;
  Lease& lease = found->second;
  if (lease.told || lease.ended) return;
  lease.told = table_.TellLease(number, lease, false);
  if (!lease.told) table_.Revoke(found);
}

// The packets that it sent through the fabric arrive before.
void LeaseTable::Party::OnUsed(uint32_t number) {
  const auto found = table_.Find(*this, number, &Lease::sender);
  if (found == table_.leases_.end()) return;
  Lease& lease = found->second;
  if (!lease.told || std::exchange(lease.begun, true)) return;
  table_.fabric_.forwarder().AfterThese([weak = std::weak_ptr(table_.self_),
                                         number, node = lease.receiver,
                                         port = lease.path.end] {
    if (const auto self = weak.lock()) {
      (*self)->TellOf(NodeLinkMessage::kLeaseUsed, number, node, port);
    }
  });
}

void LeaseTable::Party::RepeatUsed() const {
  for (const uint32_t number : received_) {
    const Lease& lease = table_.leases_.at(number);
    if (lease.begun) {
      table_.TellOf(NodeLinkMessage::kLeaseUsed, number, node_, lease.path.end);
    }
  }
}

void LeaseTable::Party::OnUsage(const NodeLinkLeaseUsage& usage) {
  const auto found = table_.Find(*this, usage.number, &Lease::sender);
  if (found == table_.leases_.end()) return;
  Lease& lease = found->second;
  // The words of the longest packet, as no path is wider: a host may lie, but
  // not about others.
  constexpr uint64_t kMaxAtOnce = 1 << 24;
  constexpr uint64_t kMaxWords = NodeLinkHeader::kLongest / 4;
  if (usage.packets > kMaxAtOnce || usage.words > kMaxWords * usage.packets) {
    return table_.Revoke(found);
  }
  lease.idle = false;
  // What failed before is forgotten, or the next one would wait for it.
  Candidate& candidate = candidates_[{lease.from, lease.kind}];
  candidate.left = candidate.more = kMorePackets;
  table_.fabric_.forwarder().Account(lease.path, lease.kind, usage.packets,
                                     usage.words);
  // Of tables that changed nobody tells.
  if (table_.fabric_.forwarder().FindClear(lease.from, lease.kind) !=
      lease.path) {
    table_.Revoke(found);
  }
}

void LeaseTable::Party::OnEnded(uint32_t number) {
  const auto sent = table_.Find(*this, number, &Lease::sender);
  if (sent != table_.leases_.end()) return table_.ForgetSender(sent);
  const auto received = table_.Find(*this, number, &Lease::receiver);
  if (received != table_.leases_.end()) table_.Revoke(received);
}

void LeaseTable::OnPortChange(fabric::PortId port) {
  if (!at_port_.contains(port)) return;
  changed_.insert(port);
  check_.Request();
}

void LeaseTable::CheckChanged() {
  for (const fabric::PortId port : std::exchange(changed_, {})) CheckAt(port);
}

void LeaseTable::CheckAt(fabric::PortId port) {
  const auto there = at_port_.find(port);
  if (there == at_port_.end()) return;
  Check(std::vector<uint32_t>(there->second.begin(), there->second.end()));
}

void LeaseTable::CheckAll() {
  std::vector<uint32_t> numbers;
  for (const auto& [number, lease] : leases_) numbers.push_back(number);
  Check(numbers);
}

void LeaseTable::Check(std::span<const uint32_t> numbers) {
  for (const uint32_t number : numbers) {
    const auto lease = leases_.find(number);
    if (fabric_.forwarder().FindClear(lease->second.from, lease->second.kind) !=
        lease->second.path) {
      Revoke(lease);
    }
  }
}

void LeaseTable::CheckIdle() {
  idle_timer_ = TimerId::kNone;
  for (auto lease = leases_.begin(); lease != leases_.end();) {
    const auto here = lease++;
    if (std::exchange(here->second.idle, true)) Revoke(here);
  }
  if (leases_.empty()) return;
  idle_timer_ = timers_.RunAfter(kIdle, [this] { CheckIdle(); });
}

void LeaseTable::EndAtReceiver(Leases::iterator lease) {
  if (std::exchange(lease->second.ended, true)) return;
  TellOf(NodeLinkMessage::kLeaseEnded, lease->first, lease->second.receiver,
         lease->second.path.end);
  const auto receiver = parties_.find(lease->second.receiver);
  if (receiver != parties_.end()) {
    receiver->second->received_.erase(lease->first);
  }
}

void LeaseTable::Revoke(Leases::iterator lease) {
  if (lease->second.ended) return;
  EndAtReceiver(lease);
  // One that does not know of it has nothing to say of it.
  if (!lease->second.told) return Erase(lease);
  TellOf(NodeLinkMessage::kLeaseEnded, lease->first, lease->second.sender,
         lease->second.from);
}

void LeaseTable::ForgetSender(Leases::iterator lease) {
  EndAtReceiver(lease);
  Erase(lease);
}

void LeaseTable::Erase(Leases::iterator lease) {
  const auto sender = parties_.find(lease->second.sender);
  if (sender != parties_.end()) {
    sender->second->sent_.erase(lease->first);
    sender->second->candidates_[{lease->second.from, lease->second.kind}]
        .lease = 0;
  }
  for (const fabric::PortId port : lease->second.ports) {
    const auto there = at_port_.find(port);
    there->second.erase(lease->first);
    if (there->second.empty()) at_port_.erase(there);
  }
  leases_.erase(lease);
}

int LeaseTable::NumberOf(fabric::PortId port) const {
  return fabric_.subnet().port(port).number;
}

}  // namespace ibemu::daemon

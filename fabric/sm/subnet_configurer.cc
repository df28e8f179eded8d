#include "fabric/sm/subnet_configurer.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/status_macros.h"
#include "fabric/routing/static_sm.h"

namespace ibemu::fabric {
namespace {

using wire::Lid, mad::PortState;

constexpr auto kLastLid = static_cast<size_t>(Lid::kLastUnicast);

// The entries of one step, some 10 ms of work.
constexpr size_t kEntriesInAPiece = size_t{1} << 17;

// SubnetTimeOut (§13.4.6.1), which each port is given: 4.096 us * 2^18 = 1 s.
constexpr uint8_t kSubnetTimeout = 18;

}  // namespace

SubnetConfigurer::SubnetConfigurer(Subnet& subnet, Links& links,
                                   FabricEvents& events, PortId home)
    : subnet_(subnet),
      links_(links),
      events_(events),
      home_(home),
      multicast_(subnet),
      lids_(subnet.ports().size()) {}

absl::Status SubnetConfigurer::Begin(bool anew) {
  SubnetReach reach(subnet_, home_);
  IBEMU_RETURN_IF_ERROR(CheckLids(reach.ends().size()));
  before_ = std::exchange(reach_, std::move(reach));
  anew_ = anew;
  came_.clear();
  went_.clear();

  std::vector<PortId> owners = KeepLids();
  FillGaps(owners);
  top_ = Lid::kUnassigned;
  std::vector<Lid> lids(lids_.size());
  for (size_t lid = 1; lid < owners.size(); ++lid) {
    if (owners[lid] == kNoPort) continue;
    top_ = Lid{static_cast<uint16_t>(lid)};
    lids[static_cast<size_t>(owners[lid])] = top_;
  }
  const Lid home_lid = lids[static_cast<size_t>(home_)];
  switches_.clear();
  for (const PortId id : reach_.ends()) {
    const Lid lid = lids[static_cast<size_t>(id)];
    lids_[static_cast<size_t>(id)] = lid;
    SetEndPort(id, lid, home_lid);
    if (subnet_.NodeOf(id).is_switch()) {
      switches_.push_back(subnet_.port(id).node);
    }
  }
  routing_ = std::make_unique<MinHopRouter>(subnet_, switches_);
  const bool emptied = std::any_of(
      switches_.begin(), switches_.end(), [this](topology::NodeId id) {
        return subnet_.node(id).sw->info.linear_fdb_top == 0;
      });
  if (!anew && !emptied && routed_ && routed_->Covers(*routing_)) {
    routing_.reset();
  }
  return absl::OkStatus();
}

// The first port that has a LID keeps it.  If no port has it, the port that had
// it before gets it.
std::vector<PortId> SubnetConfigurer::KeepLids() const {
  std::vector<PortId> owners(kLastLid + 1, kNoPort);
  std::vector<PortId> homeless;
  const auto claim = [&](PortId id, Lid lid) {
    if (!wire::IsUnicast(lid)) return false;
    PortId& owner = owners[static_cast<size_t>(lid)];
    if (owner != kNoPort) return false;
    owner = id;
    return true;
  };
  for (const PortId id : reach_.ends()) {
    if (!claim(id, subnet_.port(id).info.lid)) homeless.push_back(id);
  }
  for (const PortId id : homeless) claim(id, lids_[static_cast<size_t>(id)]);
  return owners;
}

// The remaining ports get LIDs that no port has had before, as long as there
// are any.
void SubnetConfigurer::FillGaps(std::vector<PortId>& owners) const {
  std::vector<bool> served(lids_.size()), taken(owners.size());
  for (size_t lid = 1; lid < owners.size(); ++lid) {
    if (owners[lid] == kNoPort) continue;
    served[static_cast<size_t>(owners[lid])] = taken[lid] = true;
  }
  for (const Lid lid : lids_) taken[static_cast<size_t>(lid)] = true;
  size_t fresh = 1, used = 1;
  for (const PortId id : reach_.ends()) {
    if (served[static_cast<size_t>(id)]) continue;
    while (fresh < owners.size() && taken[fresh]) ++fresh;
    if (fresh < owners.size()) {
      owners[fresh++] = id;
      continue;
    }
    while (owners[used] != kNoPort) ++used;  // ends: Begin() has checked
    owners[used++] = id;
  }
}

// Gives an end port its LID and its master, and raises an event if that changes
// anything, which it does not in a routine sweep.
void SubnetConfigurer::SetEndPort(PortId id, Lid lid, Lid home) {
  mad::PortInfo& info = subnet_.port(id).info;
  mad::PortInfo next = info;
  next.lid = lid;
  next.lmc = 0;
  next.master_sm_lid = home;
  next.master_sm_sl = 0;
  next.subnet_timeout = kSubnetTimeout;
  if (anew_) {
    // The M_Key of the previous manager is dropped.
    next.m_key = 0;
    next.m_key_protect_bits = 0;
    next.m_key_lease_period = 0;
  }
  if (next == info) return;
  info = next;
  events_.OnPortChange(id);
}

bool SubnetConfigurer::Continue() {
  if (!SetSwitches()) return false;
  SetLinks();
  Compare();
  return true;
}

bool SubnetConfigurer::SetSwitches() {
  if (routing_) {
    if (!routing_->RouteSome(kEntriesInAPiece, top_)) return false;
    routed_ = std::move(routing_);
  }
  for (const topology::NodeId id : switches_) {
    Node& node = subnet_.node(id);
    if (!node.up) continue;
    node.sw->info.linear_fdb_top = static_cast<uint16_t>(top_);
    node.sw->info.port_state_change = false;
  }
  if (anew_) {
    multicast_.TakeOver(switches_);
  } else {
    multicast_.RouteAll();
  }
  return true;
}

void SubnetConfigurer::SetLinks() {
  for (const PortId end : reach_.ends()) {
    const Node& node = subnet_.NodeOf(end);
    if (!node.is_switch()) {
      if (SetLink(end) || anew_) events_.OnClientReregister(end);
      continue;
    }
    for (const NodePort& port : std::as_const(subnet_).PortsOf(node)) {
      SetLink(subnet_.id_of(port));
    }
  }
}

bool SubnetConfigurer::SetLink(PortId id) {
  NodePort& port = subnet_.port(id);
  const bool base_port_0 = port.number == 0 && port.IsActive();
  if (!port.IsUp() || base_port_0) return false;
  // The other end of a link has been reached, too, unless the link came up
  // since.
  if (port.number != 0 &&
      !reach_.Contains(subnet_.management_port(port.peer))) {
    return false;
  }
  const bool waited = port.info.port_state == PortState::kInit;
  SetUpLink(subnet_, port);
  // Links refuses this where another manager has done it already.
  links_.SetLogicalState(id, PortState::kArmed);
  links_.SetLogicalState(id, PortState::kActive);
  return waited;
}

void SubnetConfigurer::Compare() {
  const auto missing = [](const SubnetReach& from, const SubnetReach& in,
                          std::vector<PortId>& list) {
    std::copy_if(from.ends().begin(), from.ends().end(),
                 std::back_inserter(list),
                 [&](PortId id) { return !in.Contains(id); });
  };
  missing(reach_, before_, came_);
  missing(before_, reach_, went_);
}

}  // namespace ibemu::fabric

#include "rdma_cm/id_address.h"

#include <algorithm>
#include <utility>

#include "ipoib/multicast_gid.h"
#include "rdma_cm/multicast_join.h"

namespace ibemu::rdma_cm {
namespace {

constexpr uint16_t kFirstFreePort = 1024;

bool IsOfSpace(const SocketAddress& address, PortSpace space) {
  const uint64_t mask = address.sid_mask & kPortSpaceMask;
  return (address.sid & mask) == (ServiceId(space, 0) & mask);
}

// The addresses of a request between IB addresses: those of its path.
SocketAddress IbAddress(const wire::Gid& gid, const cm::Arrived& arrived) {
  SocketAddress address = SocketAddress::Ib(gid, arrived.service_id);
  address.pkey = arrived.pkey;
  address.flowinfo = arrived.path.flow_label;
  return address;
}

wire::IpAddress LoopbackOf(Family family) {
  constexpr uint32_t kIpv4Loopback = 0x7f000001;
  if (family == Family::kIpv4) return wire::IpAddress::Ipv4(kIpv4Loopback);
  wire::IpAddress address = wire::IpAddress::Ipv6({});
  address.bytes.back() = 1;
  return address;
}

}  // namespace

IdAddress::IdAddress(ViewParts& parts, PortSpace space)
    : parts_(parts), space_(space) {}

IdAddress::~IdAddress() { *self_ = nullptr; }

uint64_t IdAddress::ServiceIdOf(const SocketAddress& address) const {
  return address.family == Family::kIb ? address.sid
                                       : ServiceId(space_, address.port());
}

void IdAddress::TakeOfRequest(LocalPort port, const cm::Arrived& arrived,
                              const RequestAddresses& addresses) {
  if (addresses.kind == RequestAddresses::Kind::kIp) {
    source_ = SocketAddress::Ip(addresses.destination,
                                static_cast<uint16_t>(arrived.service_id));
    destination_ = SocketAddress::Ip(addresses.source, addresses.source_port);
  } else {
    const wire::Gid peer = arrived.sidr ? wire::Gid{} : arrived.path.dgid;
    source_ = IbAddress(port.gid, arrived);
    destination_ = IbAddress(peer, arrived);
  }
  port_ = std::move(port);
}

Refusal IdAddress::Bind(const SocketAddress& address, bool low_ports) {
  if (address.ip.IsLinkLocal() && address.scope_id == 0) {
    return Refusal::kInvalid;
  }
  const SocketAddress unbound = std::exchange(source_, address);
  Refusal refusal = FindDevice();
  if (refusal == Refusal::kNone) refusal = ClaimPort(low_ports);
  if (refusal != Refusal::kNone) {
    source_ = unbound;
    port_.reset();
    return refusal;
  }
  destination_ = SocketAddress::Wildcard(address.family);
  return Refusal::kNone;
}

// Wildcards are for all adapters.
Refusal IdAddress::FindDevice() {
  if (source_.IsWildcard()) return Refusal::kNone;
  const bool is_ib = source_.family == Family::kIb;
  std::optional<LocalPort> port =
      is_ib ? parts_.routing.PortOf(source_.gid, source_.pkey)
            : parts_.routing.PortOf(source_.ip);
  if (!port) return is_ib ? Refusal::kNoDevice : Refusal::kNoSuchAddress;
  port_ = *port;
  return Refusal::kNone;
}

// The service ID of an IB address says which space it is of; what it leaves
// open becomes the id's own.
Outcome<PortSpace> IdAddress::SpaceOfPort() {
  if (source_.family != Family::kIb) return space_;
  const bool any = space_ == PortSpace::kIb;
  for (const PortSpace space :
       {PortSpace::kIb, PortSpace::kTcp, PortSpace::kUdp}) {
    if ((any || space == space_) && IsOfSpace(source_, space)) {
      source_.sid = ServiceId(space, source_.port());
      source_.sid_mask |= kPortSpaceMask;
      return space;
    }
  }
  return Refusal::kNoSuchPortSpace;
}

Refusal IdAddress::ClaimPort(bool low_ports) {
  const Outcome<PortSpace> space = SpaceOfPort();
  if (!space.ok()) return space.refusal();
  const uint16_t port = source_.port();
  if (port != 0 && port < kFirstFreePort && !low_ports) {
    return Refusal::kNotPermitted;
  }
  const bool is_ipv4 = source_.family == Family::kIpv4;
  Outcome<PortBinding> binding =
      PortBinding::Make({.space = *space,
                         .address = source_,
                         .reuse_address = reuse_address_,
                         .only_family = only_family_.value_or(is_ipv4)},
                        adapters(), parts_.ports);
  if (!binding.ok()) return binding.refusal();
  binding_ = *std::move(binding);
  source_ = binding_->claim().address;
  return Refusal::kNone;
}

void IdAddress::SetSource(const SocketAddress& source) {
  source_ = source;
  if (binding_) binding_->SetAddress(source);
}

Refusal IdAddress::Resolve(
    const SocketAddress& destination, absl::Duration timeout,
    std::function<void(const absl::StatusOr<wire::Gid>&)> done) {
  destination_ = destination;
  done_ = std::move(done);
  if (destination_.IsWildcard()) return ResolveToItself();
  if (destination_.family == Family::kIb) return ResolveIb();
  if (destination_.IsMulticast()) return ResolveMulticast();
  return ResolveIp(timeout);
}

Refusal IdAddress::ResolveToItself() {
  if (!port_) {
    const std::optional<LocalPort> port = parts_.routing.AnyPort();
    if (!port) return Refusal::kNoDevice;
    port_ = *port;
    SocketAddress source = source_;
    if (source.family == Family::kIb) {
      source.gid = {0, 1};
    } else {
      source.ip = LoopbackOf(source.family);
    }
    SetSource(source);
  }
  ResolvedSoon(port_->gid);
  return Refusal::kNone;
}

Refusal IdAddress::ResolveIb() {
  if (!port_) {
    const std::optional<LocalPort> port =
        parts_.routing.PortTo(destination_.gid, destination_.pkey);
    if (!port) return Refusal::kNoDevice;
    port_ = *port;
    SocketAddress source = source_;
    source.gid = port->gid;
    SetSource(source);
  }
  ResolvedSoon(destination_.gid);
  return Refusal::kNone;
}

// There is no route for 224.0.0.0/4 without a source address; the first port
// serves as well.
Refusal IdAddress::ResolveMulticast() {
  if (!port_) {
    const std::optional<LocalPort> port = parts_.routing.AnyPort();
    if (!port || port->interface == nullptr ||
        port->interface->addresses().empty()) {
      return Refusal::kUnreachable;
    }
    port_ = *port;
    const auto& networks = port->interface->addresses();
    const auto network =
        std::ranges::find_if(networks, [this](const wire::IpNetwork& one) {
          return one.address.version == destination_.ip.version;
        });
    if (network != networks.end()) {
      SocketAddress source = source_;
      source.ip = network->address;
      SetSource(source);
    }
  }
  const ipoib::Interface* const interface = port_->interface;
  const mad::McMemberRecord* const broadcast =
      interface != nullptr ? interface->broadcast_group() : nullptr;
  ResolvedSoon(GroupGidOf(
      destination_,
      broadcast != nullptr ? broadcast->mgid : ipoib::BroadcastGid(port_->pkey),
      PortSpace::kIpoib));
  return Refusal::kNone;
}

Refusal IdAddress::ResolveIp(absl::Duration timeout) {
  Outcome<IpRoute> route = parts_.routing.RouteTo(destination_.ip, port_);
  if (!route.ok()) return route.refusal();
  if (!port_) {
    port_ = route->port;
    SocketAddress source = source_;
    source.ip = route->source;
    SetSource(source);
  }
  if (route->to_itself) {
    ResolvedSoon(port_->gid);
    return Refusal::kNone;
  }
  resolution_ = port_->interface->Resolve(
      destination_.ip, timeout,
      [this](const absl::StatusOr<wire::Gid>& gid) { Finish(gid); });
  return Refusal::kNone;
}

void IdAddress::ResolvedSoon(const wire::Gid& gid) {
  parts_.timers.RunSoon([self = self_, gid] {
    if (*self != nullptr) (*self)->Finish(gid);
  });
}

// Whoever asked may end this in the call.
void IdAddress::Finish(const absl::StatusOr<wire::Gid>& gid) {
  const auto resolution = std::move(resolution_);
  const auto done = std::move(done_);
  done(gid);
}

Refusal IdAddress::TakeAlone() {
  if (!reuse_address_) return Refusal::kNone;
  const Refusal refusal = binding_->CheckAlone();
  if (refusal != Refusal::kNone) return refusal;
  reuse_address_ = false;
  binding_->SetOptions(false, binding_->claim().only_family);
  return Refusal::kNone;
}

std::vector<std::shared_ptr<Adapter>> IdAddress::adapters() const {
  if (port_) return {port_->adapter};
  return parts_.adapters.adapters();
}

void IdAddress::SetReuseAddress(bool value) {
  reuse_address_ = value;
  if (binding_) binding_->SetOptions(value, binding_->claim().only_family);
}

void IdAddress::SetOnlyFamily(bool value) {
  only_family_ = value;
  if (binding_) binding_->SetOptions(reuse_address_, value);
}

// What is bound to no adapter is bound at all.
bool IdAddress::OnAdapterAdded(const std::shared_ptr<Adapter>& adapter) {
  if (port_ || !binding_) return false;
  binding_->Extend(adapter);
  return true;
}

bool IdAddress::OnAdapterRemoved(const std::shared_ptr<Adapter>& adapter) {
  if (port_ && port_->adapter == adapter) return true;
  if (binding_) binding_->Shrink(adapter);
  return false;
}

}  // namespace ibemu::rdma_cm

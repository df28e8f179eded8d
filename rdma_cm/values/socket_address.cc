#include "rdma_cm/values/socket_address.h"

namespace ibemu::rdma_cm {
namespace {

constexpr wire::Gid kLoopbackGid = {0, 1};

}  // namespace

SocketAddress SocketAddress::Ip(const wire::IpAddress& address, uint16_t port) {
  return {.family = address.is_ipv4() ? Family::kIpv4 : Family::kIpv6,
          .ip_port = port,
          .ip = address};
}

SocketAddress SocketAddress::Ib(const wire::Gid& gid, uint64_t sid,
                                uint64_t sid_mask) {
  return {.family = Family::kIb, .gid = gid, .sid = sid, .sid_mask = sid_mask};
}

SocketAddress SocketAddress::Wildcard(Family family) {
  SocketAddress address{.family = family};
  if (family == Family::kIpv6) address.ip = wire::IpAddress::Ipv6({});
  return address;
}

bool SocketAddress::IsLoopback() const {
  return family == Family::kIb ? gid == kLoopbackGid : ip.IsLoopback();
}

bool SocketAddress::IsWildcard() const {
  if (IsLoopback()) return true;
  return family == Family::kIb ? gid == wire::Gid{} : ip.IsUnspecified();
}

bool SocketAddress::IsMulticast() const {
  return family == Family::kIb ? wire::IsMulticast(gid) : ip.IsMulticast();
}

uint16_t SocketAddress::port() const {
  return family == Family::kIb ? static_cast<uint16_t>(sid & sid_mask)
                               : ip_port;
}

void SocketAddress::SetPort(uint16_t port) {
  if (family != Family::kIb) {
    ip_port = port;
    return;
  }
  sid = (sid & sid_mask) | port;
  sid_mask = ~uint64_t{0};
}

bool SocketAddress::IsSameHost(const SocketAddress& other) const {
  if (family != other.family) return false;
  return family == Family::kIb ? gid == other.gid : ip == other.ip;
}

}  // namespace ibemu::rdma_cm

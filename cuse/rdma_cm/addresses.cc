#include "cuse/rdma_cm/addresses.h"

#include <endian.h>
#include <netinet/in.h>

#include <cstring>
#include <span>

#include "wire/layout.h"

namespace ibemu::cuse {
namespace {

using rdma_cm::Family, rdma_cm::SocketAddress;

template <class T>
T Copy(mad::Bytes bytes) {
  T value{};
  std::memcpy(&value, bytes.data(), sizeof value);
  return value;
}

template <class T>
size_t Put(const T& value, std::span<std::byte> to) {
  std::memcpy(to.data(), &value, sizeof value);
  return sizeof value;
}

SocketAddress OfIpv4(const sockaddr_in& in) {
  return SocketAddress::Ip(wire::IpAddress::Ipv4(be32toh(in.sin_addr.s_addr)),
                           be16toh(in.sin_port));
}

SocketAddress OfIpv6(const sockaddr_in6& in) {
  std::array<uint8_t, 16> bytes{};
  std::memcpy(bytes.data(), &in.sin6_addr, bytes.size());
  SocketAddress address =
      SocketAddress::Ip(wire::IpAddress::Ipv6(bytes), be16toh(in.sin6_port));
  address.flowinfo = be32toh(in.sin6_flowinfo);
  address.scope_id = in.sin6_scope_id;
  return address;
}

SocketAddress OfIb(const SockaddrIb& in) {
  SocketAddress address = SocketAddress::Ib(
      wire::Decode<wire::Gid>(std::as_bytes(std::span(in.gid))),
      be64toh(in.sid_be), be64toh(in.sid_mask_be));
  address.pkey = be16toh(in.pkey_be);
  address.flowinfo = be32toh(in.flowinfo_be);
  address.scope_id = in.scope_id;
  return address;
}

sockaddr_in ToIpv4(const SocketAddress& address) {
  sockaddr_in out{};
  out.sin_family = AF_INET;
  out.sin_port = htobe16(address.ip_port);
  out.sin_addr.s_addr = htobe32(address.ip.ipv4());
  return out;
}

sockaddr_in6 ToIpv6(const SocketAddress& address) {
  sockaddr_in6 out{};
  out.sin6_family = AF_INET6;
  out.sin6_port = htobe16(address.ip_port);
  out.sin6_flowinfo = htobe32(address.flowinfo);
  std::memcpy(&out.sin6_addr, address.ip.bytes.data(), address.ip.bytes.size());
  out.sin6_scope_id = static_cast<uint32_t>(address.scope_id);
  return out;
}

SockaddrIb ToIb(const SocketAddress& address) {
  SockaddrIb out{.family = kFamilyIb,
                 .pkey_be = htobe16(address.pkey),
                 .flowinfo_be = htobe32(address.flowinfo),
                 .sid_be = htobe64(address.sid),
                 .sid_mask_be = htobe64(address.sid_mask),
                 .scope_id = address.scope_id};
  wire::Encode(address.gid, std::as_writable_bytes(std::span(out.gid)));
  return out;
}

}  // namespace

size_t AddressSize(mad::Bytes address) {
  if (address.size() < sizeof(uint16_t)) return 0;
  switch (Copy<uint16_t>(address)) {
    case AF_INET:
      return sizeof(sockaddr_in);
    case AF_INET6:
      return sizeof(sockaddr_in6);
    case kFamilyIb:
      return sizeof(SockaddrIb);
    default:
      return 0;
  }
}

SocketAddress ReadAddress(mad::Bytes address) {
  const size_t size = AddressSize(address);
  if (size == 0 || address.size() < size) return {};
  switch (Copy<uint16_t>(address)) {
    case AF_INET:
      return OfIpv4(Copy<sockaddr_in>(address));
    case AF_INET6:
      return OfIpv6(Copy<sockaddr_in6>(address));
    default:
      return OfIb(Copy<SockaddrIb>(address));
  }
}

size_t WriteAddress(const SocketAddress& address, std::span<std::byte> to) {
  switch (address.family) {
    case Family::kNone:
      break;
    case Family::kIpv4:
      return Put(ToIpv4(address), to);
    case Family::kIpv6:
      return Put(ToIpv6(address), to);
    case Family::kIb:
      return Put(ToIb(address), to);
  }
  return 0;
}

}  // namespace ibemu::cuse

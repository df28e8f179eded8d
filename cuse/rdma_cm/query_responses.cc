#include "cuse/rdma_cm/query_responses.h"

#include <endian.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <span>

#include "cuse/rdma_cm/addresses.h"
#include "mad/wire/sa_paths.h"

namespace ibemu::cuse {
namespace {

using rdma_cm::Family, rdma_cm::Id, rdma_cm::SocketAddress;

template <class T>
std::span<std::byte> Writable(T& value) {
  return std::as_writable_bytes(std::span(&value, 1));
}

// A GUID in network order.
uint64_t NodeGuid(const rdma_cm::LocalPort& port) {
  return htobe64(
      static_cast<uint64_t>(port.adapter->host().device().node_guid()));
}

// Returns `address` as an address of the family IB.  One of another family
// becomes the service ID that it stands for, with `gid` where the port is
// known.
SocketAddress AsIb(const Id& id, const SocketAddress& address,
                   const wire::Gid& gid) {
  if (address.family == Family::kIb) return address;
  SocketAddress ib = SocketAddress::Ib({}, id.ServiceIdOf(address), 0);
  if (id.port()) {
    ib.gid = gid;
    ib.pkey = id.port()->pkey;
  }
  return ib;
}

rdma_ucm_query_addr_resp Response(const Id& id, const SocketAddress& source,
                                  const SocketAddress& destination) {
  rdma_ucm_query_addr_resp response{};
  response.src_size =
      static_cast<uint16_t>(WriteAddress(source, Writable(response.src_addr)));
  response.dst_size = static_cast<uint16_t>(
      WriteAddress(destination, Writable(response.dst_addr)));
  if (const auto& port = id.port()) {
    response.node_guid = NodeGuid(*port);
    response.port_num = static_cast<uint8_t>(port->number);
    response.pkey = htobe16(port->pkey);
  }
  return response;
}

// Of an IPv4 address 16 bytes count, of all others 28.
void WriteIpAddress(const SocketAddress& address, sockaddr_in6& to) {
  std::array<std::byte, sizeof(SockaddrIb)> whole{};
  WriteAddress(address, whole);
  std::memcpy(&to, whole.data(), sizeof to);
}

// The path in the kernel's own form: ib_copy_path_rec_to_user().
ib_user_path_rec UserPath(const mad::PathRecord& path) {
  ib_user_path_rec user{};
  wire::Encode(path.dgid, Writable(user.dgid));
  wire::Encode(path.sgid, Writable(user.sgid));
  user.dlid = htobe16(static_cast<uint16_t>(path.dlid));
  user.slid = htobe16(static_cast<uint16_t>(path.slid));
  user.raw_traffic = path.raw_traffic ? 1 : 0;
  user.flow_label = htobe32(path.flow_label);
  user.reversible = path.reversible ? 1 : 0;
  user.mtu = path.mtu;
  user.pkey = htobe16(path.p_key);
  user.hop_limit = path.hop_limit;
  user.traffic_class = path.traffic_class;
  user.numb_path = path.num_path;
  user.sl = path.sl;
  user.mtu_selector = static_cast<uint8_t>(path.mtu_selector);
  user.rate_selector = static_cast<uint8_t>(path.rate_selector);
  user.rate = path.rate;
  user.packet_life_time_selector =
      static_cast<uint8_t>(path.packet_life_time_selector);
  user.packet_life_time = path.packet_life_time;
  user.preference = path.preference;
  return user;
}

}  // namespace

rdma_ucm_query_addr_resp AddressResponse(const Id& id) {
  return Response(id, id.source(), id.destination());
}

rdma_ucm_query_addr_resp GidResponse(const Id& id) {
  const wire::Gid own = id.port() ? id.port()->gid : wire::Gid{};
  return Response(id, AsIb(id, id.source(), own),
                  AsIb(id, id.destination(), id.remote_gid()));
}

std::vector<std::byte> PathResponse(const Id& id, size_t room) {
  // struct rdma_ucm_query_path_resp: how many, and a reserved word.
  const std::array<uint32_t, 2> head{id.path() ? 1u : 0u, 0};
  std::vector<std::byte> response(sizeof head);
  std::memcpy(response.data(), head.data(), sizeof head);
  ib_path_rec_data path{};
  if (!id.path() || room < sizeof head + sizeof path) return response;
  path.flags = IB_PATH_GMP | IB_PATH_PRIMARY | IB_PATH_BIDIRECTIONAL;
  wire::Encode(*id.path(), Writable(path.path_rec));
  response.resize(sizeof head + sizeof path);
  std::memcpy(response.data() + sizeof head, &path, sizeof path);
  return response;
}

rdma_ucm_query_route_resp RouteResponse(const Id& id) {
  rdma_ucm_query_route_resp response{};
  WriteIpAddress(id.source(), response.src_addr);
  WriteIpAddress(id.destination(), response.dst_addr);
  const auto& port = id.port();
  if (!port) return response;
  response.node_guid = NodeGuid(*port);
  response.port_num = static_cast<uint8_t>(port->number);
  if (id.path()) {
    response.num_paths = 1;
    response.ib_route[0] = UserPath(*id.path());
    return response;
  }
  ib_user_path_rec& ends = response.ib_route[0];
  wire::Encode(id.remote_gid(), Writable(ends.dgid));
  wire::Encode(port->gid, Writable(ends.sgid));
  ends.pkey = htobe16(port->pkey);
  return response;
}

}  // namespace ibemu::cuse

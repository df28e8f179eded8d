#include "cm/route.h"

#include <algorithm>
#include <iterator>
#include <optional>

#include "absl/status/status.h"
#include "absl/strings/str_format.h"
#include "wire/types.h"

namespace ibemu::cm {
namespace {

constexpr uint32_t kManagementQpn = 1;

}  // namespace

absl::StatusOr<Route> RouteOf(mad::Device& device,
                              const mad::PathRecord& path) {
  for (int n = device.first_port(); n <= device.last_port(); ++n) {
    const mad::Port& port = device.port(n);
    const std::optional<uint8_t> gid_index = mad::GidIndexOf(port, path.sgid);
    if (!gid_index) continue;
    const std::optional<uint16_t> pkey_index =
        mad::PKeyIndexOf(port, path.p_key);
    if (!pkey_index) {
      return absl::InvalidArgumentError(
          absl::StrFormat("port %d has no P_Key 0x%04x", n, path.p_key));
    }
    const mad::PortInfo info = port.Info();
    const unsigned path_bits = (1u << info.lmc) - 1;
    Route route{.port = n,
                .to = {.dlid = path.dlid,
                       .sl = path.sl,
                       .path_bits = static_cast<uint8_t>(
                           static_cast<unsigned>(path.slid) & path_bits),
                       .pkey_index = *pkey_index,
                       .qpn = kManagementQpn,
                       .qkey = mad::kQp1QKey},
                .static_rate = path.rate,
                .mtu = path.mtu,
                .packet_life_time = path.packet_life_time};
    if (path.hop_limit > 0) {
      route.to.grh = mad::GlobalRoute{.gid = path.dgid,
                                      .flow_label = path.flow_label,
                                      .gid_index = *gid_index,
                                      .hop_limit = path.hop_limit,
                                      .traffic_class = path.traffic_class};
    }
    return route;
  }
  return absl::InvalidArgumentError(
      absl::StrFormat("no port has the path's SGID %016x:%016x",
                      path.sgid.prefix, path.sgid.interface_id));
}

verbs::AddressAttributes AddressOf(const Route& route) {
  verbs::AddressAttributes address{};
  address.dlid = static_cast<uint16_t>(route.to.dlid);
  address.sl = route.to.sl;
  address.src_path_bits = route.to.path_bits;
  address.static_rate = route.static_rate;
  address.port_num = static_cast<uint8_t>(route.port);
  if (route.to.grh) {
    address.is_global = 1;
    wire::Encode(route.to.grh->gid,
                 std::as_writable_bytes(std::span(address.grh.dgid)));
    address.grh.flow_label = route.to.grh->flow_label;
    address.grh.sgid_index = route.to.grh->gid_index;
    address.grh.hop_limit = route.to.grh->hop_limit;
    address.grh.traffic_class = route.to.grh->traffic_class;
  }
  return address;
}

}  // namespace ibemu::cm

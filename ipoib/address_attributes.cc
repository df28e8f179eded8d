#include "ipoib/address_attributes.h"

#include <algorithm>
#include <span>

namespace ibemu::ipoib {

verbs::GidBytes BytesOf(const wire::Gid& gid) {
  verbs::GidBytes bytes{};
  wire::Encode(gid, std::as_writable_bytes(std::span(bytes)));
  return bytes;
}

verbs::AddressAttributes AddressBy(const mad::PathRecord& path, int port) {
  verbs::AddressAttributes address{};
  address.dlid = static_cast<uint16_t>(path.dlid);
  address.sl = path.sl;
  address.static_rate = path.rate;
  address.port_num = static_cast<uint8_t>(port);
  if (path.hop_limit == 0) return address;
  address.is_global = 1;
  std::ranges::copy(BytesOf(path.dgid), address.grh.dgid);
  address.grh.flow_label = path.flow_label;
  address.grh.hop_limit = path.hop_limit;
  address.grh.traffic_class = path.traffic_class;
  return address;
}

verbs::AddressAttributes AddressOf(const mad::McMemberRecord& group, int port) {
  verbs::AddressAttributes address{};
  address.dlid = static_cast<uint16_t>(group.mlid);
  address.sl = group.sl;
  address.static_rate = group.rate;
  address.port_num = static_cast<uint8_t>(port);
  address.is_global = 1;
  std::ranges::copy(BytesOf(group.mgid), address.grh.dgid);
  address.grh.flow_label = group.flow_label;
  address.grh.hop_limit = group.hop_limit;
  address.grh.traffic_class = group.traffic_class;
  return address;
}

}  // namespace ibemu::ipoib

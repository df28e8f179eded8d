#include "rdma_cm/address_attributes.h"

#include <span>

namespace ibemu::rdma_cm {
namespace {

void SetGid(const wire::Gid& gid, ib_uverbs_global_route& grh) {
  wire::Encode(gid, std::as_writable_bytes(std::span(grh.dgid)));
}

}  // namespace

verbs::AddressAttributes AddressOf(const LocalPort& port,
                                   const mad::PathRecord& path) {
  verbs::AddressAttributes address{};
  const unsigned path_bits = (1u << port.port().Info().lmc) - 1;
  address.dlid = static_cast<uint16_t>(path.dlid);
  address.sl = path.sl;
  address.src_path_bits =
      static_cast<uint8_t>(static_cast<unsigned>(path.slid) & path_bits);
  address.static_rate = path.rate;
  address.port_num = static_cast<uint8_t>(port.number);
  if (path.hop_limit == 0) return address;
  address.is_global = 1;
  SetGid(path.dgid, address.grh);
  address.grh.flow_label = path.flow_label;
  address.grh.sgid_index = port.GidIndex(path.sgid).value_or(0);
  address.grh.hop_limit = path.hop_limit;
  address.grh.traffic_class = path.traffic_class;
  return address;
}

verbs::AddressAttributes AddressOf(const LocalPort& port,
                                   const mad::McMemberRecord& group) {
  verbs::AddressAttributes address{};
  address.dlid = static_cast<uint16_t>(group.mlid);
  address.sl = group.sl;
  address.static_rate = group.rate;
  address.port_num = static_cast<uint8_t>(port.number);
  address.is_global = 1;
  SetGid(group.mgid, address.grh);
  address.grh.flow_label = group.flow_label;
  address.grh.sgid_index = port.GidIndex(group.port_gid).value_or(0);
  address.grh.hop_limit = group.hop_limit;
  address.grh.traffic_class = group.traffic_class;
  return address;
}

}  // namespace ibemu::rdma_cm

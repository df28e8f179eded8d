#include "cuse/umad/umad_header.h"

#include <endian.h>

#include <cstring>

namespace ibemu::cuse {
namespace {

constexpr uint32_t kQp1Qkey = 0x80010000;  // IBA vol 1 §3.5.3

wire::Gid LoadGid(const uint8_t (&raw)[16]) {
  uint64_t halves[2];
  std::memcpy(halves, raw, sizeof halves);
  return {.prefix = be64toh(halves[0]), .interface_id = be64toh(halves[1])};
}

void StoreGid(const wire::Gid& gid, uint8_t (&raw)[16]) {
  const uint64_t halves[2] = {htobe64(gid.prefix), htobe64(gid.interface_id)};
  std::memcpy(raw, halves, sizeof halves);
}

}  // namespace

ib_user_mad_hdr DecodeUmadHeader(mad::Bytes written, size_t header_size) {
  ib_user_mad_hdr header{};
  std::memcpy(&header, written.data(), header_size);
  return header;
}

mad::AddressVector DestinationOf(const ib_user_mad_hdr& header, int qp) {
  mad::AddressVector to{
      .dlid = wire::Lid{be16toh(header.lid)},
      .sl = header.sl,
      .path_bits = header.path_bits,
      .pkey_index = header.pkey_index,
      .qpn = be32toh(header.qpn),
      .qkey = qp == 0 ? 0 : kQp1Qkey,
      .grh = std::nullopt,
  };
  if (header.grh_present != 0) {
    to.grh = mad::GlobalRoute{
        .gid = LoadGid(header.gid),
        .flow_label = be32toh(header.flow_label),
        .gid_index = header.gid_index,
        .hop_limit = header.hop_limit,
        .traffic_class = header.traffic_class,
    };
  }
  return to;
}

ib_user_mad_hdr HeaderOf(const mad::IncomingMessage& message, uint32_t agent_id,
                         size_t header_size) {
  ib_user_mad_hdr header{};
  header.id = agent_id;
  header.length = static_cast<uint32_t>(header_size + message.mad.size());
  header.qpn = htobe32(message.source_qpn);
  header.lid = htobe16(static_cast<uint16_t>(message.slid));
  header.sl = message.sl;
  header.path_bits = message.path_bits;
  if (header_size == kUmadHeader) header.pkey_index = message.pkey_index;
  if (message.grh) {
    header.grh_present = 1;
    header.gid_index = message.grh->gid_index;
    header.hop_limit = 0xff;  // not the received one: an answer starts afresh
    header.traffic_class = message.grh->traffic_class;
    header.flow_label = htobe32(message.grh->flow_label);
    StoreGid(message.grh->gid, header.gid);
  }
  return header;
}

bool SameDestination(const ib_user_mad_hdr& a, const ib_user_mad_hdr& b) {
  if (a.grh_present != 0 && b.grh_present != 0) {
    return std::memcmp(a.gid, b.gid, sizeof a.gid) == 0;
  }
  return a.grh_present == b.grh_present && a.lid == b.lid;
}

}  // namespace ibemu::cuse

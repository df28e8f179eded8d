// What programs write to umadN, and what comes back through the port.
#ifndef IBEMU_TESTS_CUSE_UMAD_MESSAGES_H_
#define IBEMU_TESTS_CUSE_UMAD_MESSAGES_H_

#include <endian.h>
#include <rdma/rdma_user_ioctl.h>

#include <cstring>
#include <span>
#include <vector>

#include "cuse/umad/umad_header.h"
#include "mad/mad_class.h"
#include "mad/port.h"
#include "testing/mad_builder.h"

namespace ibemu::cuse {

constexpr wire::Lid kPeer{7};

// `mad` behind a header of `header_size` bytes.
inline std::vector<std::byte> Umad(const ib_user_mad_hdr& header,
                                   mad::Bytes mad,
                                   size_t header_size = kOldUmadHeader) {
  const mad::Bytes front = AsBytes(header, header_size);
  std::vector<std::byte> written(front.begin(), front.end());
  written.insert(written.end(), mad.begin(), mad.end());
  return written;
}

inline ib_user_mad_hdr HeaderTo(wire::Lid lid, uint32_t agent = 0) {
  ib_user_mad_hdr header{};
  header.id = agent;
  header.qpn = htobe32(1);
  header.lid = htobe16(static_cast<uint16_t>(lid));
  return header;
}

inline mad::MadBytes PerfGet(uint64_t tid) {
  return testing::MakeMad({.mgmt_class = mad::MgmtClass::kPerformance,
                           .method = mad::Method::kGet,
                           .tid = tid,
                           .attr_id = mad::AttributeId::kPortCounters});
}

// A whole write(): a performance query that waits a second for its answer.
inline std::vector<std::byte> UmadRequest(uint64_t tid, uint32_t agent = 0) {
  ib_user_mad_hdr header = HeaderTo(kPeer, agent);
  header.timeout_ms = 1000;
  return Umad(header, PerfGet(tid));
}

// A query that is answered by RMPP, which `agent` must do.
inline std::vector<std::byte> TableRequest(uint64_t tid, uint32_t agent = 1) {
  ib_user_mad_hdr header = HeaderTo(kPeer, agent);
  header.timeout_ms = 10'000;
  return Umad(header, testing::MakeMad(
                          {.mgmt_class = mad::MgmtClass::kSubnetAdministration,
                           .class_version = 2,
                           .method = mad::Method::kGetTable,
                           .tid = tid,
                           .attr_id = mad::AttributeId::kNodeRecord}));
}

// The answer that the addressee of `sent` would give.
inline mad::Arrival AnswerTo(const mad::Outgoing& sent) {
  mad::Arrival answer{.qp = sent.qp,
                      .slid = sent.to.dlid,
                      .source_qpn = sent.to.qpn,
                      .grh = std::nullopt,
                      .mad = sent.mad};
  const auto method = wire::Get<&mad::MadHeader::method>(answer.mad);
  wire::Put<&mad::MadHeader::method>(
      answer.mad,
      mad::Method(static_cast<uint8_t>(method) | mad::kResponseBit));
  return answer;
}

inline ib_user_mad_hdr HeaderIn(mad::Bytes read,
                                size_t header_size = kOldUmadHeader) {
  return DecodeUmadHeader(read, header_size);
}

inline uint64_t TidIn(mad::Bytes read, size_t header_size = kOldUmadHeader) {
  return wire::Get<&mad::MadHeader::tid>(read.subspan(header_size));
}

}  // namespace ibemu::cuse

#endif  // IBEMU_TESTS_CUSE_UMAD_MESSAGES_H_

#include "hca/mlx4/mad/mlx_wqe.h"

#include <algorithm>
#include <cassert>

#include "hca/prm/mlx4_wqe.h"
#include "mad/wire/mad_header.h"
#include "wire/layout.h"
#include "wire/opcode.h"
#include "wire/packet_headers.h"

namespace ibemu::hca::mlx4 {
namespace {

constexpr size_t kIcrc = 4;
constexpr size_t kUnit = 16;  // of a WQE

constexpr size_t kLrh = wire::kBytes<wire::LocalRouteHeader>;
constexpr size_t kGrh = wire::kBytes<wire::GlobalRouteHeader>;
constexpr size_t kBth = wire::kBytes<wire::BaseTransportHeader>;
constexpr size_t kDeth = wire::kBytes<wire::DatagramHeader>;
constexpr size_t kInline = wire::kBytes<prm::InlineSegment>;

constexpr size_t RoundUpToUnit(size_t size) {
  return (size + kUnit - 1) / kUnit * kUnit;
}

// A writer that appends segments to a WQE whose first `at` bytes are taken.
class WqeWriter {
 public:
  WqeWriter(MlxWqe& wqe, size_t at) : wqe_(wqe), at_(at) {}

  // Appends inline data, in as many segments as it takes to cross no 64-byte
  // boundary.
  void Inline(std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
      const size_t room =
          prm::kInlineBoundary - (at_ + kInline) % prm::kInlineBoundary;
      const size_t size = std::min(room, bytes.size());
      Put(prm::InlineSegment{.byte_count = static_cast<uint32_t>(size)});
      std::ranges::copy(bytes.first(size), wqe_.begin() + at_);
      at_ += size;
      bytes = bytes.subspan(size);
    }
    at_ = RoundUpToUnit(at_);
  }

  template <wire::Structure T>
  void Put(const T& segment) {
    assert(at_ + wire::kBytes<T> <= wqe_.size());
    wire::Encode(segment, std::span(wqe_).subspan(at_));
    at_ += wire::kBytes<T>;
  }

  size_t size() const { return at_; }

 private:
  MlxWqe& wqe_;
  size_t at_;
};

}  // namespace

std::vector<std::byte> MakeMadHeaders(const mad::AddressVector& to,
                                      const MlxSource& source) {
  const bool permissive = to.dlid == wire::Lid::kPermissive;
  const size_t size =
      kLrh + (to.grh ? kGrh : 0) + kBth + kDeth + mad::kMadBytes + kIcrc;
  std::vector<std::byte> headers;
  wire::Append(
      wire::LocalRouteHeader{
          .vl = source.qp == 0 ? uint8_t{15} : source.vl,
          .sl = to.sl,
          .next_header =
              to.grh ? wire::NextHeader::kGrh : wire::NextHeader::kBth,
          .dlid = to.dlid,
          .words = static_cast<uint16_t>(size / 4),
          .slid = permissive ? wire::Lid::kPermissive
                             : static_cast<wire::Lid>(to.path_bits & 0x7f)},
      headers);
  if (to.grh) {
    wire::GlobalRouteHeader grh;
    grh.traffic_class = to.grh->traffic_class;
    grh.flow_label = to.grh->flow_label;
    grh.payload = static_cast<uint16_t>(size - kLrh - kGrh);
    grh.hop_limit = to.grh->hop_limit;
    grh.sgid = source.sgid;
    grh.dgid = to.grh->gid;
    wire::Append(grh, headers);
  }
  wire::BaseTransportHeader bth;
  bth.opcode = wire::opcode::kUdSendOnly;
  bth.p_key = source.p_key;
  bth.destination_qpn = to.qpn;
  bth.psn = source.psn & 0xffffff;
  wire::Append(bth, headers);
  // A Q_Key with the highest bit set stands for the queue pair's own.
  const bool own_key = (to.qkey & 0x80000000) != 0;
  const uint32_t own = source.qp == 0 ? 0 : mad::kQp1QKey;
  wire::Append(
      wire::DatagramHeader{.q_key = own_key ? own : to.qkey,
                           .source_qpn = static_cast<uint32_t>(source.qp)},
      headers);
  return headers;
}

MlxWqe MakeMlxWqe(const mad::AddressVector& to, const MlxSource& source,
                  const MlxPayload& payload, bool owner) {
  MlxWqe wqe{};
  WqeWriter writer(wqe, wire::kBytes<prm::MlxSegment>);
  writer.Inline(MakeMadHeaders(to, source));
  writer.Put(prm::DataSegment{.byte_count = mad::kMadBytes,
                              .lkey = payload.lkey,
                              .address = payload.iova});
  // The adapter computes the ICRC.
  writer.Inline(std::array<std::byte, kIcrc>{});

  prm::MlxSegment control;
  control.owner = owner;
  control.opcode = prm::WqeOpcode::kSend;
  control.size = static_cast<uint8_t>(writer.size() / kUnit);
  control.vl15 = source.qp == 0;
  control.source_lid_given = to.dlid == wire::Lid::kPermissive;
  control.sl = to.sl;
  control.completion = prm::kCompletionRequested;
  control.rlid = static_cast<uint16_t>(to.dlid);
  wire::Encode(control, wqe);
  return wqe;
}

}  // namespace ibemu::hca::mlx4

#include "hca/mlx4/mad/mlx_wqe.h"

#include <gtest/gtest.h>

#include <span>
#include <vector>

#include "gmock/gmock.h"
#include "hca/prm/mlx4_wqe.h"
#include "wire/packet_headers.h"

namespace ibemu::hca::mlx4 {
namespace {

using ::testing::ElementsAreArray;
using wire::Lid;

constexpr MlxPayload kPayload{.iova = 0x123456789000, .lkey = 0x300};

std::span<const std::byte> From(const MlxWqe& wqe, size_t at) {
  return std::span(wqe).subspan(at);
}

TEST(MlxWqe, HasLocalHeadersInOnePiece) {
  const mad::AddressVector to{
      .dlid = Lid{7}, .sl = 3, .path_bits = 1, .qpn = 1, .qkey = mad::kQp1QKey};
  const MlxSource source{.qp = 1, .p_key = 0xffff, .vl = 2, .psn = 0x1000005};
  const MlxWqe wqe = MakeMlxWqe(to, source, kPayload, /*owner=*/true);

  const auto control = wire::Decode<prm::MlxSegment>(wqe);
  EXPECT_TRUE(control.owner);
  EXPECT_EQ(control.opcode, prm::WqeOpcode::kSend);
  EXPECT_EQ(control.size, 5);
  EXPECT_FALSE(control.vl15);
  EXPECT_FALSE(control.source_lid_given);
  EXPECT_FALSE(control.icrc_given);
  EXPECT_EQ(control.sl, 3);
  EXPECT_EQ(control.completion, prm::kCompletionRequested);
  EXPECT_EQ(control.rlid, 7);

  const auto headers = wire::Decode<prm::InlineSegment>(From(wqe, 16));
  EXPECT_TRUE(headers.is_inline);
  EXPECT_EQ(headers.byte_count, 28u);
  const auto lrh = wire::Decode<wire::LocalRouteHeader>(From(wqe, 20));
  EXPECT_EQ(lrh.vl, 2);
  EXPECT_EQ(lrh.sl, 3);
  EXPECT_EQ(lrh.next_header, wire::NextHeader::kBth);
  EXPECT_EQ(lrh.dlid, Lid{7});
  EXPECT_EQ(lrh.slid, Lid{1}) << "the path bits: the adapter adds its LID";
  EXPECT_EQ(lrh.words, (8 + 12 + 8 + 256 + 4) / 4);
  const auto bth = wire::Decode<wire::BaseTransportHeader>(From(wqe, 28));
  EXPECT_EQ(bth.opcode, 0x64);
  EXPECT_EQ(bth.p_key, 0xffff);
  EXPECT_EQ(bth.destination_qpn, 1u);
  EXPECT_EQ(bth.psn, 5u);
  const auto deth = wire::Decode<wire::DatagramHeader>(From(wqe, 40));
  EXPECT_EQ(deth.q_key, mad::kQp1QKey);
  EXPECT_EQ(deth.source_qpn, 1u);

  const auto data = wire::Decode<prm::DataSegment>(From(wqe, 48));
  EXPECT_FALSE(data.is_inline);
  EXPECT_EQ(data.byte_count, 256u);
  EXPECT_EQ(data.lkey, 0x300u);
  EXPECT_EQ(data.address, 0x123456789000u);
  EXPECT_EQ(wire::Decode<prm::InlineSegment>(From(wqe, 64)).byte_count, 4u)
      << "room for the ICRC";
}

TEST(MlxWqe, CutsGlobalHeadersWhere64BytesEnd) {
  mad::AddressVector to{.dlid = Lid{7}, .qpn = 1, .qkey = 0x80000000};
  to.grh = mad::GlobalRoute{.gid = {.prefix = 1, .interface_id = 2},
                            .flow_label = 5,
                            .hop_limit = 9,
                            .traffic_class = 4};
  MlxSource source{.qp = 1, .p_key = 0xffff};
  source.sgid = {.prefix = 3, .interface_id = 4};
  const MlxWqe wqe = MakeMlxWqe(to, source, kPayload, /*owner=*/false);

  EXPECT_EQ(wire::Decode<prm::MlxSegment>(wqe).size, 8);
  EXPECT_FALSE(wire::Decode<prm::MlxSegment>(wqe).owner);
  EXPECT_EQ(wire::Decode<prm::InlineSegment>(From(wqe, 16)).byte_count, 44u);
  EXPECT_EQ(wire::Decode<prm::InlineSegment>(From(wqe, 64)).byte_count, 24u);
  std::vector<std::byte> headers(wqe.begin() + 20, wqe.begin() + 64);
  headers.insert(headers.end(), wqe.begin() + 68, wqe.begin() + 92);
  EXPECT_THAT(headers, ElementsAreArray(MakeMadHeaders(to, source)));
  const auto grh =
      wire::Decode<wire::GlobalRouteHeader>(std::span(headers).subspan(8));
  EXPECT_EQ(grh.sgid.interface_id, 4u);
  EXPECT_EQ(grh.dgid.interface_id, 2u);
  EXPECT_EQ(grh.payload, 12 + 8 + 256 + 4);
  EXPECT_EQ(grh.hop_limit, 9);
  const auto deth =
      wire::Decode<wire::DatagramHeader>(std::span(headers).subspan(60));
  EXPECT_EQ(deth.q_key, mad::kQp1QKey) << "the highest bit: one's own";
  EXPECT_EQ(wire::Decode<prm::DataSegment>(From(wqe, 96)).byte_count, 256u);
  EXPECT_EQ(wire::Decode<prm::InlineSegment>(From(wqe, 112)).byte_count, 4u);
}

TEST(MlxWqe, SendsDirectedRoutesFromNowhere) {
  const mad::AddressVector to{.dlid = Lid::kPermissive};
  const MlxWqe wqe = MakeMlxWqe(to, {.qp = 0}, kPayload, /*owner=*/false);
  const auto control = wire::Decode<prm::MlxSegment>(wqe);
  EXPECT_TRUE(control.vl15);
  EXPECT_TRUE(control.source_lid_given);
  EXPECT_EQ(control.rlid, 0xffff);
  const auto lrh = wire::Decode<wire::LocalRouteHeader>(From(wqe, 20));
  EXPECT_EQ(lrh.vl, 15);
  EXPECT_EQ(lrh.slid, Lid::kPermissive);
}

}  // namespace
}  // namespace ibemu::hca::mlx4

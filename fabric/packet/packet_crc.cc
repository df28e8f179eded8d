#include "fabric/packet/packet_crc.h"

#include <algorithm>
#include <array>

#include "wire/packet_headers.h"

namespace ibemu::fabric {
namespace {

// The polynomials of §7.8.1 and §7.8.2.  The lowest power of x is in the
// highest bit, so that bits are processed in the order in which they go over
// the wire.
constexpr uint32_t kInvariantPolynomial = 0xedb88320;
constexpr uint16_t kVariantPolynomial = 0xd008;

template <class Crc>
constexpr std::array<Crc, 256> MakeTable(Crc polynomial) {
  std::array<Crc, 256> table{};
  for (unsigned i = 0; i < 256; ++i) {
    auto crc = static_cast<Crc>(i);
    for (int bit = 0; bit < 8; ++bit) {
      crc = static_cast<Crc>(crc >> 1 ^ ((crc & 1) != 0 ? polynomial : 0));
    }
    table[i] = crc;
  }
  return table;
}
constexpr std::array<uint32_t, 256> kInvariantTable =
    MakeTable(kInvariantPolynomial);
constexpr std::array<uint16_t, 256> kVariantTable =
    MakeTable(kVariantPolynomial);

template <class Crc>
Crc Continue(const std::array<Crc, 256>& table, Crc crc,
             std::span<const std::byte> bytes) {
  for (const std::byte byte : bytes) {
    const auto low = static_cast<uint8_t>(crc);
    crc = static_cast<Crc>(crc >> 8 ^
                           table[low ^ std::to_integer<uint8_t>(byte)]);
  }
  return crc;
}

}  // namespace

uint32_t InvariantCrc(std::span<const std::byte> packet) {
  constexpr size_t kLrh = wire::kBytes<wire::LocalRouteHeader>;
  constexpr size_t kGrh = wire::kBytes<wire::GlobalRouteHeader>;
  constexpr size_t kBth = wire::kBytes<wire::BaseTransportHeader>;
  constexpr size_t kBthReserved = 4;
  constexpr std::byte kOnes{0xff};

  std::array<std::byte, kLrh + kGrh + kBth> masked;
  const bool global = wire::Get<&wire::LocalRouteHeader::next_header>(packet) ==
                      wire::NextHeader::kGrh;
  const size_t routing = kLrh + (global ? kGrh : 0);
  std::copy_n(packet.begin(), routing + kBth, masked.begin());
  if (global) {
    std::fill_n(masked.begin(), kLrh, kOnes);
    const std::span<std::byte> grh = std::span(masked).subspan(kLrh);
    wire::Put<&wire::GlobalRouteHeader::traffic_class>(grh, uint8_t{0xff});
    wire::Put<&wire::GlobalRouteHeader::flow_label>(grh, uint32_t{0xfffff});
    wire::Put<&wire::GlobalRouteHeader::hop_limit>(grh, uint8_t{0xff});
  } else {
    wire::Put<&wire::LocalRouteHeader::vl>(masked, uint8_t{15});
  }
  masked[routing + kBthReserved] = kOnes;

  uint32_t crc = 0xffffffff;
  crc = Continue(kInvariantTable, crc, std::span(masked).first(routing + kBth));
  return ~Continue(kInvariantTable, crc, packet.subspan(routing + kBth));
}

uint16_t VariantCrc(std::span<const std::byte> packet) {
  return static_cast<uint16_t>(
      ~Continue(kVariantTable, uint16_t{0xffff}, packet));
}

}  // namespace ibemu::fabric

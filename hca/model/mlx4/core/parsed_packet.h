// ParsedPacket: a packet split into headers and payload, and functions that
// parse and build one.
#ifndef IBEMU_HCA_MODEL_MLX4_CORE_PARSED_PACKET_H_
#define IBEMU_HCA_MODEL_MLX4_CORE_PARSED_PACKET_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "wire/packet_headers.h"

namespace ibemu::hca::model::mlx4 {

inline constexpr size_t kIcrcBytes = 4;
inline constexpr size_t kGrhBytes = wire::kBytes<wire::GlobalRouteHeader>;
inline constexpr uint32_t kMulticastQpn = 0xffffff;

// A parsed packet.
struct ParsedPacket {
  wire::LocalRouteHeader lrh;
  std::optional<wire::GlobalRouteHeader> grh;
  wire::BaseTransportHeader bth;
  // The bytes after the BTH: further headers and the payload, without padding
  // and ICRC.  They point into the buffer that was parsed.
  std::span<const std::byte> rest;

  // Removes the next header from `rest` and returns it; nothing if `rest` is
  // too short.
  template <wire::Structure T>
  std::optional<T> Take() {
    if (rest.size() < wire::kBytes<T>) return std::nullopt;
    const T header = wire::Decode<T>(rest);
    rest = rest.subspan(wire::kBytes<T>);
    return header;
  }
};

// Returns nothing if this is not an InfiniBand transport packet, or if its
// length does not match its headers.
std::optional<ParsedPacket> ParsePacket(std::span<const std::byte> bytes);

// Builds a packet, LRH to ICRC, with an ICRC of 0.  Sets lengths and padding.
// `headers` are those after the BTH.
std::vector<std::byte> BuildPacket(wire::LocalRouteHeader lrh,
                                   std::optional<wire::GlobalRouteHeader> grh,
                                   wire::BaseTransportHeader bth,
                                   std::span<const std::byte> headers,
                                   std::span<const std::byte> payload);

}  // namespace ibemu::hca::model::mlx4

#endif  // IBEMU_HCA_MODEL_MLX4_CORE_PARSED_PACKET_H_

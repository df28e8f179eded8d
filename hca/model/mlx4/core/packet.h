// Packets, taken apart and put together.
#ifndef IBEMU_HCA_MODEL_MLX4_CORE_PACKET_H_
#define IBEMU_HCA_MODEL_MLX4_CORE_PACKET_H_

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

struct Packet {
  wire::LocalRouteHeader lrh;
  std::optional<wire::GlobalRouteHeader> grh;
  wire::BaseTransportHeader bth;
  // What follows the BTH: other headers and payload, without padding and ICRC.
  // It belongs to whom the packet came from.
  std::span<const std::byte> rest;

  // Takes the next header off `rest`; none if it is too short.
  template <wire::Structure T>
  std::optional<T> Take() {
    if (rest.size() < wire::kBytes<T>) return std::nullopt;
    const T header = wire::Decode<T>(rest);
    rest = rest.subspan(wire::kBytes<T>);
    return header;
  }
};

// None: it is no InfiniBand transport packet, or shorter than it says.
std::optional<Packet> ParsePacket(std::span<const std::byte> bytes);

// LRH to ICRC, which is 0; lengths and padding are set here.  `headers` are
// those after the BTH.
std::vector<std::byte> BuildPacket(wire::LocalRouteHeader lrh,
                                   std::optional<wire::GlobalRouteHeader> grh,
                                   wire::BaseTransportHeader bth,
                                   std::span<const std::byte> headers,
                                   std::span<const std::byte> payload);

}  // namespace ibemu::hca::model::mlx4

#endif  // IBEMU_HCA_MODEL_MLX4_CORE_PACKET_H_

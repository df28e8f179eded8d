// One packet between two ports of the fabric.
#ifndef IBEMU_FABRIC_PACKET_PACKET_H_
#define IBEMU_FABRIC_PACKET_PACKET_H_

#include <cstdint>
#include <memory>
#include <optional>

#include "mad/address.h"
#include "wire/types.h"

namespace ibemu::fabric {

// Global route header, IBA vol 1 §8.3.
struct RouteHeader {
  wire::Gid sgid, dgid;
  uint32_t flow_label = 0;
  uint8_t traffic_class = 0;
  uint8_t hop_limit = 0;
};

struct Transport;

// A MAD, or a packet of another queue pair.  What forwarding looks at comes
// first; it never looks at the payload, except of directed-route SMPs.
struct Packet {
  wire::Lid slid{}, dlid{};
  uint8_t sl = 0;
  bool vl15 = false;  // an SMP: passes links that are not ACTIVE
  uint16_t p_key = kFullPKey;
  uint32_t source_qpn = 0, destination_qpn = 0;
  uint32_t q_key = 0;
  std::optional<RouteHeader> grh;
  mad::MadBytes mad{};
  std::shared_ptr<const Transport> transport;  // null: it is `mad`

  // LRH to ICRC in units of 4 bytes, as LRH's PktLen has it (§7.7.8): LRH 8,
  // GRH 40, BTH 12, DETH 8, ICRC 4.  Of a train, all of it.
  uint32_t Words() const {
    constexpr auto kMadWords = static_cast<uint32_t>((12 + 8 + 256) / 4);
    const uint32_t around = (8 + (grh ? 40 : 0) + 4) / 4;
    return transport ? Count() * around + TransportWords() : around + kMadWords;
  }
  // How many packets it stands for.
  uint32_t Count() const { return transport ? TransportCount() : 1; }

  uint32_t TransportWords() const;
  uint32_t TransportCount() const;

  static constexpr uint16_t kFullPKey = 0xffff;
};

}  // namespace ibemu::fabric

#endif  // IBEMU_FABRIC_PACKET_PACKET_H_

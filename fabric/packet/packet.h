// Packet: one packet between two ports of the fabric.
#ifndef IBEMU_FABRIC_PACKET_PACKET_H_
#define IBEMU_FABRIC_PACKET_PACKET_H_

#include <cstdint>
#include <memory>
#include <optional>

#include "mad/address.h"
#include "wire/types.h"

namespace ibemu::fabric {

// The global route header (GRH), IBA vol 1 §8.3.
struct RouteHeader {
  wire::Gid sgid, dgid;
  uint32_t flow_label = 0;
  uint8_t traffic_class = 0;
  uint8_t hop_limit = 0;
};

struct Transport;

// A MAD, or one or more packets of an ordinary queue pair (see Transport).  The
// members that forwarding reads come first.  Forwarding never reads the
// payload, except that of directed-route SMPs.
struct Packet {
  wire::Lid slid{}, dlid{};
  uint8_t sl = 0;
  bool vl15 = false;  // an SMP, which passes links that are not ACTIVE
  uint16_t p_key = kFullPKey;
  uint32_t source_qpn = 0, destination_qpn = 0;
  uint32_t q_key = 0;
  // Of a connection: its sender is in the state Migrated (IBA vol 1 §17.2.8).
  bool migrated = true;
  std::optional<RouteHeader> grh;
  mad::MadBytes mad{};
  std::shared_ptr<const Transport> transport;  // null: it carries `mad`

  // Returns the length from LRH to ICRC in units of 4 bytes, as in LRH's PktLen
  // (§7.7.8): LRH 8, GRH 40, BTH 12, DETH 8, ICRC 4.  For several packets, the
  // sum of their lengths.
  uint32_t Words() const {
    constexpr auto kMadWords = static_cast<uint32_t>((12 + 8 + 256) / 4);
    const uint32_t around = (8 + (grh ? 40 : 0) + 4) / 4;
    return transport ? Count() * around + TransportWords() : around + kMadWords;
  }
  // Returns the number of packets that it stands for.
  uint32_t Count() const { return transport ? TransportCount() : 1; }

  uint32_t TransportWords() const;
  uint32_t TransportCount() const;

  static constexpr uint16_t kFullPKey = 0xffff;
};

}  // namespace ibemu::fabric

#endif  // IBEMU_FABRIC_PACKET_PACKET_H_

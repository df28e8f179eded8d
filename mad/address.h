// The addresses of MADs, in the terms of a verbs consumer.
#ifndef IBEMU_MAD_ADDRESS_H_
#define IBEMU_MAD_ADDRESS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "wire/types.h"

namespace ibemu::mad {

// The bytes of one MAD on the wire (IBA vol 1 §13.4.3).
using MadBytes = std::array<std::byte, 256>;
using Bytes = std::span<const std::byte>;

// The global part of an address (IBA vol 1 §8.3): ib_global_route in Linux.
struct GlobalRoute {
  wire::Gid gid{};  // destination when sending, source when receiving
  uint32_t flow_label = 0;
  uint8_t gid_index = 0;  // of our own GID: source or destination
  uint8_t hop_limit = 0;
  uint8_t traffic_class = 0;

  bool operator==(const GlobalRoute&) const = default;
};

// A destination: an address handle (IBA vol 1 §11.2.2.1) and the queue pair.
struct AddressVector {
  wire::Lid dlid = wire::Lid::kUnassigned;
  uint8_t sl = 0;
  uint8_t path_bits = 0;  // added to the port's base LID
  uint16_t pkey_index = 0;
  uint32_t qpn = 0;  // of the peer
  uint32_t qkey = 0;
  std::optional<GlobalRoute> grh{};

  bool operator==(const AddressVector&) const = default;
};

// A MAD to be sent, with its destination.
struct Outgoing {
  int qp = 0;  // 0 or 1: the special queue pair that sends it
  AddressVector to{};
  MadBytes mad{};
};

// A received MAD, with what its work completion says about it.
struct Arrival {
  int qp = 0;  // 0 or 1: the special queue pair that received it
  wire::Lid slid = wire::Lid::kUnassigned;
  uint8_t sl = 0;
  uint8_t path_bits = 0;  // destination LID minus the port's base LID
  uint16_t pkey_index = 0;
  uint32_t source_qpn = 0;
  std::optional<GlobalRoute> grh{};
  MadBytes mad{};
};

// The Q_Key of QP1 (IBA vol 1 §10.2.5).  QP0 has none.
inline constexpr uint32_t kQp1QKey = 0x80010000;

// Returns the address to which the answer to `request` goes:
// ib_create_ah_from_wc() in Linux.
inline AddressVector ReplyTo(const Arrival& request) {
  AddressVector to{.dlid = request.slid,
                   .sl = request.sl,
                   .path_bits = request.path_bits,
                   .pkey_index = request.pkey_index,
                   .qpn = request.source_qpn,
                   .qkey = request.qp == 0 ? 0 : kQp1QKey,
                   .grh = request.grh};
  if (to.grh) to.grh->hop_limit = 0xff;
  return to;
}

}  // namespace ibemu::mad

#endif  // IBEMU_MAD_ADDRESS_H_

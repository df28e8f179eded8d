// NeighborMessage: the content that messages of ARP and of neighbour discovery
// have in common.
#ifndef IBEMU_IPOIB_NEIGHBOR_MESSAGE_H_
#define IBEMU_IPOIB_NEIGHBOR_MESSAGE_H_

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "ipoib/wire/hardware_address.h"
#include "wire/ip_address.h"

namespace ibemu::ipoib {

// A NeighborMessage is a question for the hardware address of `target`, or an
// answer to `target`.
struct NeighborMessage {
  enum class Kind { kRequest, kReply };

  Kind kind = Kind::kRequest;
  wire::IpAddress sender;  // of an answer: the address that was asked for
  HardwareAddress sender_hardware;
  wire::IpAddress target;
  HardwareAddress target_hardware{};  // of an answer by ARP

  bool operator==(const NeighborMessage&) const = default;
};

// Returns the packet that says `message`, with its encapsulation: ARP or ND,
// according to the version of its addresses.
std::vector<std::byte> EncodeNeighborMessage(const NeighborMessage& message);

// Returns what a packet says, if it is such a message and sound.  None of a
// probe for duplicates, which has no sender.
std::optional<NeighborMessage> DecodeNeighborMessage(
    std::span<const std::byte> packet);

// Returns the multicast address to which a question for `target` goes, RFC 4291
// §2.7.1: ff02::1:ff01:203 for an address that ends with 01:0203.
// REQUIRES: !target.is_ipv4()
wire::IpAddress SolicitedNodeAddress(const wire::IpAddress& target);

}  // namespace ibemu::ipoib

#endif  // IBEMU_IPOIB_NEIGHBOR_MESSAGE_H_

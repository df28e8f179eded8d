// ArpPacket: RFC 826, with the hardware addresses of RFC 4391 §9.1.
#ifndef IBEMU_IPOIB_WIRE_ARP_H_
#define IBEMU_IPOIB_WIRE_ARP_H_

#include <cstdint>

#include "ipoib/wire/hardware_address.h"
#include "wire/layout.h"

namespace ibemu::ipoib {

enum class ArpOperation : uint16_t { kRequest = 1, kReply = 2 };

// An ArpPacket is a request or a reply for IPv4.  IP addresses are numbers in
// host byte order.
struct ArpPacket {
  static constexpr int kBits = 448;
  static constexpr uint16_t kInfiniband = 32;

  uint16_t hardware_type = kInfiniband;
  EtherType protocol = EtherType::kIpv4;
  uint8_t hardware_bytes = wire::kBytes<HardwareAddress>;
  uint8_t protocol_bytes = 4;
  ArpOperation operation{};
  HardwareAddress sender;
  uint32_t sender_ip = 0;
  HardwareAddress target;  // of a request: zero
  uint32_t target_ip = 0;

  static constexpr auto Layout() {
    using T = ArpPacket;
    using wire::Rw;
    return wire::Table(Rw(&T::hardware_type, "HardwareType", 16, 0),
                       Rw(&T::protocol, "ProtocolType", 16, 16),
                       Rw(&T::hardware_bytes, "HardwareLength", 8, 32),
                       Rw(&T::protocol_bytes, "ProtocolLength", 8, 40),
                       Rw(&T::operation, "Operation", 16, 48),
                       Rw(&T::sender, "SenderHardwareAddress", 160, 64),
                       Rw(&T::sender_ip, "SenderProtocolAddress", 32, 224),
                       Rw(&T::target, "TargetHardwareAddress", 160, 256),
                       Rw(&T::target_ip, "TargetProtocolAddress", 32, 416));
  }
};
static_assert(wire::Tiles<ArpPacket>());

}  // namespace ibemu::ipoib

#endif  // IBEMU_IPOIB_WIRE_ARP_H_

// Subnet management packets: IBA vol 1 §14.2.1.
#ifndef IBEMU_MAD_WIRE_SMP_H_
#define IBEMU_MAD_WIRE_SMP_H_

#include "mad/wire/mad_header.h"
#include "wire/layout.h"
#include "wire/types.h"

namespace ibemu::mad {

inline constexpr size_t kSmpDataOffset = 64;
inline constexpr size_t kSmpDataBytes = 64;
inline constexpr int kSmpMaxHops = 63;

// An SMP of either format.  The components marked [DR] belong to directed-route
// packets (§14.2.1.2) and are reserved in LID-routed ones (§14.2.1.1).
struct Smp {
  static constexpr int kBits = 2048;

  uint8_t base_version = 1;
  MgmtClass mgmt_class = MgmtClass::kSubnetLidRouted;
  uint8_t class_version = 1;
  Method method{};
  bool direction = false;             // [DR] D: true on the way back
  MadStatus status = MadStatus::kOk;  // bits 0 to 14; bit 15 if LID-routed
  uint8_t hop_pointer = 0;            // [DR]
  uint8_t hop_count = 0;              // [DR]
  uint64_t tid = 0;
  AttributeId attr_id{};
  uint32_t attr_mod = 0;
  uint64_t m_key = 0;
  wire::Lid dr_slid = wire::Lid::kUnassigned;  // [DR]
  wire::Lid dr_dlid = wire::Lid::kUnassigned;  // [DR]
  std::array<std::byte, kSmpDataBytes> data{};
  std::array<uint8_t, 64> initial_path{};  // [DR] egress ports from entry 1
  std::array<uint8_t, 64> return_path{};   // [DR] ingress ports from entry 1

  bool operator==(const Smp&) const = default;

  static constexpr auto Layout() {
    using T = Smp;
    using wire::Reserved, wire::Rw;
    return wire::Table(  // component, name, length and offset in bits
        Rw(&T::base_version, "BaseVersion", 8, 0),
        Rw(&T::mgmt_class, "MgmtClass", 8, 8),
        Rw(&T::class_version, "ClassVersion", 8, 16),
        Rw(&T::method, "R/Method", 8, 24), Rw(&T::direction, "D", 1, 32),
        Rw(&T::status, "Status", 15, 33),
        Rw(&T::hop_pointer, "HopPointer", 8, 48),
        Rw(&T::hop_count, "HopCount", 8, 56),
        Rw(&T::tid, "TransactionID", 64, 64),
        Rw(&T::attr_id, "AttributeID", 16, 128), Reserved(16, 144),
        Rw(&T::attr_mod, "AttributeModifier", 32, 160),
        Rw(&T::m_key, "M_Key", 64, 192), Rw(&T::dr_slid, "DrSLID", 16, 256),
        Rw(&T::dr_dlid, "DrDLID", 16, 272), Reserved(224, 288),
        Rw(&T::data, "SMPData", 512, 512),
        Rw(&T::initial_path, "InitialPath", 512, 1024),
        Rw(&T::return_path, "ReturnPath", 512, 1536));
  }
};
static_assert(wire::Tiles<Smp>());

}  // namespace ibemu::mad

#endif  // IBEMU_MAD_WIRE_SMP_H_

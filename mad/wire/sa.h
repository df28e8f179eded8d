// Subnet administration packets: IBA vol 1 §15.2.1.  Status codes: MadStatus.
#ifndef IBEMU_MAD_WIRE_SA_H_
#define IBEMU_MAD_WIRE_SA_H_

#include "mad/wire/mad_header.h"
#include "mad/wire/rmpp.h"
#include "wire/layout.h"

namespace ibemu::mad {

inline constexpr size_t kSaDataOffset = 56;
inline constexpr size_t kSaDataBytes = 200;
inline constexpr uint8_t kSaClassVersion = 2;

// The header of a MAD of subnet administration.  The data follows, kSaDataBytes
// in each.
struct SaHeader {
  static constexpr int kBits = 448;

  MadHeader mad{};
  RmppHeader rmpp{};
  uint64_t sm_key = 0;
  uint16_t attribute_offset = 0;  // record size in units of 8 bytes
  uint64_t component_mask = 0;

  bool operator==(const SaHeader&) const = default;

  static constexpr auto Layout() {
    using T = SaHeader;
    using wire::Reserved, wire::Rw;
    return wire::Table(  // component, name, length and offset in bits
        Rw(&T::mad, "MAD", 192, 0), Rw(&T::rmpp, "RMPP", 96, 192),
        Rw(&T::sm_key, "SM_Key", 64, 288),
        Rw(&T::attribute_offset, "AttributeOffset", 16, 352), Reserved(16, 368),
        Rw(&T::component_mask, "ComponentMask", 64, 384));
  }
};
static_assert(wire::Tiles<SaHeader>());

// The AttributeOffset of a table of T.
template <wire::Structure T>
inline constexpr uint16_t kAttributeOffset = (wire::kBytes<T> + 7) / 8;

}  // namespace ibemu::mad

#endif  // IBEMU_MAD_WIRE_SA_H_

// The header of the vendor classes 0x30 to 0x4f: IBA vol 1 §16.5.
#ifndef IBEMU_TESTS_MAD_WIRE_VENDOR_H_
#define IBEMU_TESTS_MAD_WIRE_VENDOR_H_

#include "mad/wire/mad_header.h"
#include "mad/wire/rmpp.h"
#include "wire/layout.h"

namespace ibemu::mad {

inline constexpr size_t kVendor2DataOffset = 40;

struct Vendor2Header {
  static constexpr int kBits = 320;

  MadHeader mad{};
  RmppHeader rmpp{};
  uint32_t oui = 0;

  bool operator==(const Vendor2Header&) const = default;

  static constexpr auto Layout() {
    using T = Vendor2Header;
    using wire::Reserved, wire::Rw;
    return wire::Table(  // component, name, length and offset in bits
        Rw(&T::mad, "MAD", 192, 0), Rw(&T::rmpp, "RMPP", 96, 192),
        Reserved(8, 288), Rw(&T::oui, "OUI", 24, 296));
  }
};
static_assert(wire::Tiles<Vendor2Header>());

}  // namespace ibemu::mad

#endif  // IBEMU_TESTS_MAD_WIRE_VENDOR_H_

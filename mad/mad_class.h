// Formats of MADs, as far as the management class determines them.
#ifndef IBEMU_MAD_MAD_CLASS_H_
#define IBEMU_MAD_MAD_CLASS_H_

#include "mad/address.h"
#include "mad/wire/mad_header.h"

namespace ibemu::mad {

inline constexpr size_t kMadHeaderBytes = 24;
inline constexpr size_t kRmppHeaderBytes = 36;  // MAD and RMPP header
inline constexpr size_t kOuiOffset = 37;        // vendor classes 0x30 to 0x4f

constexpr bool IsSmClass(MgmtClass mgmt_class) {
  return mgmt_class == MgmtClass::kSubnetLidRouted ||
         mgmt_class == MgmtClass::kSubnetDirectedRoute;
}

// Returns true for vendor classes that have an OUI (IBA vol 1 §16.5).
constexpr bool HasOui(MgmtClass mgmt_class) {
  return mgmt_class >= MgmtClass::kVendor2First &&
         mgmt_class <= MgmtClass::kVendor2Last;
}

// Returns true for classes that have RMPP: ib_is_mad_class_rmpp() in Linux.
constexpr bool IsRmppClass(MgmtClass mgmt_class) {
  return mgmt_class == MgmtClass::kSubnetAdministration ||
         mgmt_class == MgmtClass::kDevice ||
         mgmt_class == MgmtClass::kDeviceAdministration ||
         mgmt_class == MgmtClass::kBis || HasOui(mgmt_class);
}

// Returns the offset of the class's data: ib_get_mad_data_offset() in Linux.
constexpr size_t HeaderBytes(MgmtClass mgmt_class) {
  switch (mgmt_class) {
    case MgmtClass::kSubnetAdministration:
      return 56;
    case MgmtClass::kDevice:
    case MgmtClass::kDeviceAdministration:
    case MgmtClass::kBis:
      return 64;
    default:
      return HasOui(mgmt_class) ? 40 : kMadHeaderBytes;
  }
}

// Returns the offset of the attribute.  In the figures of chapters 13 to 16,
// most classes pad their headers to byte 64.
constexpr size_t AttributeOffset(MgmtClass mgmt_class) {
  if (mgmt_class == MgmtClass::kSubnetAdministration || HasOui(mgmt_class)) {
    return HeaderBytes(mgmt_class);
  }
  const bool unpadded = mgmt_class == MgmtClass::kCommunication ||
                        (mgmt_class >= MgmtClass::kVendorFirst &&
                         mgmt_class <= MgmtClass::kVendorLast);
  return unpadded ? kMadHeaderBytes : 64;
}

// Returns true for answers, as ib_response_mad() in Linux.  They find their
// agent by TID, all other MADs by class and method.  Requires a MAD header.
constexpr bool IsResponseMad(Bytes mad) {
  const auto method = wire::Get<&MadHeader::method>(mad);
  if (IsResponse(method) || method == Method::kTrapRepress) return true;
  return wire::Get<&MadHeader::mgmt_class>(mad) == MgmtClass::kBaseboard &&
         (wire::Get<&MadHeader::attr_mod>(mad) & 1) != 0;
}

// Returns true if a MAD that arrived at this QP (0 or 1) is valid.  Others are
// dropped before even the port's own agents see them: validate_mad() in Linux.
constexpr bool IsValidMad(int qp, const MadBytes& mad) {
  if (wire::Get<&MadHeader::base_version>(mad) != 1) return false;
  const auto mgmt_class = wire::Get<&MadHeader::mgmt_class>(mad);
  if (IsSmClass(mgmt_class) != (qp == 0)) return false;
  return mgmt_class != MgmtClass::kCommunication ||
         wire::Get<&MadHeader::attr_id>(mad) == AttributeId::kClassPortInfo ||
         wire::Get<&MadHeader::method>(mad) == Method::kSend;
}

// Returns true for an RMPP packet.  Requires an RMPP header.
constexpr bool IsRmppActive(Bytes mad) {
  return (mad[26] & std::byte{1}) != std::byte{0};
}

// Returns the OUI of a MAD whose class has one: see HasOui().
constexpr uint32_t OuiOf(Bytes mad) {
  return static_cast<uint32_t>(mad[kOuiOffset]) << 16 |
         static_cast<uint32_t>(mad[kOuiOffset + 1]) << 8 |
         static_cast<uint32_t>(mad[kOuiOffset + 2]);
}

constexpr uint32_t HighTid(uint64_t tid) {
  return static_cast<uint32_t>(tid >> 32);
}

}  // namespace ibemu::mad

#endif  // IBEMU_MAD_MAD_CLASS_H_

// The common MAD header and its codes: IBA vol 1 §13.4.
#ifndef IBEMU_MAD_WIRE_MAD_HEADER_H_
#define IBEMU_MAD_WIRE_MAD_HEADER_H_

#include "mad/wire/attribute_id.h"
#include "wire/layout.h"

namespace ibemu::mad {

inline constexpr size_t kMadBytes = 256;

// Management classes: §13.4.4, table 109, and §16.5 for the vendor classes.
enum class MgmtClass : uint8_t {
  kSubnetLidRouted = 0x01,
  kSubnetAdministration = 0x03,
  kPerformance = 0x04,
  kBaseboard = 0x05,
  kDevice = 0x06,
  kCommunication = 0x07,
  kSnmp = 0x08,
  kVendorFirst = 0x09,
  kMellanox = 0x0a,
  kVendorLast = 0x0f,
  kDeviceAdministration = 0x10,
  kBootManagement = 0x11,
  kBis = 0x12,
  kCongestionControl = 0x21,
  kVendor2First = 0x30,
  kOpenIbPing = 0x32,
  kOpenIbSysstat = 0x33,
  kVendor2Last = 0x4f,
  kSubnetDirectedRoute = 0x81,
};

// Methods, §13.4.5.  The response bit is part of the value.
enum class Method : uint8_t {
  kGet = 0x01,
  kSet = 0x02,
  kSend = 0x03,
  kTrap = 0x05,
  kReport = 0x06,
  kTrapRepress = 0x07,
  kGetTable = 0x12,
  kGetTraceTable = 0x13,
  kGetMulti = 0x14,
  kDelete = 0x15,
  kGetResp = 0x81,
  kReportResp = 0x86,
  kGetTableResp = 0x92,
  kGetMultiResp = 0x94,
  kDeleteResp = 0x95,
};
inline constexpr uint8_t kResponseBit = 0x80;

constexpr bool IsResponse(Method method) {
  return (static_cast<uint8_t>(method) & kResponseBit) != 0;
}

// Status codes, §13.4.7.  The meaning of the upper byte depends on the class.
enum class MadStatus : uint16_t {
  kOk = 0,
  kBusy = 1,
  kRedirect = 2,
  kUnsupportedVersion = 1 << 2,
  kUnsupportedMethod = 2 << 2,
  kUnsupportedAttribute = 3 << 2,  // or method with this attribute
  kInvalidField = 7 << 2,          // attribute or modifier

  // Subnet administration, §15.2.1.2, table 185.
  kSaNoResources = 1 << 8,
  kSaRequestInvalid = 2 << 8,
  kSaNoRecords = 3 << 8,
  kSaTooManyRecords = 4 << 8,
  kSaInvalidGid = 5 << 8,
  kSaInsufficientComponents = 6 << 8,
  kSaRequestDenied = 7 << 8,
};

// The first 24 bytes of every MAD, §13.4.3.
struct MadHeader {
  static constexpr int kBits = 192;

  uint8_t base_version = 1;
  MgmtClass mgmt_class{};
  uint8_t class_version = 1;
  Method method{};
  MadStatus status = MadStatus::kOk;  // directed route: bit 15 is D
  uint16_t class_specific = 0;        // directed route: hop pointer and count
  uint64_t tid = 0;
  AttributeId attr_id{};
  uint32_t attr_mod = 0;

  bool operator==(const MadHeader&) const = default;

  static constexpr auto Layout() {
    using T = MadHeader;
    using wire::Reserved, wire::Rw;
    return wire::Table(  // component, name, length and offset in bits
        Rw(&T::base_version, "BaseVersion", 8, 0),
        Rw(&T::mgmt_class, "MgmtClass", 8, 8),
        Rw(&T::class_version, "ClassVersion", 8, 16),
        Rw(&T::method, "R/Method", 8, 24), Rw(&T::status, "Status", 16, 32),
        Rw(&T::class_specific, "ClassSpecific", 16, 48),
        Rw(&T::tid, "TransactionID", 64, 64),
        Rw(&T::attr_id, "AttributeID", 16, 128), Reserved(16, 144),
        Rw(&T::attr_mod, "AttributeModifier", 32, 160));
  }
};
static_assert(wire::Tiles<MadHeader>());

}  // namespace ibemu::mad

#endif  // IBEMU_MAD_WIRE_MAD_HEADER_H_

// VendorDiag, LedInfo, LinkSpeedWidthPairsTable and PortInfoExtended: IBA vol 1
// §14.2.5.14 and following.
#ifndef IBEMU_MAD_WIRE_PORT_DIAGNOSTICS_H_
#define IBEMU_MAD_WIRE_PORT_DIAGNOSTICS_H_

#include <array>

#include "mad/wire/attribute_id.h"
#include "wire/layout.h"

namespace ibemu::mad {

// Diagnostic data of the vendor.  The attribute modifier is the index, from 0.
struct VendorDiag {
  static constexpr AttributeId kId = AttributeId::kVendorDiag;
  static constexpr int kBits = 512;

  uint16_t next_index = 0;  // 0: this is the last
  std::array<std::byte, 62> diag_data{};

  bool operator==(const VendorDiag&) const = default;

  static constexpr auto Layout() {
    using T = VendorDiag;
    using wire::Ro;
    return wire::Table(  // component, name, length and offset in bits
        Ro(&T::next_index, "NextIndex", 16, 0),
        Ro(&T::diag_data, "DiagData", 496, 16));
  }
};
static_assert(wire::Tiles<VendorDiag>());

// The beacon of a port, a light that helps to find it.
struct LedInfo {
  static constexpr AttributeId kId = AttributeId::kLedInfo;
  static constexpr int kBits = 32;

  bool led_mask = false;  // true: the beacon is on

  bool operator==(const LedInfo&) const = default;

  static constexpr auto Layout() {
    using T = LedInfo;
    using wire::Reserved, wire::Rw;
    return wire::Table(  // component, name, length and offset in bits
        Rw(&T::led_mask, "LedMask", 1, 0), Reserved(31, 1));
  }
};
static_assert(wire::Tiles<LedInfo>());

// The link widths that are possible at each speed, for the ports of the mask.
struct LinkSpeedWidthPairsTable {
  static constexpr AttributeId kId = AttributeId::kLinkSpeedWidthPairsTable;
  static constexpr int kBits = 288;

  uint8_t num_tables = 0;
  std::array<std::byte, 32> port_mask{};
  uint8_t speed_2_5 = 0;
  uint8_t speed_5 = 0;
  uint8_t speed_10 = 0;

  bool operator==(const LinkSpeedWidthPairsTable&) const = default;

  static constexpr auto Layout() {
    using T = LinkSpeedWidthPairsTable;
    using wire::Ro;
    return wire::Table(  // component, name, length and offset in bits
        Ro(&T::num_tables, "NumTables", 8, 0),
        Ro(&T::port_mask, "PortMask", 256, 8),
        Ro(&T::speed_2_5, "SpeedTwoFive", 8, 264),
        Ro(&T::speed_5, "SpeedFive", 8, 272),
        Ro(&T::speed_10, "SpeedTen", 8, 280));
  }
};
static_assert(wire::Tiles<LinkSpeedWidthPairsTable>());

// The modes of forward error correction, by speed.
struct PortInfoExtended {
  static constexpr AttributeId kId = AttributeId::kPortInfoExtended;
  static constexpr int kBits = 512;

  uint32_t capability_mask = 0;
  uint16_t fec_mode_active = 0;
  uint16_t fdr_fec_mode_supported = 0;
  uint16_t fdr_fec_mode_enabled = 0;
  uint16_t edr_fec_mode_supported = 0;
  uint16_t edr_fec_mode_enabled = 0;
  uint16_t hdr_fec_mode_supported = 0;
  uint16_t hdr_fec_mode_enabled = 0;
  uint16_t ndr_fec_mode_supported = 0;
  uint16_t ndr_fec_mode_enabled = 0;

  bool operator==(const PortInfoExtended&) const = default;

  static constexpr auto Layout() {
    using T = PortInfoExtended;
    using wire::Reserved, wire::Ro, wire::Rw;
    return wire::Table(  // component, name, length and offset in bits
        Ro(&T::capability_mask, "CapMask", 32, 0),
        Ro(&T::fec_mode_active, "FECModeActive", 16, 32),
        Ro(&T::fdr_fec_mode_supported, "FDRFECModeSupported", 16, 48),
        Rw(&T::fdr_fec_mode_enabled, "FDRFECModeEnabled", 16, 64),
        Ro(&T::edr_fec_mode_supported, "EDRFECModeSupported", 16, 80),
        Rw(&T::edr_fec_mode_enabled, "EDRFECModeEnabled", 16, 96),
        Ro(&T::hdr_fec_mode_supported, "HDRFECModeSupported", 16, 112),
        Rw(&T::hdr_fec_mode_enabled, "HDRFECModeEnabled", 16, 128),
        Ro(&T::ndr_fec_mode_supported, "NDRFECModeSupported", 16, 144),
        Rw(&T::ndr_fec_mode_enabled, "NDRFECModeEnabled", 16, 160),
        Reserved(336, 176));
  }
};
static_assert(wire::Tiles<PortInfoExtended>());

}  // namespace ibemu::mad

#endif  // IBEMU_MAD_WIRE_PORT_DIAGNOSTICS_H_

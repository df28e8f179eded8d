// Congestion control, class 0x21: IBA vol 1 annex A10.4.
#ifndef IBEMU_MAD_WIRE_CONGESTION_H_
#define IBEMU_MAD_WIRE_CONGESTION_H_

#include <array>

#include "mad/wire/attribute_id.h"
#include "mad/wire/mad_header.h"
#include "wire/layout.h"
#include "wire/types.h"

namespace ibemu::mad {

inline constexpr size_t kCongestionLogOffset = 32;
inline constexpr size_t kCongestionDataOffset = 64;
inline constexpr uint8_t kCongestionClassVersion = 2;

// The start of a MAD of this class.  A congestion log follows at once, at
// kCongestionLogOffset; other attributes begin at kCongestionDataOffset.
struct CongestionHeader {
  static constexpr int kBits = 256;

  MadHeader mad{};
  uint64_t cc_key = 0;

  bool operator==(const CongestionHeader&) const = default;

  static constexpr auto Layout() {
    using T = CongestionHeader;
    using wire::Rw;
    return wire::Table(  // component, name, length and offset in bits
        Rw(&T::mad, "MAD", 192, 0), Rw(&T::cc_key, "CC_Key", 64, 192));
  }
};
static_assert(wire::Tiles<CongestionHeader>());

// The congestion control that a node is capable of.
struct CongestionInfo {
  static constexpr AttributeId kId = AttributeId::kCongestionInfo;
  static constexpr int kBits = 24;

  uint16_t congestion_info = 0;
  uint8_t control_table_cap = 0;  // in blocks of 64 entries

  bool operator==(const CongestionInfo&) const = default;

  static constexpr auto Layout() {
    using T = CongestionInfo;
    using wire::Ro;
    return wire::Table(  // component, name, length and offset in bits
        Ro(&T::congestion_info, "CongestionInfo", 16, 0),
        Ro(&T::control_table_cap, "ControlTableCap", 8, 16));
  }
};
static_assert(wire::Tiles<CongestionInfo>());

// The CC_Key, which guards a node's congestion control as the M_Key guards a
// port, with its lease.
struct CongestionKeyInfo {
  static constexpr AttributeId kId = AttributeId::kCongestionKeyInfo;
  static constexpr int kBits = 112;

  uint64_t cc_key = 0;
  bool protect_bit = false;
  uint16_t lease_period = 0;
  uint16_t violations = 0;

  bool operator==(const CongestionKeyInfo&) const = default;

  static constexpr auto Layout() {
    using T = CongestionKeyInfo;
    using wire::Reserved, wire::Rw;
    return wire::Table(  // component, name, length and offset in bits
        Rw(&T::cc_key, "CC_Key", 64, 0),
        Rw(&T::protect_bit, "CC_KeyProtectBit", 1, 64), Reserved(15, 65),
        Rw(&T::lease_period, "CC_KeyLeasePeriod", 16, 80),
        Rw(&T::violations, "CC_KeyViolations", 16, 96));
  }
};
static_assert(wire::Tiles<CongestionKeyInfo>());

// An entry of a switch's log: a packet that it marked.
struct CongestionLogEntrySwitch {
  static constexpr int kBits = 96;

  wire::Lid slid{};
  wire::Lid dlid{};
  uint8_t sl = 0;
  uint32_t timestamp = 0;

  bool operator==(const CongestionLogEntrySwitch&) const = default;

  static constexpr auto Layout() {
    using T = CongestionLogEntrySwitch;
    using wire::Reserved, wire::Ro;
    return wire::Table(  // component, name, length and offset in bits
        Ro(&T::slid, "SLID", 16, 0), Ro(&T::dlid, "DLID", 16, 16),
        Ro(&T::sl, "SL", 4, 32), Reserved(28, 36),
        Ro(&T::timestamp, "Timestamp", 32, 64));
  }
};
static_assert(wire::Tiles<CongestionLogEntrySwitch>());

// The log of a switch, LogType 1.  It starts at byte kCongestionLogOffset.
struct CongestionLogSwitch {
  static constexpr AttributeId kId = AttributeId::kCongestionLog;
  static constexpr int kBits = 1760;

  uint8_t log_type = 1;
  uint8_t congestion_flags = 0;
  uint16_t log_events_counter = 0;
  uint32_t current_timestamp = 0;
  std::array<std::byte, 32> port_map{};
  std::array<CongestionLogEntrySwitch, 15> entries{};

  bool operator==(const CongestionLogSwitch&) const = default;

  static constexpr auto Layout() {
    using T = CongestionLogSwitch;
    using wire::Ro;
    return wire::Table(  // component, name, length and offset in bits
        Ro(&T::log_type, "LogType", 8, 0),
        Ro(&T::congestion_flags, "CongestionFlags", 8, 8),
        Ro(&T::log_events_counter, "LogEventsCounter", 16, 16),
        Ro(&T::current_timestamp, "CurrentTimeStamp", 32, 32),
        Ro(&T::port_map, "PortMap", 256, 64),
        Ro(&T::entries, "CongestionEntryList", 1440, 320));
  }
};
static_assert(wire::Tiles<CongestionLogSwitch>());

// An entry of a channel adapter's log: a queue pair that met congestion.
struct CongestionLogEntryCa {
  static constexpr int kBits = 128;

  uint32_t local_qp = 0;
  uint8_t sl = 0;
  uint8_t service_type = 0;
  uint32_t remote_qp = 0;
  wire::Lid local_lid{};
  wire::Lid remote_lid{};
  uint32_t timestamp = 0;

  bool operator==(const CongestionLogEntryCa&) const = default;

  static constexpr auto Layout() {
    using T = CongestionLogEntryCa;
    using wire::Reserved, wire::Ro;
    return wire::Table(  // component, name, length and offset in bits
        Ro(&T::local_qp, "LocalQPCNEntry", 24, 0),
        Ro(&T::sl, "SLCNEntry", 4, 24),
        Ro(&T::service_type, "ServiceTypeCNEntry", 4, 28),
        Ro(&T::remote_qp, "RemoteQPNumberCNEntry", 24, 32), Reserved(8, 56),
        Ro(&T::local_lid, "LocalLIDCN", 16, 64),
        Ro(&T::remote_lid, "RemoteLIDCNEntry", 16, 80),
        Ro(&T::timestamp, "TimestampCNEntry", 32, 96));
  }
};
static_assert(wire::Tiles<CongestionLogEntryCa>());

// The log of a channel adapter, LogType 2.  It starts at byte
// kCongestionLogOffset.
struct CongestionLogCa {
  static constexpr AttributeId kId = AttributeId::kCongestionLog;
  static constexpr int kBits = 1760;

  uint8_t log_type = 2;
  uint8_t congestion_flags = 0;
  uint16_t threshold_event_counter = 0;
  uint16_t threshold_congestion_event_map = 0;
  uint32_t current_timestamp = 0;
  std::array<CongestionLogEntryCa, 13> entries{};

  bool operator==(const CongestionLogCa&) const = default;

  static constexpr auto Layout() {
    using T = CongestionLogCa;
    using wire::Reserved, wire::Ro;
    return wire::Table(  // component, name, length and offset in bits
        Ro(&T::log_type, "LogType", 8, 0),
        Ro(&T::congestion_flags, "CongestionFlags", 8, 8),
        Ro(&T::threshold_event_counter, "ThresholdEventCounter", 16, 16),
        Ro(&T::threshold_congestion_event_map, "ThresholdCongestionEventMap",
           16, 32),
        Reserved(16, 48), Ro(&T::current_timestamp, "CurrentTimeStamp", 32, 64),
        Ro(&T::entries, "CongestionLogEvent", 1664, 96));
  }
};
static_assert(wire::Tiles<CongestionLogCa>());

// The settings by which a switch marks packets.  ControlMap says which of the
// other components count.
struct SwitchCongestionSetting {
  static constexpr AttributeId kId = AttributeId::kSwitchCongestionSetting;
  static constexpr int kBits = 608;

  uint32_t control_map = 0;
  std::array<std::byte, 32> victim_mask{};
  std::array<std::byte, 32> credit_mask{};
  uint8_t threshold = 0;
  uint8_t packet_size = 0;
  uint8_t cs_threshold = 0;
  uint16_t cs_return_delay = 0;
  uint16_t marking_rate = 0;

  bool operator==(const SwitchCongestionSetting&) const = default;

  static constexpr auto Layout() {
    using T = SwitchCongestionSetting;
    using wire::Reserved, wire::Rw;
    return wire::Table(  // component, name, length and offset in bits
        Rw(&T::control_map, "ControlMap", 32, 0),
        Rw(&T::victim_mask, "VictimMask", 256, 32),
        Rw(&T::credit_mask, "CreditMask", 256, 288),
        Rw(&T::threshold, "Threshold", 4, 544), Reserved(4, 548),
        Rw(&T::packet_size, "PacketSize", 8, 552),
        Rw(&T::cs_threshold, "CSThreshold", 4, 560), Reserved(12, 564),
        Rw(&T::cs_return_delay, "CSReturnDelay", 16, 576),
        Rw(&T::marking_rate, "MarkingRate", 16, 592));
  }
};
static_assert(wire::Tiles<SwitchCongestionSetting>());

// The settings of one port of a switch, which count if `valid`.
// `control_type`: they are about credit starvation.
struct SwitchPortCongestionSettingElement {
  static constexpr int kBits = 32;

  bool valid = false;
  bool control_type = false;
  uint8_t threshold = 0;
  uint8_t packet_size = 0;
  uint16_t marking_rate = 0;

  bool operator==(const SwitchPortCongestionSettingElement&) const = default;

  static constexpr auto Layout() {
    using T = SwitchPortCongestionSettingElement;
    using wire::Reserved, wire::Rw;
    return wire::Table(  // component, name, length and offset in bits
        Rw(&T::valid, "Valid", 1, 0), Rw(&T::control_type, "ControlType", 1, 1),
        Reserved(2, 2), Rw(&T::threshold, "Threshold", 4, 4),
        Rw(&T::packet_size, "PacketSize", 8, 8),
        Rw(&T::marking_rate, "CongParmMarkingRate", 16, 16));
  }
};
static_assert(wire::Tiles<SwitchPortCongestionSettingElement>());

// The settings of 32 ports from port 32 * attribute modifier on.
struct SwitchPortCongestionSetting {
  static constexpr AttributeId kId = AttributeId::kSwitchPortCongestionSetting;
  static constexpr int kBits = 1024;

  std::array<SwitchPortCongestionSettingElement, 32> elements{};

  bool operator==(const SwitchPortCongestionSetting&) const = default;

  static constexpr auto Layout() {
    using T = SwitchPortCongestionSetting;
    using wire::Rw;
    return wire::Table(  // component, name, length and offset in bits
        Rw(&T::elements, "SwitchPortCongestionSettingElement", 1024, 0));
  }
};
static_assert(wire::Tiles<SwitchPortCongestionSetting>());

// The settings of a channel adapter for one SL: how it goes through its table
// (CCTI is the index) when it is told of congestion.
struct CaCongestionEntry {
  static constexpr int kBits = 64;

  uint16_t ccti_timer = 0;
  uint8_t ccti_increase = 0;
  uint8_t trigger_threshold = 0;
  uint8_t ccti_min = 0;

  bool operator==(const CaCongestionEntry&) const = default;

  static constexpr auto Layout() {
    using T = CaCongestionEntry;
    using wire::Reserved, wire::Rw;
    return wire::Table(  // component, name, length and offset in bits
        Rw(&T::ccti_timer, "CCTI_Timer", 16, 0),
        Rw(&T::ccti_increase, "CCTI_Increase", 8, 16),
        Rw(&T::trigger_threshold, "TriggerThreshold", 8, 24),
        Rw(&T::ccti_min, "CCTI_Min", 8, 32), Reserved(24, 40));
  }
};
static_assert(wire::Tiles<CaCongestionEntry>());

// The settings of a channel adapter, with an entry for each SL.
struct CaCongestionSetting {
  static constexpr AttributeId kId = AttributeId::kCaCongestionSetting;
  static constexpr int kBits = 1056;

  uint16_t port_control = 0;
  uint16_t control_map = 0;
  std::array<CaCongestionEntry, 16> entries{};

  bool operator==(const CaCongestionSetting&) const = default;

  static constexpr auto Layout() {
    using T = CaCongestionSetting;
    using wire::Rw;
    return wire::Table(  // component, name, length and offset in bits
        Rw(&T::port_control, "PortControl", 16, 0),
        Rw(&T::control_map, "ControlMap", 16, 16),
        Rw(&T::entries, "CACongestionEntryList", 1024, 32));
  }
};
static_assert(wire::Tiles<CaCongestionSetting>());

// An entry of the table: the delay between packets, as a multiplier and a
// shift.
struct CongestionControlTableEntry {
  static constexpr int kBits = 16;

  uint8_t shift = 0;
  uint16_t multiplier = 0;

  bool operator==(const CongestionControlTableEntry&) const = default;

  static constexpr auto Layout() {
    using T = CongestionControlTableEntry;
    using wire::Rw;
    return wire::Table(  // component, name, length and offset in bits
        Rw(&T::shift, "CCT_Shift", 2, 0),
        Rw(&T::multiplier, "CCT_Multiplier", 14, 2));
  }
};
static_assert(wire::Tiles<CongestionControlTableEntry>());

// A block of 64 entries of the table; the attribute modifier is its number.
struct CongestionControlTable {
  static constexpr AttributeId kId = AttributeId::kCongestionControlTable;
  static constexpr int kBits = 1056;

  uint16_t ccti_limit = 0;
  std::array<CongestionControlTableEntry, 64> entries{};

  bool operator==(const CongestionControlTable&) const = default;

  static constexpr auto Layout() {
    using T = CongestionControlTable;
    using wire::Reserved, wire::Rw;
    return wire::Table(  // component, name, length and offset in bits
        Rw(&T::ccti_limit, "CCTI_Limit", 16, 0), Reserved(16, 16),
        Rw(&T::entries, "CCTI_Entry_List", 1024, 32));
  }
};
static_assert(wire::Tiles<CongestionControlTable>());

// The clock of a node, by which its logs have their times.
struct CongestionTimestamp {
  static constexpr AttributeId kId = AttributeId::kTimestamp;
  static constexpr int kBits = 32;

  uint32_t timestamp = 0;

  bool operator==(const CongestionTimestamp&) const = default;

  static constexpr auto Layout() {
    using T = CongestionTimestamp;
    using wire::Ro;
    return wire::Table(  // component, name, length and offset in bits
        Ro(&T::timestamp, "Timestamp", 32, 0));
  }
};
static_assert(wire::Tiles<CongestionTimestamp>());

}  // namespace ibemu::mad

#endif  // IBEMU_MAD_WIRE_CONGESTION_H_

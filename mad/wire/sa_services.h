// McMemberRecord, ServiceRecord, InformInfoRecord and InformInfo: IBA vol 1
// §15.2.5.17, .14, .12 and §13.4.8.3.
#ifndef IBEMU_MAD_WIRE_SA_SERVICES_H_
#define IBEMU_MAD_WIRE_SA_SERVICES_H_

#include <array>

#include "mad/wire/attribute_id.h"
#include "mad/wire/sa_paths.h"
#include "wire/layout.h"
#include "wire/types.h"

namespace ibemu::mad {

// The bits of McMemberRecord::join_state.
inline constexpr uint8_t kFullMember = 1 << 0;
inline constexpr uint8_t kNonMember = 1 << 1;
inline constexpr uint8_t kSendOnlyNonMember = 1 << 2;
inline constexpr uint8_t kSendOnlyFullMember = 1 << 3;

// The membership of a port in a multicast group; with a PortGID of 0 the group
// itself.
struct McMemberRecord {
  static constexpr AttributeId kId = AttributeId::kMcMemberRecord;
  static constexpr int kBits = 416;

  wire::Gid mgid{};
  wire::Gid port_gid{};
  uint32_t q_key = 0;
  wire::Lid mlid{};
  Selector mtu_selector{};
  uint8_t mtu = 0;
  uint8_t traffic_class = 0;
  uint16_t p_key = 0;
  Selector rate_selector{};
  uint8_t rate = 0;
  Selector packet_life_time_selector{};
  uint8_t packet_life_time = 0;
  uint8_t sl = 0;
  uint32_t flow_label = 0;
  uint8_t hop_limit = 0;
  uint8_t scope = 0;
  uint8_t join_state = 0;
  bool proxy_join = false;

  bool operator==(const McMemberRecord&) const = default;

  static constexpr auto Layout() {
    using T = McMemberRecord;
    using wire::Reserved, wire::Rw;
    return wire::Table(  // component, name, length and offset in bits
        Rw(&T::mgid, "MGID", 128, 0), Rw(&T::port_gid, "PortGID", 128, 128),
        Rw(&T::q_key, "Q_Key", 32, 256), Rw(&T::mlid, "MLID", 16, 288),
        Rw(&T::mtu_selector, "MTUSelector", 2, 304), Rw(&T::mtu, "MTU", 6, 306),
        Rw(&T::traffic_class, "TClass", 8, 312),
        Rw(&T::p_key, "P_Key", 16, 320),
        Rw(&T::rate_selector, "RateSelector", 2, 336),
        Rw(&T::rate, "Rate", 6, 338),
        Rw(&T::packet_life_time_selector, "PacketLifeTimeSelector", 2, 344),
        Rw(&T::packet_life_time, "PacketLifeTime", 6, 346),
        Rw(&T::sl, "SL", 4, 352), Rw(&T::flow_label, "FlowLabel", 20, 356),
        Rw(&T::hop_limit, "HopLimit", 8, 376), Rw(&T::scope, "Scope", 4, 384),
        Rw(&T::join_state, "JoinState", 4, 388),
        Rw(&T::proxy_join, "ProxyJoin", 1, 392), Reserved(23, 393));
  }
};
static_assert(wire::Tiles<McMemberRecord>());

// A service that a port offers, registered for `service_lease` under a name and
// an id.
struct ServiceRecord {
  static constexpr AttributeId kId = AttributeId::kServiceRecord;
  static constexpr int kBits = 1408;

  uint64_t service_id = 0;
  wire::Gid service_gid{};
  uint16_t service_p_key = 0;
  uint32_t service_lease = 0;  // seconds; all ones: for ever
  std::array<std::byte, 16> service_key{};
  std::array<char, 64> service_name{};
  std::array<uint8_t, 16> service_data8{};
  std::array<uint16_t, 8> service_data16{};
  std::array<uint32_t, 4> service_data32{};
  std::array<uint64_t, 2> service_data64{};

  bool operator==(const ServiceRecord&) const = default;

  static constexpr auto Layout() {
    using T = ServiceRecord;
    using wire::Reserved, wire::Rw;
    return wire::Table(  // component, name, length and offset in bits
        Rw(&T::service_id, "ServiceID", 64, 0),
        Rw(&T::service_gid, "ServiceGID", 128, 64),
        Rw(&T::service_p_key, "ServiceP_Key", 16, 192), Reserved(16, 208),
        Rw(&T::service_lease, "ServiceLease", 32, 224),
        Rw(&T::service_key, "ServiceKey", 128, 256),
        Rw(&T::service_name, "ServiceName", 512, 384),
        Rw(&T::service_data8, "ServiceData8", 128, 896),
        Rw(&T::service_data16, "ServiceData16", 128, 1024),
        Rw(&T::service_data32, "ServiceData32", 128, 1152),
        Rw(&T::service_data64, "ServiceData64", 128, 1280));
  }
};
static_assert(wire::Tiles<ServiceRecord>());

// A subscription to notices.  The component names are those of a generic one:
// if IsGeneric is 0, TrapNumber is a device id and ProducerType a vendor id.
struct InformInfo {
  static constexpr AttributeId kId = AttributeId::kInformInfo;
  static constexpr int kBits = 288;

  wire::Gid gid{};
  wire::Lid lid_range_begin{};
  wire::Lid lid_range_end{};
  uint8_t is_generic = 0;
  uint8_t subscribe = 0;
  uint16_t type = 0;         // 0xffff: all
  uint16_t trap_number = 0;  // 0xffff: all
  uint32_t qpn = 0;
  uint8_t resp_time_value = 0;
  uint32_t producer_type = 0;  // 0xffffff: all

  bool operator==(const InformInfo&) const = default;

  static constexpr auto Layout() {
    using T = InformInfo;
    using wire::Reserved, wire::Rw;
    return wire::Table(  // component, name, length and offset in bits
        Rw(&T::gid, "GID", 128, 0),
        Rw(&T::lid_range_begin, "LIDRangeBegin", 16, 128),
        Rw(&T::lid_range_end, "LIDRangeEnd", 16, 144), Reserved(16, 160),
        Rw(&T::is_generic, "IsGeneric", 8, 176),
        Rw(&T::subscribe, "Subscribe", 8, 184), Rw(&T::type, "Type", 16, 192),
        Rw(&T::trap_number, "TrapNumber", 16, 208), Rw(&T::qpn, "QPN", 24, 224),
        Reserved(3, 248), Rw(&T::resp_time_value, "RespTimeValue", 5, 251),
        Reserved(8, 256), Rw(&T::producer_type, "ProducerType", 24, 264));
  }
};
static_assert(wire::Tiles<InformInfo>());

// A subscription to notices, with its subscriber.
struct InformInfoRecord {
  static constexpr AttributeId kId = AttributeId::kInformInfoRecord;
  static constexpr int kBits = 480;

  wire::Gid subscriber_gid{};
  uint16_t subscriber_enum = 0;
  InformInfo inform_info{};

  bool operator==(const InformInfoRecord&) const = default;

  static constexpr auto Layout() {
    using T = InformInfoRecord;
    using wire::Reserved, wire::Ro;
    return wire::Table(  // component, name, length and offset in bits
        Ro(&T::subscriber_gid, "SubscriberGID", 128, 0),
        Ro(&T::subscriber_enum, "Enum", 16, 128), Reserved(48, 144),
        Ro(&T::inform_info, "InformInfo", 288, 192));
  }
};
static_assert(wire::Tiles<InformInfoRecord>());

}  // namespace ibemu::mad

#endif  // IBEMU_MAD_WIRE_SA_SERVICES_H_

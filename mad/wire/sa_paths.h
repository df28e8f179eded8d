// PathRecord, MultiPathRecord and TraceRecord: IBA vol 1 §15.2.5.16, .19, .20.
#ifndef IBEMU_MAD_WIRE_SA_PATHS_H_
#define IBEMU_MAD_WIRE_SA_PATHS_H_

#include <array>

#include "mad/wire/attribute_id.h"
#include "wire/layout.h"
#include "wire/types.h"

namespace ibemu::mad {

// The selector before an MTU, rate or lifetime in a query.
enum class Selector : uint8_t {
  kGreaterThan = 0,
  kLessThan = 1,
  kExactly = 2,
  kLargest = 3,  // smallest, for a lifetime
};

// A path from one port to another, or what a query wants of one.  The ServiceID
// has 64 bits, in two components.
struct PathRecord {
  static constexpr AttributeId kId = AttributeId::kPathRecord;
  static constexpr int kBits = 512;

  uint8_t service_id_msb = 0;
  uint64_t service_id_lsb = 0;
  wire::Gid dgid{};
  wire::Gid sgid{};
  wire::Lid dlid{};
  wire::Lid slid{};
  bool raw_traffic = false;
  uint32_t flow_label = 0;
  uint8_t hop_limit = 0;
  uint8_t traffic_class = 0;
  bool reversible = false;
  uint8_t num_path = 0;
  uint16_t p_key = 0;
  uint16_t qos_class = 0;
  uint8_t sl = 0;
  Selector mtu_selector{};
  uint8_t mtu = 0;
  Selector rate_selector{};
  uint8_t rate = 0;
  Selector packet_life_time_selector{};
  uint8_t packet_life_time = 0;
  uint8_t preference = 0;

  bool operator==(const PathRecord&) const = default;

  static constexpr auto Layout() {
    using T = PathRecord;
    using wire::Reserved, wire::Ro;
    return wire::Table(  // component, name, length and offset in bits
        Ro(&T::service_id_msb, "ServiceID8MSB", 8, 0),
        Ro(&T::service_id_lsb, "ServiceID56LSB", 56, 8),
        Ro(&T::dgid, "DGID", 128, 64), Ro(&T::sgid, "SGID", 128, 192),
        Ro(&T::dlid, "DLID", 16, 320), Ro(&T::slid, "SLID", 16, 336),
        Ro(&T::raw_traffic, "RawTraffic", 1, 352), Reserved(3, 353),
        Ro(&T::flow_label, "FlowLabel", 20, 356),
        Ro(&T::hop_limit, "HopLimit", 8, 376),
        Ro(&T::traffic_class, "TClass", 8, 384),
        Ro(&T::reversible, "Reversible", 1, 392),
        Ro(&T::num_path, "NumbPath", 7, 393), Ro(&T::p_key, "P_Key", 16, 400),
        Ro(&T::qos_class, "QoSClass", 12, 416), Ro(&T::sl, "SL", 4, 428),
        Ro(&T::mtu_selector, "MtuSelector", 2, 432), Ro(&T::mtu, "Mtu", 6, 434),
        Ro(&T::rate_selector, "RateSelector", 2, 440),
        Ro(&T::rate, "Rate", 6, 442),
        Ro(&T::packet_life_time_selector, "PacketLifeTimeSelector", 2, 448),
        Ro(&T::packet_life_time, "PacketLifeTime", 6, 450),
        Ro(&T::preference, "Preference", 8, 456), Reserved(48, 464));
  }
};
static_assert(wire::Tiles<PathRecord>());

// A query for paths from any of several ports to any of others.  PathRecords
// answer it.
struct MultiPathRecord {
  static constexpr AttributeId kId = AttributeId::kMultiPathRecord;
  static constexpr int kBits = 1600;

  bool raw_traffic = false;
  uint32_t flow_label = 0;
  uint8_t hop_limit = 0;
  uint8_t traffic_class = 0;
  bool reversible = false;
  uint8_t num_path = 0;
  uint16_t p_key = 0;
  uint16_t qos_class = 0;
  uint8_t sl = 0;
  Selector mtu_selector{};
  uint8_t mtu = 0;
  Selector rate_selector{};
  uint8_t rate = 0;
  Selector packet_life_time_selector{};
  uint8_t packet_life_time = 0;
  uint8_t service_id_msb = 0;
  uint8_t independence_selector = 0;
  uint8_t sgid_count = 0;
  uint8_t dgid_count = 0;
  uint64_t service_id_lsb = 0;
  std::array<wire::Gid, 11> gids{};  // sources, then destinations

  bool operator==(const MultiPathRecord&) const = default;

  static constexpr auto Layout() {
    using T = MultiPathRecord;
    using wire::Reserved, wire::Ro;
    return wire::Table(  // component, name, length and offset in bits
        Ro(&T::raw_traffic, "RawTraffic", 1, 0), Reserved(3, 1),
        Ro(&T::flow_label, "FlowLabel", 20, 4),
        Ro(&T::hop_limit, "HopLimit", 8, 24),
        Ro(&T::traffic_class, "TClass", 8, 32),
        Ro(&T::reversible, "Reversible", 1, 40),
        Ro(&T::num_path, "NumbPath", 7, 41), Ro(&T::p_key, "P_Key", 16, 48),
        Ro(&T::qos_class, "QoSClass", 12, 64), Ro(&T::sl, "SL", 4, 76),
        Ro(&T::mtu_selector, "MtuSelector", 2, 80), Ro(&T::mtu, "Mtu", 6, 82),
        Ro(&T::rate_selector, "RateSelector", 2, 88),
        Ro(&T::rate, "Rate", 6, 90),
        Ro(&T::packet_life_time_selector, "PacketLifeTimeSelector", 2, 96),
        Ro(&T::packet_life_time, "PacketLifeTime", 6, 98),
        Ro(&T::service_id_msb, "ServiceID8MSB", 8, 104),
        Ro(&T::independence_selector, "IndependenceSelector", 2, 112),
        Reserved(6, 114), Ro(&T::sgid_count, "SGIDCount", 8, 120),
        Ro(&T::dgid_count, "DGIDCount", 8, 128),
        Ro(&T::service_id_lsb, "ServiceID56LSB", 56, 136),
        Ro(&T::gids, "SDGID", 1408, 192));
  }
};
static_assert(wire::Tiles<MultiPathRecord>());

// A node on a path, with the ports by which the path enters and leaves it.
struct TraceRecord {
  static constexpr AttributeId kId = AttributeId::kTraceRecord;
  static constexpr int kBits = 368;

  uint64_t gid_prefix = 0;
  uint16_t id_generation = 0;
  uint8_t node_type = 0;
  uint64_t node_id = 0;
  uint64_t chassis_id = 0;
  uint64_t entry_port_id = 0;
  uint64_t exit_port_id = 0;
  uint8_t entry_port = 0;
  uint8_t exit_port = 0;

  bool operator==(const TraceRecord&) const = default;

  static constexpr auto Layout() {
    using T = TraceRecord;
    using wire::Reserved, wire::Ro;
    return wire::Table(  // component, name, length and offset in bits
        Ro(&T::gid_prefix, "GIDPrefix", 64, 0),
        Ro(&T::id_generation, "IDGeneration", 16, 64), Reserved(8, 80),
        Ro(&T::node_type, "NodeType", 8, 88), Ro(&T::node_id, "NodeID", 64, 96),
        Ro(&T::chassis_id, "ChassisID", 64, 160),
        Ro(&T::entry_port_id, "EntryPortID", 64, 224),
        Ro(&T::exit_port_id, "ExitPortID", 64, 288),
        Ro(&T::entry_port, "EntryPort", 8, 352),
        Ro(&T::exit_port, "ExitPort", 8, 360));
  }
};
static_assert(wire::Tiles<TraceRecord>());

}  // namespace ibemu::mad

#endif  // IBEMU_MAD_WIRE_SA_PATHS_H_

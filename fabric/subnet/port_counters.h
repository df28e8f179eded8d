// The counters that a port keeps: the one source for the PMA, sysfs and `ibemu
// counter`.
#ifndef IBEMU_FABRIC_SUBNET_PORT_COUNTERS_H_
#define IBEMU_FABRIC_SUBNET_PORT_COUNTERS_H_

#include <array>
#include <cstdint>

namespace ibemu::fabric {

// The counters that every packet changes, in every port: IBA vol 1 §16.1.3.5
// and §16.1.4.11.  All counters in this file grow without limit; the PMA
// saturates and clears what it shows.  Data is in units of 4 bytes, from LRH to
// ICRC (without VCRC).
struct TrafficCounters {
  uint64_t xmit_data = 0, rcv_data = 0;
  uint64_t xmit_packets = 0, rcv_packets = 0;
  uint64_t xmit_vl15_packets = 0, rcv_vl15_packets = 0;  // included above
};

// The counters of rare events.  A port has none until the first of these
// events.
struct EventCounters {
  uint64_t symbol_errors = 0;
  uint64_t link_error_recovery = 0;
  uint64_t link_downed = 0;

  // PortRcvErrors is the sum of these three.  PortRcvErrorDetails (§16.1.4.1)
  // shows them and the relay errors below.
  uint64_t rcv_local_physical_errors = 0;  // bad VCRC: corrupted by a fault
  uint64_t rcv_malformed = 0;              // for example a DLID of another port
  uint64_t rcv_buffer_overrun = 0;

  // PortRcvSwitchRelayErrors is the sum of these three.
  uint64_t relay_dlid_mapping = 0;  // no forwarding entry
  uint64_t relay_vl_mapping = 0;    // SLtoVL maps to VL15
  uint64_t relay_looping = 0;       // the egress is the ingress

  uint64_t rcv_remote_physical_errors = 0;

  // PortXmitDiscards is the sum of these (PortXmitDiscardDetails, §16.1.4.2).
  uint64_t xmit_inactive = 0;      // link down, or not ACTIVE for data
  uint64_t xmit_neighbor_mtu = 0;  // longer than NeighborMTU
  uint64_t xmit_lifetime = 0;      // too many hops: a routing loop
  uint64_t xmit_hoq_lifetime = 0;

  uint64_t xmit_constraint_errors = 0;  // P_Key enforcement, egress
  uint64_t rcv_constraint_errors = 0;   // P_Key enforcement, ingress
  uint64_t local_link_integrity_errors = 0;
  uint64_t excessive_buffer_overrun_errors = 0;
  uint64_t qp1_dropped = 0;
  uint64_t vl15_dropped = 0;
  uint64_t xmit_wait = 0;

  uint64_t xmit_multicast_packets = 0, rcv_multicast_packets = 0;

  uint64_t rcv_errors() const {
    return rcv_local_physical_errors + rcv_malformed + rcv_buffer_overrun;
  }
  uint64_t switch_relay_errors() const {
    return relay_dlid_mapping + relay_vl_mapping + relay_looping;
  }
  uint64_t xmit_discards() const {
    return xmit_inactive + xmit_neighbor_mtu + xmit_lifetime +
           xmit_hoq_lifetime;
  }
};

// The counters by service level and virtual lane.  A port has none until its
// first packet with an SL or a data VL other than 0; all earlier packets had SL
// 0 and VL 0, or VL15, and TrafficCounters counts them.
struct LaneCounters {
  std::array<uint64_t, 16> xmit_data_by_sl{}, rcv_data_by_sl{};
  std::array<uint64_t, 16> xmit_data_by_vl{}, rcv_data_by_vl{};
  std::array<uint64_t, 16> xmit_packets_by_vl{}, rcv_packets_by_vl{};
};

// The totals of the whole fabric since its start.
struct ForwardingTotals {
  uint64_t sent = 0;       // packets that left their source
  uint64_t hops = 0;       // links crossed
  uint64_t delivered = 0;  // copies that reached their destination
  uint64_t dropped = 0;    // copies that did not
};

}  // namespace ibemu::fabric

#endif  // IBEMU_FABRIC_SUBNET_PORT_COUNTERS_H_

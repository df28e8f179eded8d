// The adapter's description of itself: QUERY_FW, QUERY_ADAPTER, QUERY_PORT; and
// settings: MOD_STAT_CFG, SET_PORT.  Offsets as the Linux driver reads them
// (mlx4/fw.c); bits that it does not read are reserved here.
#ifndef IBEMU_HCA_PRM_MLX4_QUERY_H_
#define IBEMU_HCA_PRM_MLX4_QUERY_H_

#include <array>
#include <cstddef>
#include <cstdint>

#include "wire/layout.h"

namespace ibemu::hca::prm {

// The answer of QUERY_FW.  In the mailbox the version's third number comes
// before its second.
struct QueryFw {
  static constexpr int kBits = 0x100 * 8;

  uint16_t fw_pages = 0;  // of 4 KiB, for MAP_FA
  uint16_t fw_rev_major = 0, fw_rev_minor = 0, fw_rev_subminor = 0;
  uint8_t ppf_id = 0;
  uint16_t cmd_interface_rev = 0;
  uint8_t log_max_outstanding_cmd = 0;
  uint64_t clr_int_base = 0;
  uint8_t clr_int_bar = 0;  // 0: BAR 0, 1: BAR 2; like all *_bar
  uint64_t error_buf_start = 0;
  uint32_t error_buf_size = 0;  // dwords
  uint8_t error_buf_bar = 0;
  uint64_t comm_base = 0;
  uint8_t comm_bar = 0;
  uint64_t clock_offset = 0;
  uint8_t clock_bar = 0;

  static constexpr auto Layout() {
    using T = QueryFw;
    using wire::Reserved, wire::Ro;
    return wire::Table(
        Ro(&T::fw_pages, "fw_pages", 16, 0x00 * 8),
        Ro(&T::fw_rev_major, "fw_rev_major", 16, 0x02 * 8),
        Ro(&T::fw_rev_subminor, "fw_rev_subminor", 16, 0x04 * 8),
        Ro(&T::fw_rev_minor, "fw_rev_minor", 16, 0x06 * 8),
        Reserved(8, 0x08 * 8), Ro(&T::ppf_id, "ppf_id", 8, 0x09 * 8),
        Ro(&T::cmd_interface_rev, "cmd_interface_rev", 16, 0x0a * 8),
        Reserved(24, 0x0c * 8),
        Ro(&T::log_max_outstanding_cmd, "log_max_outstanding_cmd", 8, 0x0f * 8),
        Reserved(16 * 8, 0x10 * 8),
        Ro(&T::clr_int_base, "clr_int_base_addr", 64, 0x20 * 8),
        Ro(&T::clr_int_bar, "clr_int_bar", 2, 0x28 * 8),
        Reserved(62, 0x28 * 8 + 2),
        Ro(&T::error_buf_start, "error_buf_start", 64, 0x30 * 8),
        Ro(&T::error_buf_size, "error_buf_size", 32, 0x38 * 8),
        Ro(&T::error_buf_bar, "error_buf_bar", 2, 0x3c * 8),
        Reserved(30, 0x3c * 8 + 2),
        Ro(&T::comm_base, "comm_base_addr", 64, 0x40 * 8),
        Ro(&T::comm_bar, "comm_bar", 2, 0x48 * 8), Reserved(62, 0x48 * 8 + 2),
        Ro(&T::clock_offset, "clock_offset", 64, 0x50 * 8),
        Ro(&T::clock_bar, "clock_bar", 2, 0x58 * 8),
        Reserved(0xa8 * 8 - 2, 0x58 * 8 + 2));
  }
};
static_assert(wire::Tiles<QueryFw>());

// The answer of QUERY_ADAPTER.
struct QueryAdapter {
  static constexpr int kBits = 0x100 * 8;

  uint8_t inta_pin = 0;
  uint16_t vsd_vendor_id = 0;
  // Vendor-specific data, with the board's ID (PSID) in bytes 0xd0 to 0xdf,
  // where the bytes of each dword are in reverse order.
  std::array<uint8_t, 0xe0> vsd{};

  static constexpr auto Layout() {
    using T = QueryAdapter;
    using wire::Reserved, wire::Ro;
    return wire::Table(Reserved(16 * 8, 0),
                       Ro(&T::inta_pin, "intapin", 8, 0x10 * 8),
                       Reserved(13 * 8, 0x11 * 8),
                       Ro(&T::vsd_vendor_id, "vsd_vendor_id", 16, 0x1e * 8),
                       Ro(&T::vsd, "vsd", 0xe0 * 8, 0x20 * 8));
  }
};
static_assert(wire::Tiles<QueryAdapter>());
inline constexpr size_t kVsdBoardId = 0xd0;
inline constexpr size_t kBoardIdBytes = 16;

enum class PortType : uint8_t { kNone = 0, kInfiniBand = 1, kEthernet = 2 };

// The answer of QUERY_PORT.
struct QueryPort {
  static constexpr int kBits = 0x40 * 8;

  bool link_up = false;
  bool dmfs_optimized = false, default_sense = false, suggested_type = false;
  PortType supported_type = PortType::kNone;
  uint8_t ib_mtu = 0;  // PortInfo's code
  uint16_t eth_mtu = 0;
  uint8_t ib_port_width = 0;  // PortInfo's LinkWidthSupported
  uint8_t log_max_gid = 0, log_max_pkey = 0;
  uint8_t log_max_vlan = 0, log_max_mac = 0;
  uint8_t max_vl = 0;  // data VLs
  uint64_t mac = 0;

  static constexpr auto Layout() {
    using T = QueryPort;
    using wire::Reserved, wire::Ro;
    return wire::Table(
        Ro(&T::link_up, "link_up", 1, 0), Reserved(1, 1),
        Ro(&T::dmfs_optimized, "dmfs_optimized", 1, 2),
        Ro(&T::default_sense, "default_sense", 1, 3),
        Ro(&T::suggested_type, "suggested_type", 1, 4), Reserved(1, 5),
        Ro(&T::supported_type, "supported_type", 2, 6), Reserved(4, 0x01 * 8),
        Ro(&T::ib_mtu, "ib_mtu", 4, 0x01 * 8 + 4),
        Ro(&T::eth_mtu, "eth_mtu", 16, 0x02 * 8), Reserved(20, 0x04 * 8),
        Ro(&T::ib_port_width, "ib_port_width", 4, 0x06 * 8 + 4),
        Ro(&T::log_max_gid, "log_max_gid", 4, 0x07 * 8),
        Ro(&T::log_max_pkey, "log_max_pkey", 4, 0x07 * 8 + 4),
        Reserved(16, 0x08 * 8),
        Ro(&T::log_max_vlan, "log_max_vlan", 4, 0x0a * 8),
        Ro(&T::log_max_mac, "log_max_mac", 4, 0x0a * 8 + 4),
        Reserved(4, 0x0b * 8), Ro(&T::max_vl, "max_vl", 4, 0x0b * 8 + 4),
        Reserved(32, 0x0c * 8), Ro(&T::mac, "mac", 64, 0x10 * 8),
        Reserved(0x28 * 8, 0x18 * 8));
  }
};
static_assert(wire::Tiles<QueryPort>());

// MOD_STAT_CFG with opcode modifier 0: settings that replace those in the
// board's flash until the next reset (mlx4/fw.c: mlx4_MOD_STAT_CFG).
struct PageSizeConfiguration {
  static constexpr int kBits = 0x20 * 8;

  uint8_t change_page_size = 0;  // 1: log_page_size is valid
  uint8_t log_page_size = 0;  // the smallest page of an MTT, in units of 4 KiB

  static constexpr auto Layout() {
    using T = PageSizeConfiguration;
    using wire::Reserved, wire::Rw;
    return wire::Table(Reserved(16, 0),
                       Rw(&T::change_page_size, "log_pg_sz_m", 8, 0x02 * 8),
                       Rw(&T::log_page_size, "log_pg_sz", 8, 0x03 * 8),
                       Reserved(0x1c * 8, 0x04 * 8));
  }
};
static_assert(wire::Tiles<PageSizeConfiguration>());

// MOD_STAT_CFG that asks instead of setting something.
inline constexpr uint8_t kQueryStaticConfiguration = 2;  // opcode modifier
inline constexpr int kStaticConfigurationPortShift = 8;

// The answer of MOD_STAT_CFG with kQueryStaticConfiguration, for the port in
// bits 15:8 of the input modifier (mlx4/fw.c: mlx4_get_phys_port_id).
struct StaticConfiguration {
  static constexpr int kBits = 0x20 * 8;

  uint32_t uplink_guid_high = 0, uplink_guid_low = 0;

  static constexpr auto Layout() {
    using T = StaticConfiguration;
    using wire::Reserved, wire::Ro;
    return wire::Table(Reserved(0x14 * 8, 0),
                       Ro(&T::uplink_guid_high, "guid_h", 32, 0x14 * 8),
                       Reserved(32, 0x18 * 8),
                       Ro(&T::uplink_guid_low, "guid_l", 32, 0x1c * 8));
  }
};
static_assert(wire::Tiles<StaticConfiguration>());

// The mailbox of SET_PORT with opcode modifier 0, for a port of type
// InfiniBand.  A component with a "change" bit is taken only if that bit is set
// (Linux: mlx4_SET_PORT in mlx4/port.c, mlx4_ib_SET_PORT in hw/mlx4/main.c).
struct SetPort {
  static constexpr int kBits = 0x40 * 8;

  bool change_mtu_cap = false, change_vl_cap = false, change_max_pkey = false;
  uint8_t mtu_cap = 0;  // PortInfo's code
  uint8_t vl_cap = 0;   // number of data VLs
  bool reset_qkey_violations = false;
  uint32_t capability_mask = 0;  // PortInfo's
  uint16_t max_pkey = 0;

  static constexpr auto Layout() {
    using T = SetPort;
    using wire::Reserved, wire::Rw;
    return wire::Table(Reserved(9, 0), Rw(&T::change_mtu_cap, "mmc", 1, 9),
                       Rw(&T::change_vl_cap, "mvc", 1, 10),
                       Rw(&T::change_max_pkey, "mp", 1, 11), Reserved(4, 12),
                       Rw(&T::mtu_cap, "mtu_cap", 4, 16), Reserved(4, 20),
                       Rw(&T::vl_cap, "vl_cap", 4, 24), Reserved(3, 28),
                       Rw(&T::reset_qkey_violations, "rqk", 1, 31),
                       Rw(&T::capability_mask, "capability_mask", 32, 0x04 * 8),
                       Reserved(0x20 * 8, 0x08 * 8),
                       Rw(&T::max_pkey, "max_pkey", 16, 0x28 * 8),
                       Reserved(0x16 * 8, 0x2a * 8));
  }
};
static_assert(wire::Tiles<SetPort>());

}  // namespace ibemu::hca::prm

#endif  // IBEMU_HCA_PRM_MLX4_QUERY_H_

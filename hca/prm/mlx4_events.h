// Event queues: context, entries, and the data of events.  As in the Linux
// driver (mlx4/mlx4.h, eq.c; include/linux/mlx4/device.h: mlx4_eqe).
#ifndef IBEMU_HCA_PRM_MLX4_EVENTS_H_
#define IBEMU_HCA_PRM_MLX4_EVENTS_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "wire/layout.h"

namespace ibemu::hca::prm {

// The type of an event (MLX4_EVENT_TYPE_*).
enum class EqeType : uint8_t {
  kCompletion = 0x00,
  kPathMigration = 0x01,
  kCommunicationEstablished = 0x02,
  kSendQueueDrained = 0x03,
  kCqError = 0x04,
  kWqCatastrophicError = 0x05,
  kPathMigrationFailed = 0x07,
  kLocalCatastrophicError = 0x08,
  kPortChange = 0x09,
  kCommand = 0x0a,
  kEqOverflow = 0x0f,
  kWqInvalidRequest = 0x10,
  kWqAccessError = 0x11,
  kSrqCatastrophicError = 0x12,
  kSrqLastWqe = 0x13,
  kSrqLimit = 0x14,
  kPortManagementChange = 0x1d,
};
// Returns the event's name in lower case with underscores, such as
// "port_change"; "?" for a number that has none.
std::string_view Name(EqeType type);
// Returns the bit of an event in in_param of MAP_EQ, which selects the events
// that go to an EQ.
constexpr uint64_t EventBit(EqeType type) {
  return uint64_t{1} << static_cast<int>(type);
}

// Event subtypes.
inline constexpr uint8_t kPortDown = 1;
inline constexpr uint8_t kPortActive = 4;
inline constexpr uint8_t kGuidInfoChange = 0x14;
inline constexpr uint8_t kPortInfoChange = 0x15;
inline constexpr uint8_t kPKeyTableChange = 0x16;
// Bits of PortManagementEvent::changed (kPortInfoChange).
inline constexpr uint32_t kSmLidChange = 1u << 0;
inline constexpr uint32_t kGidPrefixChange = 1u << 1;
inline constexpr uint32_t kLidChange = 1u << 2;
inline constexpr uint32_t kClientReregister = 1u << 3;
inline constexpr uint32_t kSmSlChange = 1u << 4;
// Values of QueueEvent::syndrome for kCqError.
inline constexpr uint8_t kCqOverrun = 1;
inline constexpr uint8_t kCqAccessViolation = 2;

// Values of EqContext::state.
inline constexpr uint8_t kEqArmed = 9;
inline constexpr uint8_t kEqFired = 10;
inline constexpr uint8_t kEqAlwaysArmed = 11;
// Values of EqContext::status and CqContext::status.
inline constexpr uint8_t kQueueOk = 0;
inline constexpr uint8_t kQueueOverflow = 9;
inline constexpr uint8_t kQueueWriteFailure = 10;

// The context of an event queue (SW2HW_EQ).
struct EqContext {
  static constexpr int kBits = 64 * 8;

  uint8_t status = kQueueOk;
  bool collapsed = false;       // ec: every event into entry 0
  bool ignore_overrun = false;  // oi
  uint8_t state = 0;
  uint8_t page_offset = 0;  // of entry 0 in its page, in units of 32 bytes
  uint8_t log_eq_size = 0;  // entries
  uint16_t eq_period = 0, eq_max_count = 0;
  uint16_t intr = 0;           // MSI-X vector
  uint8_t log_page_size = 0;   // in units of 4 KiB
  uint64_t mtt_base_addr = 0;  // 40 bits, bytes from mtt_base
  uint32_t consumer_index = 0, producer_index = 0;

  static constexpr auto Layout() {
    using T = EqContext;
    using wire::Reserved, wire::Rw;
    return wire::Table(
        Rw(&T::status, "status", 4, 0), Reserved(9, 4),
        Rw(&T::collapsed, "ec", 1, 13), Rw(&T::ignore_overrun, "oi", 1, 14),
        Reserved(5, 15), Rw(&T::state, "st", 4, 20), Reserved(8, 24),
        Reserved(52, 32), Rw(&T::page_offset, "page_offset", 7, 84),
        Reserved(5 + 3, 91), Rw(&T::log_eq_size, "log_eq_size", 5, 99),
        Reserved(24, 104), Rw(&T::eq_period, "eq_period", 16, 0x10 * 8),
        Rw(&T::eq_max_count, "eq_max_count", 16, 0x12 * 8),
        Reserved(22, 0x14 * 8), Rw(&T::intr, "intr", 10, 0x16 * 8 + 6),
        Reserved(2, 0x18 * 8),
        Rw(&T::log_page_size, "log_page_size", 6, 0x18 * 8 + 2),
        Reserved(16, 0x19 * 8),
        Rw(&T::mtt_base_addr, "mtt_base_addr", 40, 0x1b * 8),
        Reserved(64, 0x20 * 8), Reserved(8, 0x28 * 8),
        Rw(&T::consumer_index, "consumer_counter", 24, 0x29 * 8),
        Reserved(8, 0x2c * 8),
        Rw(&T::producer_index, "producer_counter", 24, 0x2d * 8),
        Reserved(16 * 8, 0x30 * 8));
  }
};
static_assert(wire::Tiles<EqContext>());

// An event queue entry.  `data` is decoded as one of the structures below.
// Software owns entry n of a queue of 2^k entries if `owner` is bit k of n,
// where n is a running count.
struct Eqe {
  static constexpr int kBits = 32 * 8;

  EqeType type = EqeType::kCompletion;
  uint8_t subtype = 0;
  std::array<uint8_t, 24> data{};
  bool owner = false;

  static constexpr auto Layout() {
    using T = Eqe;
    using wire::Reserved, wire::Rw;
    return wire::Table(
        Reserved(8, 0), Rw(&T::type, "event_type", 8, 8), Reserved(8, 16),
        Rw(&T::subtype, "event_sub_type", 8, 24),
        Rw(&T::data, "event_data", 24 * 8, 32), Reserved(24, 0x1c * 8),
        Rw(&T::owner, "owner", 1, 0x1f * 8), Reserved(7, 0x1f * 8 + 1));
  }
};
static_assert(wire::Tiles<Eqe>());
inline constexpr size_t kEqeData = 4;  // offset of `data` in bytes

// The data of kCompletion and of all events about a CQ, QP or SRQ.
struct QueueEvent {
  static constexpr int kBits = 24 * 8;

  uint32_t number = 0;
  uint8_t syndrome = 0;  // only with kCqError

  static constexpr auto Layout() {
    using T = QueueEvent;
    using wire::Reserved, wire::Rw;
    return wire::Table(Reserved(8, 0), Rw(&T::number, "cqn, qpn, srqn", 24, 8),
                       Reserved(32 + 24, 32),
                       Rw(&T::syndrome, "syndrome", 8, 88),
                       Reserved(12 * 8, 96));
  }
};
static_assert(wire::Tiles<QueueEvent>());

// The data of kCommand.
struct CommandEvent {
  static constexpr int kBits = 24 * 8;

  uint16_t token = 0;
  uint8_t status = 0;  // CommandStatus
  uint64_t out_param = 0;

  static constexpr auto Layout() {
    using T = CommandEvent;
    using wire::Reserved, wire::Rw;
    return wire::Table(Reserved(16, 0), Rw(&T::token, "token", 16, 16),
                       Reserved(32 + 24, 32), Rw(&T::status, "status", 8, 88),
                       Rw(&T::out_param, "out_param", 64, 96),
                       Reserved(32, 160));
  }
};
static_assert(wire::Tiles<CommandEvent>());

// The data of kPortChange.
struct PortChangeEvent {
  static constexpr int kBits = 24 * 8;

  uint8_t port = 0;

  static constexpr auto Layout() {
    using wire::Reserved, wire::Rw;
    return wire::Table(Reserved(66, 0), Rw(&PortChangeEvent::port, "p", 2, 66),
                       Reserved(124, 68));
  }
};
static_assert(wire::Tiles<PortChangeEvent>());

// The data of kPortManagementChange with subtype kPortInfoChange; other
// subtypes have `port` only.
struct PortManagementEvent {
  static constexpr int kBits = 24 * 8;

  uint8_t port = 0;
  uint16_t sm_lid = 0, port_lid = 0;
  uint32_t changed = 0;  // kSmLidChange ...
  uint8_t sm_sl = 0;
  uint64_t gid_prefix = 0;

  static constexpr auto Layout() {
    using T = PortManagementEvent;
    using wire::Reserved, wire::Rw;
    return wire::Table(Reserved(24, 0), Rw(&T::port, "port", 8, 24),
                       Rw(&T::sm_lid, "mstr_sm_lid", 16, 32),
                       Rw(&T::port_lid, "port_lid", 16, 48),
                       Rw(&T::changed, "changed_attr", 32, 64),
                       Reserved(28, 96), Rw(&T::sm_sl, "mstr_sm_sl", 4, 124),
                       Rw(&T::gid_prefix, "gid_prefix", 64, 128));
  }
};
static_assert(wire::Tiles<PortManagementEvent>());

}  // namespace ibemu::hca::prm

#endif  // IBEMU_HCA_PRM_MLX4_EVENTS_H_

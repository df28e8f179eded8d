// UmadRingMemory: the memory that an open umadN shares with its client.
#ifndef IBEMU_FAST_PATH_RINGS_UMAD_RING_MEMORY_H_
#define IBEMU_FAST_PATH_RINGS_UMAD_RING_MEMORY_H_

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "fast_path/rings/ring_control.h"
#include "fast_path/rings/slot_ring.h"

namespace ibemu::fast_path {

// The longest header of a MAD (ib_user_mad_hdr), and a MAD.
inline constexpr size_t kMadOffsetMost = 64;
inline constexpr size_t kMadSize = 256;

// One write() to, or read() from, umadN.
struct UmadSlot {
  std::atomic<uint32_t> length;
  std::byte data[kMadOffsetMost + kMadSize];
};

// What an agent of the file may send through the ring.
enum class AgentKind : uint32_t {
  kNone,   // there is no such agent
  kPlain,  // MADs of any class
  kRmpp,   // MADs of classes that have RMPP
};

// Two rings, and what a client has to know to tell which of its calls the
// daemon would surely accept.
struct UmadRingMemory {
  static constexpr size_t kAgents = 32;
  static constexpr size_t kCounters = 4096;

  RingControl control;

  // The daemon's.
  alignas(kLine) std::atomic<uint32_t> header_size;  // of a MAD, in bytes
  // The port whose number a directed route has to begin with; 0: none may.
  std::atomic<uint32_t> route_port;
  // Not 0 while messages wait that are not in `received`, but after it.
  std::atomic<uint32_t> has_more;
  alignas(kLine) std::atomic<AgentKind> agents[kAgents];

  // How many sends may be outstanding, by CounterOf(): +1 by who puts one into
  // `sent` or the daemon when it accepts another one, -1 by the daemon.
  alignas(kLine) std::atomic<uint16_t> outstanding[kCounters];

  SlotRing<UmadSlot, 512> sent;      // the client fills it
  SlotRing<UmadSlot, 512> received;  // the daemon fills it

  // The counter of a MAD with this half of the TID and this class.
  static size_t CounterOf(uint32_t low_tid, uint8_t mgmt_class) {
    return (low_tid ^ low_tid >> 12 ^ low_tid >> 24 ^ mgmt_class * 1021u) %
           kCounters;
  }
};

}  // namespace ibemu::fast_path

#endif  // IBEMU_FAST_PATH_RINGS_UMAD_RING_MEMORY_H_

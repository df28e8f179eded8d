// UmadRingMemory: the memory that an open umadN shares with its client.
#ifndef IBEMU_FAST_PATH_RINGS_UMAD_RING_MEMORY_H_
#define IBEMU_FAST_PATH_RINGS_UMAD_RING_MEMORY_H_

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include "fast_path/rings/ring_control.h"
#include "fast_path/rings/slot_ring.h"
#include "mad/wire/mad_header.h"
#include "wire/layout.h"

namespace ibemu::fast_path {

// The sizes of the longest header of a MAD (ib_user_mad_hdr) and of a MAD.
inline constexpr size_t kMadOffsetMost = 64;
inline constexpr size_t kMadSize = 256;

// A UmadSlot holds one write() to, or read() from, umadN.
struct UmadSlot {
  std::atomic<uint32_t> length;
  std::byte data[kMadOffsetMost + kMadSize];
};

// The MADs that an agent of the file may send through the ring.
enum class AgentKind : uint32_t {
  kNone,   // there is no such agent
  kPlain,  // MADs of any class
  kRmpp,   // MADs of classes that have RMPP
};

// A UmadRingMemory has two rings, and what a client has to know to tell which
// of its calls the daemon would surely accept.
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

  // How many sends may be outstanding, by OutstandingOf(): +1 by who puts one
  // into `sent` or the daemon when it accepts another one, -1 by the daemon.
  alignas(kLine) std::atomic<uint16_t> outstanding[kCounters];

  SlotRing<UmadSlot, 512> sent;      // the client fills it
  SlotRing<UmadSlot, 512> received;  // the daemon fills it

  // Returns the counter of sends with the lower half of this MAD's TID and its
  // class, and of some others.  REQUIRES: `packet` has a MAD's header.
  std::atomic<uint16_t>& OutstandingOf(std::span<const std::byte> packet) {
    const auto low_tid =
        static_cast<uint32_t>(wire::Get<&mad::MadHeader::tid>(packet));
    const auto mgmt_class =
        static_cast<uint32_t>(wire::Get<&mad::MadHeader::mgmt_class>(packet));
    return outstanding[(low_tid ^ low_tid >> 12 ^ low_tid >> 24 ^
                        mgmt_class * 1021) %
                       kCounters];
  }
};

}  // namespace ibemu::fast_path

#endif  // IBEMU_FAST_PATH_RINGS_UMAD_RING_MEMORY_H_

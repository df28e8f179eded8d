#include "fast_path/preload/umad_client.h"

#include <endian.h>
#include <rdma/ib_user_mad.h>

#include <cstring>

namespace ibemu::fast_path {
namespace {

// Offsets in a MAD: IBA vol 1 §13.4.3, §13.6.2.1 (RMPP), §14.2.1.2 (SMP).
constexpr size_t kMgmtClass = 1;
constexpr size_t kMethod = 3;
constexpr size_t kStatus = 4;
constexpr size_t kHopPointer = 6;
constexpr size_t kHopCount = 7;
constexpr size_t kLowTid = 12;
constexpr size_t kAttributeModifierEnd = 23;
constexpr size_t kRmppFlags = 26;
constexpr size_t kDrSlid = 32;
constexpr size_t kInitialPath = 128;

constexpr uint8_t kDirectedRoute = 0x81;
constexpr uint8_t kBaseboard = 0x05;
constexpr uint8_t kTrapRepress = 0x07;
constexpr uint8_t kMostHops = 63;

uint8_t Byte(const std::byte* mad, size_t offset) {
  return static_cast<uint8_t>(mad[offset]);
}

// As mad::IsResponseMad().
bool IsResponse(const std::byte* mad) {
  const uint8_t method = Byte(mad, kMethod);
  return (method & 0x80) != 0 || method == kTrapRepress ||
         (Byte(mad, kMgmtClass) == kBaseboard &&
          (Byte(mad, kAttributeModifierEnd) & 1) != 0);
}

// As mad::IsRmppClass().
bool HasRmpp(uint8_t mgmt_class) {
  return mgmt_class == 0x03 || mgmt_class == 0x06 || mgmt_class == 0x10 ||
         mgmt_class == 0x12 || (mgmt_class >= 0x30 && mgmt_class <= 0x4f);
}

// Returns true for a request that this port takes as the first step of its
// way, and that does not end here.
bool IsPlainRoute(const std::byte* mad, uint32_t port) {
  const uint8_t hops = Byte(mad, kHopCount);
  return (Byte(mad, kStatus) & 0x80) == 0 && Byte(mad, kHopPointer) == 0 &&
         hops >= 1 && hops <= kMostHops && Byte(mad, kDrSlid) == 0xff &&
         Byte(mad, kDrSlid + 1) == 0xff && port != 0 &&
         Byte(mad, kInitialPath + 1) == port;
}

}  // namespace

// What is not refused by anything here is not refused by UmadFile::Send()
// either.
Way UmadClient::Judge(const std::byte* written) const {
  ib_user_mad_hdr_old header;
  std::memcpy(&header, written, sizeof header);
  if (header.id >= UmadRingMemory::kAgents || header.grh_present != 0) {
    return Way::kCommand;
  }
  const AgentKind agent = memory_.agents[header.id].load();
  const std::byte* const mad =
      written + memory_.header_size.load(std::memory_order_relaxed);
  const uint8_t mgmt_class = Byte(mad, kMgmtClass);
  const bool rmpp = HasRmpp(mgmt_class);
  if (agent == AgentKind::kNone || (agent == AgentKind::kRmpp && !rmpp) ||
      (rmpp && (Byte(mad, kRmppFlags) & 1) != 0) || IsResponse(mad)) {
    return Way::kCommand;
  }
  if (mgmt_class == kDirectedRoute &&
      !IsPlainRoute(mad, memory_.route_port.load(std::memory_order_relaxed))) {
    return Way::kCommand;
  }
  return Way::kRing;
}

// REQUIRES: the caller holds the lock.  What is judged is the copy.
Way UmadClient::Fill(const void* data, size_t size) {
  auto& ring = memory_.sent;
  const uint64_t tail = ring.tail.load(std::memory_order_relaxed);
  if (tail - ring.head.load(std::memory_order_acquire) >= ring.kSize) {
    return Way::kBusy;
  }
  UmadSlot& slot = ring.At(tail);
  std::memcpy(slot.data, data, size);
  if (const Way way = Judge(slot.data); way != Way::kRing) return way;

  const std::byte* const mad = slot.data + size - kMadSize;
  uint32_t low_tid;
  std::memcpy(&low_tid, mad + kLowTid, sizeof low_tid);
  std::atomic<uint16_t>& outstanding =
      memory_.outstanding[UmadRingMemory::CounterOf(be32toh(low_tid),
                                                    Byte(mad, kMgmtClass))];
  if (outstanding.load() != 0) return Way::kOutstanding;
  outstanding.fetch_add(1);
  slot.length.store(static_cast<uint32_t>(size), std::memory_order_relaxed);
  ring.Publish(tail + 1);
  return Way::kRing;
}

Way UmadClient::Write(const void* data, size_t size) {
  RingControl& control = memory_.control;
  if (!control.IsServed()) return Way::kAsleep;
  if (size != memory_.header_size.load(std::memory_order_relaxed) + kMadSize) {
    return Way::kCommand;
  }
  if (!facts_.readable.Has(data, size)) return Way::kPage;
  uint32_t nobody = 0;
  if (!control.filler.compare_exchange_strong(nobody, 1)) return Way::kBusy;
  const Way way = Fill(data, size);
  control.filler.store(0);
  return way;
}

Way UmadClient::Read(void* data, size_t size, size_t& length) {
  auto& ring = memory_.received;
  while (memory_.control.closed.load() == 0 && !ring.empty()) {
    const uint64_t head = ring.head.load();
    UmadSlot& slot = ring.At(head);
    length = slot.length.load();
    if (length > size || length > sizeof slot.data) return Way::kEmpty;
    if (!facts_.writable.Has(data, length)) return Way::kPage;
    // Whoever takes it first has it, and others' buffers stay as they are.
    std::byte copy[sizeof slot.data];
    std::memcpy(copy, slot.data, length);
    if (!ring.Take(head)) continue;
    std::memcpy(data, copy, length);
    return Way::kRing;
  }
  return Way::kEmpty;
}

UmadClient::State UmadClient::Look() const {
  if (memory_.control.closed.load() != 0) return State::kUnknown;
  if (!memory_.received.empty()) return State::kReadable;
  return memory_.has_more.load() != 0 ? State::kUnknown : State::kQuiet;
}

}  // namespace ibemu::fast_path

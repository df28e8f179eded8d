#include "fast_path/preload/umad_client.h"

#include <rdma/ib_user_mad.h>

#include <cstring>

#include "mad/mad_class.h"
#include "mad/wire/smp.h"

namespace ibemu::fast_path {
namespace {

// Returns true for a request that this port takes as the first step of its
// way, and that does not end here.
bool IsPlainRoute(mad::Bytes smp, uint32_t port) {
  constexpr size_t kFirstEgress = 129;  // of the initial path, by IBA §14.2.1.2
  const int hops = wire::Get<&mad::Smp::hop_count>(smp);
  return !wire::Get<&mad::Smp::direction>(smp) &&
         wire::Get<&mad::Smp::hop_pointer>(smp) == 0 && hops >= 1 &&
         hops <= mad::kSmpMaxHops &&
         wire::Get<&mad::Smp::dr_slid>(smp) == wire::Lid::kPermissive &&
         port != 0 && static_cast<uint32_t>(smp[kFirstEgress]) == port;
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
  const mad::Bytes packet(
      written + memory_.header_size.load(std::memory_order_relaxed), kMadSize);
  const auto mgmt_class = wire::Get<&mad::MadHeader::mgmt_class>(packet);
  const bool rmpp = mad::IsRmppClass(mgmt_class);
  if (agent == AgentKind::kNone || (agent == AgentKind::kRmpp && !rmpp) ||
      (rmpp && mad::IsRmppActive(packet)) || mad::IsResponseMad(packet)) {
    return Way::kCommand;
  }
  if (mgmt_class == mad::MgmtClass::kSubnetDirectedRoute &&
      !IsPlainRoute(packet,
                    memory_.route_port.load(std::memory_order_relaxed))) {
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

  std::atomic<uint16_t>& outstanding =
      memory_.OutstandingOf(mad::Bytes(slot.data + size - kMadSize, kMadSize));
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

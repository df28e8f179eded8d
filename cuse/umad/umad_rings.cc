#include "cuse/umad/umad_rings.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "base/copy_bytes.h"

namespace ibemu::cuse {

void UmadRings::Attach(RingSet& set, RingSet::Client client,
                       SharedMemory memory) {
  shared_.emplace(std::move(memory));
  set_ = &set;
  closed_ = false;
  set.Add(*this, std::move(client));
}

UmadRings::~UmadRings() {
  Close();
  if (set_ != nullptr) set_->Remove(*this);
}

void UmadRings::CatchUp() {
  if (closed_) return;
  DrainSome(decltype(Memory::sent)::kSize);
  set_->Used(*this);
}

void UmadRings::Close() {
  if (std::exchange(closed_, true)) return;
  control().closed = 1;
  WakeClient(control());
}

void UmadRings::SetFormat(size_t header_size, uint8_t route_port) {
  if (closed_) return;
  header_size_ = header_size;
  memory().header_size = static_cast<uint32_t>(header_size);
  memory().route_port = route_port;
}

void UmadRings::SetAgent(uint32_t id, fast_path::AgentKind kind) {
  if (!closed_) memory().agents[id] = kind;
}

bool UmadRings::HasCalls() const {
  return !closed_ && memory().sent.tail.load() != taken_;
}

// The slot is copied before anything of it is looked at.
bool UmadRings::DrainSome(uint64_t most) {
  if (closed_) return false;
  auto& ring = memory().sent;
  const uint64_t end = ring.tail.load();
  if (end == taken_) return false;
  if (ring.IsBroken(taken_, end)) {
    Close();
    return true;
  }
  std::array<std::byte, fast_path::kMadOffsetMost + fast_path::kMadSize> copy;
  const size_t size = header_size_ + fast_path::kMadSize;
  while (taken_ != end && most-- > 0 && !closed_) {
    std::memcpy(copy.data(), ring.At(taken_).data, size);
    ring.head.store(++taken_);
    send_(Bytes(copy).first(size));
    // The client has counted it, and so has who accepted it.
    Count(Bytes(copy).subspan(header_size_), -1);
  }
  return true;
}

void UmadRings::Count(Bytes mad, int by) {
  if (!closed_) memory().OutstandingOf(mad) += static_cast<uint16_t>(by);
}

bool UmadRings::Put(Bytes header, Bytes mad) {
  const size_t length = header.size() + mad.size();
  if (closed_ || length > sizeof(fast_path::UmadSlot::data)) return false;
  auto& ring = memory().received;
  const uint64_t head = ring.head.load();
  if (ring.IsBroken(head, put_)) {
    Close();
    return false;
  }
  if (put_ - head == ring.kSize) return false;
  fast_path::UmadSlot& slot = ring.At(put_);
  slot.length = static_cast<uint32_t>(length);
  CopyBytes(mad, CopyBytes(header, slot.data));
  ring.Publish(++put_);
  WakeClient(control());
  return true;
}

size_t UmadRings::messages() const {
  if (closed_) return 0;
  const uint64_t count = put_ - memory().received.head.load();
  return std::min<uint64_t>(count, memory().received.kSize);
}

void UmadRings::SetMore(bool more) {
  if (closed_) return;
  memory().has_more = more ? 1 : 0;
  if (more) WakeClient(control());
}

std::optional<size_t> UmadRings::Take(std::span<std::byte> data, size_t room) {
  if (closed_) return std::nullopt;
  auto& ring = memory().received;
  // Other threads of the client may take them meanwhile, but no more than there
  // are.
  for (uint64_t tries = 0; tries <= ring.kSize && messages() != 0; ++tries) {
    const uint64_t head = ring.head.load();
    const fast_path::UmadSlot& slot = ring.At(head);
    const size_t length = slot.length.load();
    if (ring.IsBroken(head, put_) || length > sizeof slot.data ||
        length < header_size_) {
      break;
    }
    if (length > room) return length;
    std::copy_n(slot.data, length, data.begin());
    if (ring.Take(head)) return length;
  }
  if (messages() != 0) Close();
  return std::nullopt;
}

}  // namespace ibemu::cuse

#include "fabric/packet/transport.h"

#include "wire/psn.h"

namespace ibemu::fabric {

bool Transport::FitsMtu(size_t mtu) const {
  if (packets > 1 && payload != mtu) return false;
  const size_t end = packets > 1 ? size - size_t{packets - 1} * payload : size;
  if (!last) return end == mtu;
  return end <= mtu && (end != 0 || (first && packets == 1));
}

Transport Transport::Single(uint32_t index) const {
  Transport single = *this;
  if (packets == 1) return single;
  const bool at_end = index + 1 == packets;
  const size_t before = size_t{index} * payload;
  single.packets = 1;
  single.psn = wire::PsnAfter(psn, index);
  single.offset = offset + before;
  single.size = at_end ? size - before : payload;
  single.first = first && index == 0;
  single.last = last && at_end;
  single.ack_request = ack_request && at_end;
  single.solicited = solicited && at_end;
  single.has_immediate = has_immediate && at_end;
  single.has_invalidate = has_invalidate && at_end;
  return single;
}

Transport Transport::After(uint32_t count) const {
  Transport rest = *this;
  if (count == 0) return rest;
  const size_t before = size_t{count} * payload;
  rest.packets = packets - count;
  rest.psn = wire::PsnAfter(psn, count);
  rest.offset = offset + before;
  rest.size = size - before;
  rest.first = false;
  return rest;
}

uint32_t Transport::Bytes() const {
  constexpr uint32_t kBth = 12, kReth = 16, kAeth = 4, kDeth = 8;
  constexpr uint32_t kAtomicEth = 28, kAtomicAckEth = 8, kImmediate = 4;
  constexpr uint32_t kIeth = 4;
  const bool atomic_response = operation == Operation::kAtomicResponse;
  uint32_t extra = 0;
  if ((operation == Operation::kWrite && first) ||
      operation == Operation::kReadRequest) {
    extra += kReth;
  }
  if (operation == Operation::kAcknowledge || atomic_response) extra += kAeth;
  if (operation == Operation::kReadResponse) {
    // The first and the last packet have an AETH; they may be the same.
    extra += first ? kAeth : 0;
    extra += last && !(first && packets == 1) ? kAeth : 0;
  }
  if (service == verbs::QpType::kUd) extra += kDeth;
  if (IsAtomic()) extra += kAtomicEth;
  if (atomic_response) extra += kAtomicAckEth;
  if (has_immediate) extra += kImmediate;
  if (has_invalidate) extra += kIeth;
  return packets * kBth + extra +
         static_cast<uint32_t>((size + 3) & ~size_t{3});
}

}  // namespace ibemu::fabric

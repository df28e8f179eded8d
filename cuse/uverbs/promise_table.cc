#include "cuse/uverbs/promise_table.h"

namespace ibemu::cuse {
namespace {

uint64_t Name(uint32_t handle, uint32_t changes) {
  return uint64_t{changes} << 32 | (uint64_t{handle} + 1);
}

}  // namespace

// A datagram's address handle is looked at when it is posted, so its sender
// waits.
void PromiseTable::Set(uint32_t handle, const verbs::QpObject* qp) {
  fast_path::QueuePairPromise& told = told_[handle % kPlaces];
  Place& place = PlaceOf(handle);
  const bool is_known = place.handle == handle;
  if (qp == nullptr) {
    if (!is_known) return;
    place.handle = std::nullopt;
    told.queue_pair = 0;
    return;
  }
  if (!is_known) {
    told.queue_pair = 0;
    const verbs::QpCapacity capacity = qp->qp->capacity();
    told.type = static_cast<uint32_t>(qp->type);
    told.send_sges = capacity.send_sges;
    told.receive_sges = capacity.receive_sges;
    told.inline_bytes = capacity.inline_bytes;
    told.freed = uint64_t{++place.changes} << 32;
    place.freed = 0;
  }
  const auto promise = qp->qp->promise();
  place.takes_sends = promise && qp->type != verbs::QpType::kUd;
  told.sends_until =
      uint64_t{place.freed} << 32 |
      place.sends.Promise(place.takes_sends ? promise->sends : 0);
  told.receives_until = place.receives.Promise(promise ? promise->receives : 0);
  if (is_known) return;
  place.handle = handle;
  told.queue_pair = Name(handle, place.changes);
}

uint64_t PromiseTable::NameOfSender(uint32_t handle) const {
  const Place& place = places_[handle % kPlaces];
  return place.handle == handle && place.takes_sends
             ? Name(handle, place.changes)
             : 0;
}

void PromiseTable::OnFreed(uint64_t name, uint32_t entries) {
  const auto handle = static_cast<uint32_t>(name) - 1;
  if (name != 0 && NameOfSender(handle) == name) {
    PlaceOf(handle).freed += entries;
  }
}

}  // namespace ibemu::cuse

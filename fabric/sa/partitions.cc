#include "fabric/sa/partitions.h"

#include "wire/types.h"

namespace ibemu::fabric {
namespace {

bool HasDefaultTable(const NodePort& port) {
  return !port.tables || port.tables->p_keys.empty();
}

int Entries(const NodePort& port) {
  return HasDefaultTable(port) ? 1
                               : static_cast<int>(port.tables->p_keys.size());
}

}  // namespace

uint16_t CommonPKey(const NodePort& a, const NodePort& b) {
  if (HasDefaultTable(a) && HasDefaultTable(b)) return kDefaultPKey;
  for (int i = 0; i < Entries(a); ++i) {
    const uint16_t key = a.PKeyAt(i);
    if (b.FindPKey(key) >= 0) return key;
  }
  return 0;
}

bool ShareAPKey(const NodePort& a, const NodePort& b) {
  return &a == &b || CommonPKey(a, b) != 0;
}

bool ShareThisPKey(const NodePort& a, const NodePort& b, uint16_t p_key) {
  for (int i = 0; i < Entries(a); ++i) {
    const uint16_t key = a.PKeyAt(i);
    if (((key ^ p_key) & ~kFullMemberBit & 0xffff) != 0) continue;
    if (b.FindPKey(key) >= 0) return true;
  }
  return false;
}

bool IsInPartition(const NodePort& port, uint16_t p_key) {
  // A port that may talk to a full member is a member.
  return port.FindPKey(p_key | kFullMemberBit) >= 0;
}

}  // namespace ibemu::fabric

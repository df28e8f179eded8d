// PKeyIndexOf(): where a port has the P_Key of a partition.
#ifndef IBEMU_MAD_SA_PKEY_INDEX_H_
#define IBEMU_MAD_SA_PKEY_INDEX_H_

#include <cstdint>
#include <optional>

#include "mad/port.h"

namespace ibemu::mad {

// Returns the index of the port's entry for the partition of `p_key`: that of a
// full member if there is one, or else that of a limited one.  The membership
// bit of `p_key` does not count, as in ib_find_cached_pkey() of Linux.
inline std::optional<uint16_t> PKeyIndexOf(const Port& port, uint16_t p_key) {
  constexpr unsigned kPartition = 0x7fff, kFullMember = 0x8000;
  std::optional<uint16_t> limited;
  for (int i = 0; i < port.PKeyCount(); ++i) {
    const unsigned entry = port.PKeyAt(i);
    if ((entry & kPartition) == 0 || ((entry ^ p_key) & kPartition) != 0) {
      continue;
    }
    if ((entry & kFullMember) != 0) return static_cast<uint16_t>(i);
    if (!limited) limited = static_cast<uint16_t>(i);
  }
  return limited;
}

}  // namespace ibemu::mad

#endif  // IBEMU_MAD_SA_PKEY_INDEX_H_

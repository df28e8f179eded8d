// SetOption(): the values of SET_OPTION.
#ifndef IBEMU_CUSE_RDMA_CM_OPTIONS_H_
#define IBEMU_CUSE_RDMA_CM_OPTIONS_H_

#include <cstddef>
#include <cstdint>

#include "cuse/errno.h"
#include "mad/address.h"
#include "rdma_cm/id.h"

namespace ibemu::cuse {

// Values are some bytes, or paths, of which the first that can be used counts.
// A longer one is invalid.
inline constexpr size_t kLongestOption = 64 << 10;

// Sets option `name` of `level` (RDMA_OPTION_*) of an id.
Errno SetOption(rdma_cm::Id& id, uint32_t level, uint32_t name,
                mad::Bytes value);

}  // namespace ibemu::cuse

#endif  // IBEMU_CUSE_RDMA_CM_OPTIONS_H_

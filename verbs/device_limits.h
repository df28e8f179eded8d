// What a device has no room for, as its own QUERY_DEVICE says it.
#ifndef IBEMU_VERBS_DEVICE_LIMITS_H_
#define IBEMU_VERBS_DEVICE_LIMITS_H_

#include <cstdint>

#include "absl/status/status.h"
#include "verbs/provider.h"

namespace ibemu::verbs {

// Errors of all: InvalidArgument.
absl::Status CheckCqSize(const DeviceAttributes& device, uint32_t size);
absl::Status CheckSrq(const DeviceAttributes& device,
                      const SrqAttributes& attributes);
// `most_inline`: bytes.
absl::Status CheckCapacity(const DeviceAttributes& device,
                           const QpCapacity& capacity, uint32_t most_inline);

// `gids`: entries of a port's table.
absl::Status CheckAddress(const DeviceAttributes& device, int gids,
                          const AddressAttributes& address);

// What a queue pair is to be modified to, those of `attributes` that its mask
// names.
absl::Status CheckQpAttributes(const DeviceAttributes& device, int gids,
                               const QpAttributes& attributes);

}  // namespace ibemu::verbs

#endif  // IBEMU_VERBS_DEVICE_LIMITS_H_

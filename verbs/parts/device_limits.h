// Checks of requests against the limits in a device's QUERY_DEVICE.
#ifndef IBEMU_VERBS_PARTS_DEVICE_LIMITS_H_
#define IBEMU_VERBS_PARTS_DEVICE_LIMITS_H_

#include <cstdint>

#include "absl/status/status.h"
#include "verbs/provider.h"

namespace ibemu::verbs {

// Errors of all these functions: InvalidArgument.

// Checks the size of a completion queue, in entries.
absl::Status CheckCqSize(const DeviceAttributes& device, uint32_t size);
// Checks size, SGEs per request and limit of a shared receive queue.
absl::Status CheckSrq(const DeviceAttributes& device,
                      const SrqAttributes& attributes);
// Checks the capacity of a queue pair.  `most_inline` is the largest amount of
// inline data, in bytes.
absl::Status CheckCapacity(const DeviceAttributes& device,
                           const QpCapacity& capacity, uint32_t most_inline);

// Checks port, LID, SL and GID index of an address.  `gids` is the number of
// entries in the port's GID table.
absl::Status CheckAddress(const DeviceAttributes& device, int gids,
                          const AddressAttributes& address);

// Checks, of the attributes to which a queue pair is to be modified, those that
// their mask names.  `gids`: as above.
absl::Status CheckQpAttributes(const DeviceAttributes& device, int gids,
                               const QpAttributes& attributes);

}  // namespace ibemu::verbs

#endif  // IBEMU_VERBS_PARTS_DEVICE_LIMITS_H_

// The device attributes (QUERY_DEVICE) of an mlx4 adapter.
#ifndef IBEMU_HCA_MLX4_CORE_VERBS_ATTRIBUTES_H_
#define IBEMU_HCA_MLX4_CORE_VERBS_ATTRIBUTES_H_

#include <cstdint>

#include "hca/mlx4/core/firmware_client.h"
#include "verbs/provider.h"

namespace ibemu::hca::mlx4 {

// The longest message in bytes, and its log.  Messages pass through memory of
// the driver, each in one contiguous buffer.
inline constexpr int kLogMaxMessage = 21;
inline constexpr uint32_t kMaxMessage = 1u << kLogMaxMessage;
inline constexpr uint32_t kMaxInline = 1024;  // bytes

// Returns the adapter's limits, or the driver's where those are lower.  The
// GUIDs and what PCI tells are left out.
verbs::DeviceAttributes DeviceAttributesOf(const FirmwareClient& firmware);

}  // namespace ibemu::hca::mlx4

#endif  // IBEMU_HCA_MLX4_CORE_VERBS_ATTRIBUTES_H_

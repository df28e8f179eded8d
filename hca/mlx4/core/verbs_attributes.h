// What QUERY_DEVICE says of an mlx4 adapter.
#ifndef IBEMU_HCA_MLX4_CORE_VERBS_ATTRIBUTES_H_
#define IBEMU_HCA_MLX4_CORE_VERBS_ATTRIBUTES_H_

#include <cstdint>

#include "hca/mlx4/core/firmware.h"
#include "verbs/provider.h"

namespace ibemu::hca::mlx4 {

// Messages pass through memory of the driver, each in one piece: the longest,
// in bytes, and as a power of two.
inline constexpr int kLogMaxMessage = 21;
inline constexpr uint32_t kMaxMessage = 1u << kLogMaxMessage;
inline constexpr uint32_t kMaxInline = 1024;  // bytes

// The adapter's limits, and ours where those are lower; without the GUIDs and
// what PCI says.
verbs::DeviceAttributes DeviceAttributesOf(const Firmware& firmware);

}  // namespace ibemu::hca::mlx4

#endif  // IBEMU_HCA_MLX4_CORE_VERBS_ATTRIBUTES_H_

// The adapter's identity and limits, as its query commands report them.
#ifndef IBEMU_HCA_MODEL_MLX4_CORE_ADAPTER_LIMITS_H_
#define IBEMU_HCA_MODEL_MLX4_CORE_ADAPTER_LIMITS_H_

#include <cstdint>

#include "hca/prm/mlx4_dev_cap.h"
#include "hca/prm/mlx4_query.h"

namespace ibemu::hca::model::mlx4 {

// Offsets in BAR 0 that QUERY_FW reports, in bytes, and those of MSI-X.
inline constexpr uint32_t kErrorBuffer = 0x78000;
inline constexpr uint32_t kErrorBufferWords = 16;
inline constexpr uint32_t kClearInterrupt = 0xf00d8;
inline constexpr uint32_t kMsixTable = 0x7c000;
inline constexpr uint32_t kMsixPending = 0x7d000;
inline constexpr int kMsixVectors = 64;
inline constexpr uint32_t kControlBarBytes = 1 << 20;
inline constexpr uint32_t kUarBarBytes = 8 << 20;

// The replies of a ConnectX-3 with firmware 2.42.5000, except for what is not
// modelled: no Ethernet, no SR-IOV, CQEs and EQEs of 32 bytes, no BlueFlame.
prm::QueryFw FirmwareInfo();
prm::QueryAdapter AdapterInfo();
prm::QueryDevCap DeviceCapabilities(int ports);

}  // namespace ibemu::hca::model::mlx4

#endif  // IBEMU_HCA_MODEL_MLX4_CORE_ADAPTER_LIMITS_H_

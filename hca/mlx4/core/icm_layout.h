// Where the adapter's tables lie in its context memory (ICM).
#ifndef IBEMU_HCA_MLX4_CORE_ICM_LAYOUT_H_
#define IBEMU_HCA_MLX4_CORE_ICM_LAYOUT_H_

#include <array>
#include <cstddef>
#include <cstdint>

#include "absl/status/statusor.h"
#include "hca/prm/mlx4_dev_cap.h"
#include "hca/prm/mlx4_hca.h"

namespace ibemu::hca::mlx4 {

enum class IcmTable : uint8_t {
  kQp,
  kRdmaReads,
  kAlternatePath,
  kAuxiliary,
  kSrq,
  kCq,
  kEq,
  kMpt,
  kMtt,
  kMulticast,
  // The cMPTs: one of each kind's objects.
  kQpMpt,
  kSrqMpt,
  kCqMpt,
  kEqMpt,
};
inline constexpr size_t kIcmTables = 14;

struct IcmRegion {
  uint64_t start = 0;       // ICM address
  uint64_t entry_size = 0;  // bytes, a power of two
  int log_entries = 0;
  uint64_t firmware_entries = 0;  // the first ones, which firmware keeps

  uint64_t entries() const { return uint64_t{1} << log_entries; }
  uint64_t size() const { return entry_size << log_entries; }
};

struct IcmLayout {
  std::array<IcmRegion, kIcmTables> regions;
  uint64_t size = 0;  // of all, in bytes; most of it is never mapped

  const IcmRegion& operator[](IcmTable table) const {
    return regions[static_cast<size_t>(table)];
  }
  IcmRegion& operator[](IcmTable table) {
    return regions[static_cast<size_t>(table)];
  }
};

// RDMA reads that a queue pair may have open: 2 to the power of it.
inline constexpr int kLogRdmaReads = 4;
// Bytes of a multicast group: 2 to the power of it.
inline constexpr int kLogMulticastEntry = 10;

// Event queues that firmware keeps: those whose doorbells would be on a UAR
// page that it keeps, too (mlx4/main.c).
uint32_t ReservedEqs(const prm::QueryDevCap& caps);

// As many objects as ibemu has use for, and at least what firmware keeps for
// itself.  Tables are sorted by size, so that each begins at a multiple of its
// own (mlx4/profile.c).
//
// Errors: FailedPrecondition, they don't fit in what the adapter can address.
absl::StatusOr<IcmLayout> MakeIcmLayout(const prm::QueryDevCap& caps);

// The same as INIT_HCA wants it.
prm::HcaTables TablesOf(const IcmLayout& layout);

}  // namespace ibemu::hca::mlx4

#endif  // IBEMU_HCA_MLX4_CORE_ICM_LAYOUT_H_

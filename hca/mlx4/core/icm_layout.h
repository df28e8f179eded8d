// The places of the adapter's tables in its context memory (ICM).
#ifndef IBEMU_HCA_MLX4_CORE_ICM_LAYOUT_H_
#define IBEMU_HCA_MLX4_CORE_ICM_LAYOUT_H_

#include <array>
#include <cstddef>
#include <cstdint>

#include "absl/status/statusor.h"
#include "hca/prm/mlx4_dev_cap.h"
#include "hca/prm/mlx4_hca.h"

namespace ibemu::hca::mlx4 {

// The tables in ICM.
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
  // The cMPTs: one table for each kind of object.
  kQpMpt,
  kSrqMpt,
  kCqMpt,
  kEqMpt,
};
inline constexpr size_t kIcmTables = 14;

// The place and size of one table.
struct IcmRegion {
  uint64_t start = 0;       // ICM address
  uint64_t entry_size = 0;  // bytes, a power of two
  int log_entries = 0;
  uint64_t firmware_entries = 0;  // the first ones, which firmware keeps

  uint64_t entries() const { return uint64_t{1} << log_entries; }
  uint64_t size() const { return entry_size << log_entries; }
};

// The places of all tables.
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

// Log of the number of entries for RDMA READs of each queue pair.
inline constexpr int kLogRdmaReads = 4;
// Log of the bytes of a multicast group's entry.
inline constexpr int kLogMulticastEntry = 10;

// Returns the number of event queues that firmware keeps: also those whose
// doorbells would be on a UAR page that it keeps (mlx4/main.c).
uint32_t ReservedEqs(const prm::QueryDevCap& caps);

// Makes room for as many objects as ibemu has use for, and at least for those
// that firmware keeps for itself.  Tables are sorted by size, so that each
// begins at a multiple of its own size (mlx4/profile.c).
//
// Errors: FailedPrecondition if they don't fit in what the adapter can address.
absl::StatusOr<IcmLayout> MakeIcmLayout(const prm::QueryDevCap& caps);

// Returns the layout in the form of INIT_HCA.
prm::HcaTables TablesOf(const IcmLayout& layout);

}  // namespace ibemu::hca::mlx4

#endif  // IBEMU_HCA_MLX4_CORE_ICM_LAYOUT_H_

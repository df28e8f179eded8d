// IcmTables: the tables in the adapter's context memory (ICM), which is the
// host's.
#ifndef IBEMU_HCA_MLX4_CORE_ICM_TABLES_H_
#define IBEMU_HCA_MLX4_CORE_ICM_TABLES_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "hca/bus/pci_function.h"
#include "hca/mlx4/core/firmware_commands.h"
#include "hca/mlx4/core/icm_layout.h"

namespace ibemu::hca::mlx4 {

// Pieces of contiguous memory, in the order in which they are used.
using DmaPieces = std::vector<std::unique_ptr<DmaMemory>>;

// Allocates `pages` pages of prm::kIcmPageBytes, in pieces of kDmaPiece and one
// for the rest.
//
// Errors: those of PciFunction::Allocate(); ResourceExhausted above 1 GiB.
absl::StatusOr<DmaPieces> AllocatePages(PciFunction& function, uint64_t pages);

// Gives `memory`, which is whole pages, to the firmware: by MAP_FA or
// MAP_ICM_AUX, or by MAP_ICM with an ICM address, from which on the pieces
// follow each other (mlx4/fw.c, mlx4_map_cmd).
//
// Errors: InvalidArgument if a piece is not whole pages; those of commands.
absl::Status GivePages(FirmwareCommands& commands, prm::Opcode opcode,
                       std::optional<uint64_t> icm_address,
                       std::span<const std::unique_ptr<DmaMemory>> memory);

// The adapter's context tables, of which only a part is mapped: the entries
// that firmware keeps from the start, and the rest piece by piece when it is
// first used.
class IcmTables {
 public:
  // The size of a piece.  A larger one would need fewer commands, but leave
  // more memory unused where tables are sparse.
  static constexpr uint64_t kPiece = 0x10000;  // bytes

  // `function` and `commands` must outlive it.
  IcmTables(PciFunction& function, FirmwareCommands& commands,
            const IcmLayout& layout)
      : function_(function), commands_(commands), layout_(layout) {}

  const IcmLayout& layout() const { return layout_; }

  // Maps the entries that firmware keeps.
  absl::Status MapFirmwareEntries();

  // Maps the memory of `count` entries from `first` on, unless it is mapped.
  //
  // Errors: ResourceExhausted if the table has fewer entries; those of commands
  // and memory.
  absl::Status Map(IcmTable table, uint64_t first, uint64_t count = 1);

  // Returns bytes `offset` to `offset + size` of a table.  REQUIRES: they are
  // mapped, and in one piece.
  std::span<std::byte> At(IcmTable table, uint64_t offset, size_t size);

  // Takes all memory from the firmware.  It is not freed until this object is
  // destroyed, in case firmware that is dead uses it nevertheless.
  absl::Status UnmapAll();

 private:
  PciFunction& function_;
  FirmwareCommands& commands_;
  const IcmLayout layout_;
  std::map<uint64_t, std::unique_ptr<DmaMemory>> pieces_;  // by ICM address
};

}  // namespace ibemu::hca::mlx4

#endif  // IBEMU_HCA_MLX4_CORE_ICM_TABLES_H_

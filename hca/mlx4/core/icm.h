// The adapter's context memory, which is the host's: ICM.
#ifndef IBEMU_HCA_MLX4_CORE_ICM_H_
#define IBEMU_HCA_MLX4_CORE_ICM_H_

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
#include "hca/mlx4/core/commands.h"
#include "hca/mlx4/core/icm_layout.h"

namespace ibemu::hca::mlx4 {

// Each in one piece, in the order of what they are for.
using DmaPieces = std::vector<std::unique_ptr<DmaMemory>>;

// `pages` of prm::kIcmPageBytes, in pieces of kDmaPiece and what is left.
//
// Errors: those of PciFunction::Allocate(); ResourceExhausted, above 1 GiB.
absl::StatusOr<DmaPieces> AllocatePages(PciFunction& function, uint64_t pages);

// Gives `memory`, whole pages, to the firmware: MAP_FA, MAP_ICM_AUX, and with
// an ICM address, from which on the pieces follow each other, MAP_ICM
// (mlx4/fw.c, mlx4_map_cmd).
absl::Status GivePages(Commands& commands, prm::Opcode opcode,
                       std::optional<uint64_t> icm_address,
                       std::span<const std::unique_ptr<DmaMemory>> memory);

// Tables of which a part is mapped: what firmware keeps from the start, and the
// rest piece by piece when it is used first.
class Icm {
 public:
  // Mapped at once: fewer commands, and unused memory where tables are sparse.
  static constexpr uint64_t kPiece = 0x10000;  // bytes

  // `function` and `commands` must outlive it.
  Icm(PciFunction& function, Commands& commands, const IcmLayout& layout)
      : function_(function), commands_(commands), layout_(layout) {}

  const IcmLayout& layout() const { return layout_; }

  // Maps what firmware keeps.
  absl::Status MapFirmwareEntries();

  // Maps what `count` entries from `first` lie in, unless it is mapped.
  //
  // Errors: ResourceExhausted, the table has fewer; those of commands and
  // memory.
  absl::Status Map(IcmTable table, uint64_t first, uint64_t count = 1);

  // Bytes `offset` to `offset + size` of a table, which are mapped, and in one
  // piece.
  std::span<std::byte> At(IcmTable table, uint64_t offset, size_t size);

  // Takes all from the firmware.  The memory itself stays until this goes, in
  // case firmware that is dead uses it nevertheless.
  absl::Status UnmapAll();

 private:
  PciFunction& function_;
  Commands& commands_;
  const IcmLayout layout_;
  std::map<uint64_t, std::unique_ptr<DmaMemory>> pieces_;  // by ICM address
};

}  // namespace ibemu::hca::mlx4

#endif  // IBEMU_HCA_MLX4_CORE_ICM_H_

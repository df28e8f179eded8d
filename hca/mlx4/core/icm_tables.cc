#include "hca/mlx4/core/icm_tables.h"

#include <algorithm>
#include <bit>
#include <cassert>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "hca/prm/mlx4_memory.h"
#include "hca/prm/mlx4_registers.h"

namespace ibemu::hca::mlx4 {
namespace {

using Mapping = prm::VirtualPhysicalMapping;

constexpr size_t kMappingsInMailbox =
    prm::kMailboxBytes / wire::kBytes<Mapping>;

// So far firmware has asked for some MiB for itself.  Firmware that wants more
// than this is broken, and would take all of the machine's memory.
constexpr uint64_t kMaxPages = (uint64_t{1} << 30) / prm::kIcmPageBytes;

constexpr uint64_t ToPages(uint64_t bytes) {
  return bytes >> prm::kIcmPageShift;
}

// Returns the log of the size of the largest chunk at `place` that is aligned
// to its size and has at most `left` bytes.  `place`: an address, or the
// bitwise OR of two.
int LogOfChunk(uint64_t place, uint64_t left) {
  return std::min(std::countr_zero(place),
                  static_cast<int>(std::bit_width(left)) - 1);
}

// Returns the size of a table's pieces.  A piece ends where its table does,
// because another table follows.
uint64_t PieceSize(const IcmRegion& region) {
  return std::clamp<uint64_t>(region.size(), prm::kIcmPageBytes,
                              IcmTables::kPiece);
}

}  // namespace

absl::StatusOr<DmaPieces> AllocatePages(PciFunction& function, uint64_t pages) {
  if (pages > kMaxPages) {
    return absl::ResourceExhaustedError(absl::StrCat(
        "the firmware asks for ", pages, " pages of ", prm::kIcmPageBytes,
        " bytes, and gets at most ", kMaxPages));
  }
  DmaPieces pieces;
  for (uint64_t left = pages * prm::kIcmPageBytes; left != 0;) {
    const uint64_t size = std::min<uint64_t>(left, kDmaPiece);
    IBEMU_ASSIGN_OR_RETURN(std::unique_ptr<DmaMemory> piece,
                           function.Allocate(size));
    pieces.push_back(std::move(piece));
    left -= size;
  }
  return pieces;
}

absl::Status GivePages(FirmwareCommands& commands, prm::Opcode opcode,
                       std::optional<uint64_t> icm_address,
                       std::span<const std::unique_ptr<DmaMemory>> memory) {
  std::vector<std::byte> mailbox;
  const auto flush = [&] {
    const auto count =
        static_cast<uint32_t>(mailbox.size() / wire::kBytes<Mapping>);
    absl::Status sent = commands.Send(
        opcode, std::span<const std::byte>(mailbox), {.in = count});
    mailbox.clear();
    return sent;
  };
  uint64_t icm = icm_address.value_or(0);
  for (const std::unique_ptr<DmaMemory>& piece : memory) {
    const uint64_t start = piece->iova();
    const uint64_t size = piece->bytes().size();
    if ((start | size | icm) % prm::kIcmPageBytes != 0) {
      return absl::InvalidArgumentError(
          absl::StrCat("firmware takes whole pages of ", prm::kIcmPageBytes,
                       " bytes, not ", size, " from ", start));
    }
    for (uint64_t at = 0; at < size;) {
      const uint64_t icm_place = icm_address ? icm + at : 0;
      const int log = LogOfChunk((start + at) | icm_place, size - at);
      wire::Append(
          Mapping{.virtual_page = ToPages(icm_place),
                  .physical_page = ToPages(start + at),
                  .log2size = static_cast<uint8_t>(log - prm::kIcmPageShift)},
          mailbox);
      at += uint64_t{1} << log;
      if (mailbox.size() == kMappingsInMailbox * wire::kBytes<Mapping>) {
        IBEMU_RETURN_IF_ERROR(flush());
      }
    }
    if (icm_address) icm += size;
  }
  return mailbox.empty() ? absl::OkStatus() : flush();
}

absl::Status IcmTables::MapFirmwareEntries() {
  for (size_t i = 0; i < kIcmTables; ++i) {
    const auto table = static_cast<IcmTable>(i);
    if (const uint64_t kept = layout_[table].firmware_entries; kept != 0) {
      IBEMU_RETURN_IF_ERROR(Map(table, 0, kept));
    }
  }
  return absl::OkStatus();
}

absl::Status IcmTables::Map(IcmTable table, uint64_t first, uint64_t count) {
  const IcmRegion& region = layout_[table];
  if (first + count > region.entries()) {
    return absl::ResourceExhaustedError(absl::StrCat(
        "the adapter's context table ", static_cast<int>(table), " has ",
        region.entries(), " entries, not ", first + count));
  }
  const uint64_t size = PieceSize(region);
  const uint64_t end = (first + count) * region.entry_size;
  for (uint64_t at = first * region.entry_size / size * size; at < end;
       at += size) {
    std::unique_ptr<DmaMemory>& piece = pieces_[region.start + at];
    if (piece) continue;
    auto memory = function_.Allocate(size);
    if (!memory.ok()) {
      pieces_.erase(region.start + at);
      return memory.status();
    }
    piece = *std::move(memory);
    absl::Status given = GivePages(commands_, prm::Opcode::kMapIcm,
                                   region.start + at, std::span(&piece, 1));
    // Firmware that does not answer may use the memory until the reset, so it
    // is freed only after a refusal.
    if (IsRefusal(given)) pieces_.erase(region.start + at);
    IBEMU_RETURN_IF_ERROR(given);
  }
  return absl::OkStatus();
}

std::span<std::byte> IcmTables::At(IcmTable table, uint64_t offset,
                                   size_t size) {
  const IcmRegion& region = layout_[table];
  const uint64_t piece_size = PieceSize(region);
  const auto piece =
      pieces_.find(region.start + offset / piece_size * piece_size);
  assert(piece != pieces_.end());
  return piece->second->bytes().subspan(offset % piece_size, size);
}

absl::Status IcmTables::UnmapAll() {
  for (const auto& [address, memory] : pieces_) {
    const auto pages = static_cast<uint32_t>(ToPages(memory->bytes().size()));
    IBEMU_RETURN_IF_ERROR(
        commands_.Run(prm::Opcode::kUnmapIcm, {.in = pages}, address).status());
  }
  return absl::OkStatus();
}

}  // namespace ibemu::hca::mlx4

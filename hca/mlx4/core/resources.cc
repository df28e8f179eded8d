#include "hca/mlx4/core/resources.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "hca/bus/address_space.h"
#include "hca/mlx4/core/icm_layout.h"
#include "hca/prm/mlx4_memory.h"
#include "hca/prm/mlx4_registers.h"

namespace ibemu::hca::mlx4 {
namespace {

// The number of UAR pages that are reserved for event queues (mlx4/pd.c,
// mlx4_init_uar_table).
constexpr uint32_t kEqUars = 128;

constexpr size_t kMtt = wire::kBytes<prm::MttEntry>;
// The adapter reads translations in cache lines, so they are allocated by the
// line.
constexpr uint64_t kMttsTogether = 8;

RangePool OursOf(const IcmRegion& region) {
  RangePool pool;
  pool.Add(region.firmware_entries, region.entries() - region.firmware_entries);
  return pool;
}

RangePool OursOfEqs(FirmwareClient& firmware) {
  RangePool pool;
  const uint64_t kept = ReservedEqs(firmware.caps());
  pool.Add(kept, firmware.icm().layout()[IcmTable::kEq].entries() - kept);
  return pool;
}

// A pool of single translations, whatever the firmware calls an entry.
RangePool OursOfMtts(const IcmRegion& region) {
  RangePool pool;
  const uint64_t kept = region.firmware_entries * region.entry_size / kMtt;
  pool.Add(kept, region.size() / kMtt - kept);
  return pool;
}

uint64_t RoundUp(uint64_t count) {
  return (count + kMttsTogether - 1) / kMttsTogether * kMttsTogether;
}

}  // namespace

Resources::Resources(Mlx4Adapter& adapter)
    : adapter_(adapter),
      icm_(adapter.firmware().icm()),
      pd_(adapter.firmware().caps().num_rsvd_pd),
      uar_page_(
          std::max<uint32_t>(kEqUars, adapter.firmware().caps().num_rsvd_uar) +
          1),
      eqs_(OursOfEqs(adapter.firmware())),
      cqs_(OursOf(icm_.layout()[IcmTable::kCq])),
      qps_(OursOf(icm_.layout()[IcmTable::kQp])),
      srqs_(OursOf(icm_.layout()[IcmTable::kSrq])),
      mpts_(OursOf(icm_.layout()[IcmTable::kMpt])),
      mtts_(OursOfMtts(icm_.layout()[IcmTable::kMtt])) {}

absl::StatusOr<uint32_t> Resources::Take(RangePool& pool, const char* what,
                                         std::initializer_list<IcmTable> tables,
                                         uint32_t count, uint32_t alignment) {
  std::optional<uint64_t> first = pool.Take(count, alignment);
  if (!first && !resting_.empty()) {
    ReadEvents();
    first = pool.Take(count, alignment);
  }
  if (!first) {
    return absl::ResourceExhaustedError(
        absl::StrCat("the adapter has no more ", what));
  }
  for (const IcmTable table : tables) {
    const uint64_t each =
        table == IcmTable::kRdmaReads ? uint64_t{1} << kLogRdmaReads : 1;
    const absl::Status mapped = icm_.Map(table, *first * each, count * each);
    if (mapped.ok()) continue;
    pool.Return(*first, count);
    return mapped;
  }
  return static_cast<uint32_t>(*first);
}

absl::StatusOr<uint32_t> Resources::TakeEq() {
  IBEMU_ASSIGN_OR_RETURN(
      const uint32_t number,
      Take(eqs_, "event queues", {IcmTable::kEq, IcmTable::kEqMpt}));
  if (const absl::Status there = CheckUar(number / prm::kEqsPerUar);
      !there.ok()) {
    ReturnEq(number);
    return there;
  }
  return number;
}

absl::StatusOr<uint32_t> Resources::TakeCq() {
  return Take(cqs_, "completion queues", {IcmTable::kCq, IcmTable::kCqMpt});
}

absl::StatusOr<uint32_t> Resources::TakeQps(uint32_t count,
                                            uint32_t alignment) {
  return Take(qps_, "queue pairs",
              {IcmTable::kQp, IcmTable::kAuxiliary, IcmTable::kAlternatePath,
               IcmTable::kRdmaReads, IcmTable::kQpMpt},
              count, alignment);
}

absl::StatusOr<uint32_t> Resources::TakeSrq() {
  return Take(srqs_, "shared receive queues",
              {IcmTable::kSrq, IcmTable::kSrqMpt});
}

void Resources::EndRest() {
  for (const Resting& rest : std::exchange(resting_, {})) {
    rest.pool->Return(rest.first, rest.count);
  }
}

absl::StatusOr<uint32_t> Resources::TakeMpt() {
  return Take(mpts_, "memory regions", {IcmTable::kMpt});
}

absl::StatusOr<uint64_t> Resources::TakeMtts(std::span<const uint64_t> pages) {
  const uint64_t count = RoundUp(pages.size());
  const std::optional<uint64_t> first = mtts_.Take(count, kMttsTogether);
  if (!first) {
    return absl::ResourceExhaustedError("the adapter has no more translations");
  }
  const uint64_t place = *first * kMtt;
  const uint64_t entry = icm_.layout()[IcmTable::kMtt].entry_size;
  const uint64_t last = place + count * kMtt - 1;
  const absl::Status mapped =
      icm_.Map(IcmTable::kMtt, place / entry, last / entry - place / entry + 1);
  if (!mapped.ok()) {
    mtts_.Return(*first, count);
    return mapped;
  }
  for (size_t i = 0; i < pages.size(); ++i) {
    wire::Encode(prm::MttEntry{.page = pages[i] >> 3, .present = true},
                 icm_.At(IcmTable::kMtt, place + i * kMtt, kMtt));
  }
  return place;
}

void Resources::ReturnMtts(uint64_t place, size_t pages) {
  mtts_.Return(place / kMtt, RoundUp(pages));
}

absl::Status Resources::CheckUar(uint32_t page) const {
  const size_t pages = adapter_.uars().size() / prm::kUarPageSize;
  if (page < pages) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat("the adapter's BAR 2 has ", pages,
                   " pages of doorbells, and by what its firmware keeps ours "
                   "is number ",
                   page));
}

size_t Resources::SendDoorbell() const {
  return uar_page_ * prm::kUarPageSize + prm::kSendDoorbell;
}

size_t Resources::CqDoorbell() const {
  return uar_page_ * prm::kUarPageSize + prm::kCqDoorbell;
}

size_t Resources::EqDoorbell(uint32_t eqn) const {
  return eqn / prm::kEqsPerUar * prm::kUarPageSize + prm::kEqDoorbell +
         size_t{8} * (eqn % prm::kEqsPerUar);
}

absl::StatusOr<std::unique_ptr<QueueMemory>> QueueMemory::Create(
    Resources& resources, size_t size) {
  IBEMU_ASSIGN_OR_RETURN(std::unique_ptr<DmaMemory> memory,
                         resources.adapter().function().Allocate(size));
  std::ranges::fill(memory->bytes(), std::byte{0xff});
  std::vector<uint64_t> pages;
  for (uint64_t at = 0; at < size; at += kPageSize) {
    pages.push_back(memory->iova() + at);
  }
  IBEMU_ASSIGN_OR_RETURN(const uint64_t mtts, resources.TakeMtts(pages));
  return std::unique_ptr<QueueMemory>(
      new QueueMemory(resources, std::move(memory), mtts, pages.size()));
}

}  // namespace ibemu::hca::mlx4

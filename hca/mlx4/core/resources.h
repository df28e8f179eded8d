// Resources: the parts that queues are made of: numbers, memory, translations,
// doorbells.
#ifndef IBEMU_HCA_MLX4_CORE_RESOURCES_H_
#define IBEMU_HCA_MLX4_CORE_RESOURCES_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "hca/bus/pci_function.h"
#include "hca/bus/range_pool.h"
#include "hca/mlx4/core/icm_tables.h"
#include "hca/mlx4/core/mlx4_adapter.h"

namespace ibemu::hca::mlx4 {

// The resources of one adapter while it is up.
class Resources {
 public:
  // `adapter` must outlive it.
  explicit Resources(Mlx4Adapter& adapter);

  Mlx4Adapter& adapter() { return adapter_; }
  FirmwareCommands& commands() { return adapter_.commands(); }

  // Take numbers of objects, and map what belongs to them in context memory.
  //
  // Errors: ResourceExhausted; those of IcmTables::Map(); FailedPrecondition if
  // BAR 2 ends before the doorbells of this event queue.
  absl::StatusOr<uint32_t> TakeEq();
  absl::StatusOr<uint32_t> TakeCq();
  absl::StatusOr<uint32_t> TakeQps(uint32_t count, uint32_t alignment);
  absl::StatusOr<uint32_t> TakeSrq();
  absl::StatusOr<uint32_t> TakeMpt();
  void ReturnEq(uint32_t number) { eqs_.Return(number); }
  // Events may still name these objects, so nobody else gets the numbers before
  // EndRest().
  void ReturnCq(uint32_t number) { resting_.push_back({&cqs_, number, 1}); }
  void ReturnQps(uint32_t first, uint32_t count) {
    resting_.push_back({&qps_, first, count});
  }
  void ReturnSrq(uint32_t number) { resting_.push_back({&srqs_, number, 1}); }
  // Called when all events that were written until now have been read.
  void EndRest();

  // Sets the function that reads all events that are there; ReadEvents() does
  // nothing before that.
  void SetEventReader(std::function<void()> read) { read_ = std::move(read); }
  void ReadEvents() { read_(); }

  // Writes translations of whole pages, given by bus address, one after the
  // other.  Returns their place in bytes from mtt_base, as contexts need it.
  //
  // Errors: as above.
  absl::StatusOr<uint64_t> TakeMtts(std::span<const uint64_t> pages);
  void ReturnMtts(uint64_t place, size_t pages);

  // The protection domain of all objects of the driver: the first that is not
  // firmware's.
  uint32_t pd() const { return pd_; }
  // The page of doorbells (UAR) that all queues of the driver share.
  uint32_t uar_page() const { return uar_page_; }
  // Checks that BAR 2 has that page.  Errors: FailedPrecondition.
  absl::Status CheckUarPage() const { return CheckUar(uar_page_); }
  // Offsets of doorbells in BAR 2.
  size_t SendDoorbell() const;
  size_t CqDoorbell() const;
  size_t EqDoorbell(uint32_t eqn) const;

 private:
  absl::Status CheckUar(uint32_t page) const;
  absl::StatusOr<uint32_t> Take(RangePool& pool, const char* what,
                                std::initializer_list<IcmTable> tables,
                                uint32_t count = 1, uint32_t alignment = 1);

  Mlx4Adapter& adapter_;
  IcmTables& icm_;
  const uint32_t pd_;
  const uint32_t uar_page_;
  RangePool eqs_, cqs_, qps_, srqs_, mpts_, mtts_;
  struct Resting {
    RangePool* pool;
    uint64_t first, count;
  };
  std::vector<Resting> resting_;
  std::function<void()> read_ = [] {};
};

// The memory of a queue, which the adapter finds by translation (MTTs).
class QueueMemory {
 public:
  // Allocates memory that is filled with ones, so that nothing in it is valid.
  // `size`: bytes, whole pages.
  //
  // Errors: those of PciFunction::Allocate() and Resources::TakeMtts().
  static absl::StatusOr<std::unique_ptr<QueueMemory>> Create(
      Resources& resources, size_t size);
  ~QueueMemory() { resources_.ReturnMtts(mtts_, pages_); }
  QueueMemory(const QueueMemory&) = delete;
  QueueMemory& operator=(const QueueMemory&) = delete;

  std::span<std::byte> bytes() { return memory_->bytes(); }
  uint64_t mtts() const { return mtts_; }

 private:
  QueueMemory(Resources& resources, std::unique_ptr<DmaMemory> memory,
              uint64_t mtts, size_t pages)
      : resources_(resources),
        memory_(std::move(memory)),
        mtts_(mtts),
        pages_(pages) {}

  Resources& resources_;
  const std::unique_ptr<DmaMemory> memory_;
  const uint64_t mtts_;
  const size_t pages_;
};

}  // namespace ibemu::hca::mlx4

#endif  // IBEMU_HCA_MLX4_CORE_RESOURCES_H_

#include "hca/mlx4/core/mlx4_eq.h"

#include <algorithm>

#include "base/status_macros.h"
#include "hca/bus/address_space.h"
#include "hca/bus/big_endian.h"
#include "hca/mlx4/core/queue_entry.h"
#include "hca/prm/mlx4_registers.h"

namespace ibemu::hca::mlx4 {
namespace {

// The adapter considers the queue full unless it is told the consumer index
// this often.
constexpr uint32_t kEventsBetweenDoorbells = 64;

}  // namespace

absl::StatusOr<std::unique_ptr<Mlx4Eq>> Mlx4Eq::Create(Resources& resources,
                                                       int log_entries,
                                                       int vector) {
  IBEMU_ASSIGN_OR_RETURN(
      std::unique_ptr<QueueMemory> memory,
      QueueMemory::Create(resources,
                          RoundUpToPage(kQueueEntry << log_entries)));
  IBEMU_ASSIGN_OR_RETURN(const uint32_t number, resources.TakeEq());
  std::unique_ptr<Mlx4Eq> queue(
      new Mlx4Eq(resources, number, log_entries, std::move(memory)));
  prm::EqContext context;
  context.state = prm::kEqArmed;
  context.log_eq_size = static_cast<uint8_t>(log_entries);
  context.intr = static_cast<uint16_t>(vector);
  context.mtt_base_addr = queue->memory_->mtts();
  IBEMU_RETURN_IF_ERROR(
      resources.adapter().Give(prm::Opcode::kSw2HwEq, context, {.in = number}));
  queue->running_ = true;
  return queue;
}

Mlx4Eq::~Mlx4Eq() {
  Mlx4Adapter& adapter = resources_.adapter();
  if (subscribed_ != 0) {
    adapter.TakeDown(prm::Opcode::kMapEq, {.in = number_ | prm::kMapEqUnmap},
                     subscribed_);
  }
  if (running_) {
    adapter.TakeDown(prm::Opcode::kHw2SwEq,
                     {.in = number_, .op = prm::kNoOutbox});
  }
  resources_.ReturnEq(number_);
}

absl::Status Mlx4Eq::Subscribe(uint64_t mask) {
  IBEMU_RETURN_IF_ERROR(resources_.commands()
                            .Run(prm::Opcode::kMapEq, {.in = number_}, mask)
                            .status());
  subscribed_ = mask;
  RingDoorbell(/*arm=*/true);
  return absl::OkStatus();
}

bool Mlx4Eq::Poll(const std::function<void(const prm::Eqe&)>& handle) {
  uint32_t untold = 0;
  bool all = false;
  // At most one queue's worth: the handling of each event may cause another,
  // without end.  The queue is then armed and signals those.
  for (uint32_t left = 1u << log_entries_; left != 0; --left) {
    const auto entry = FindEntry(memory_->bytes(), log_entries_, next_);
    all = entry.empty();
    if (all) break;
    const auto event = wire::Decode<prm::Eqe>(entry);
    ++next_;
    if (++untold == kEventsBetweenDoorbells) {
      RingDoorbell(/*arm=*/false);
      untold = 0;
    }
    handle(event);
  }
  RingDoorbell(/*arm=*/true);
  return all;
}

void Mlx4Eq::RingDoorbell(bool arm) {
  WriteBe32(resources_.adapter().uars(), resources_.EqDoorbell(number_),
            (next_ & prm::kEqIndexMask) | (arm ? prm::kEqArm : 0));
}

}  // namespace ibemu::hca::mlx4

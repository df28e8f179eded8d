#include "hca/mlx4/core/mlx4_cq.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>

#include "base/status_macros.h"
#include "hca/bus/address_space.h"
#include "hca/bus/big_endian.h"
#include "hca/mlx4/core/queue_entry.h"
#include "hca/prm/mlx4_registers.h"
#include "wire/layout.h"

namespace ibemu::hca::mlx4 {

absl::StatusOr<std::unique_ptr<Mlx4Cq>> Mlx4Cq::Create(Resources& resources,
                                                       int log_entries,
                                                       uint32_t eqn) {
  IBEMU_ASSIGN_OR_RETURN(
      std::unique_ptr<QueueMemory> memory,
      QueueMemory::Create(resources,
                          RoundUpToPage(kQueueEntry << log_entries)));
  IBEMU_ASSIGN_OR_RETURN(std::unique_ptr<DmaMemory> record,
                         resources.adapter().function().Allocate(
                             wire::kBytes<prm::CqDoorbellRecord>));
  IBEMU_ASSIGN_OR_RETURN(const uint32_t number, resources.TakeCq());
  std::unique_ptr<Mlx4Cq> queue(new Mlx4Cq(
      resources, number, log_entries, std::move(memory), std::move(record)));
  prm::CqContext context;
  context.log_cq_size = static_cast<uint8_t>(log_entries);
  context.usr_page = resources.uar_page();
  context.comp_eqn = static_cast<uint16_t>(eqn);
  context.mtt_base_addr = queue->memory_->mtts();
  context.db_record_addr = queue->doorbell_record_->iova();
  IBEMU_RETURN_IF_ERROR(
      resources.adapter().Give(prm::Opcode::kSw2HwCq, context, {.in = number}));
  queue->running_ = true;
  return queue;
}

Mlx4Cq::~Mlx4Cq() {
  if (running_) {
    resources_.adapter().TakeDown(prm::Opcode::kHw2SwCq,
                                  {.in = number_, .op = prm::kNoOutbox});
  }
  resources_.ReturnCq(number_);
}

uint32_t Mlx4Cq::index() const { return next_ & prm::kCqIndexMask; }

std::optional<Completion> Mlx4Cq::Poll() {
  const auto entry = FindEntry(memory_->bytes(), log_entries_, next_);
  if (entry.empty()) return std::nullopt;
  Completion completion;
  completion.entry = wire::Decode<prm::Cqe>(entry);
  if (completion.entry.opcode == prm::kCqeError) {
    completion.error = wire::Decode<prm::ErrorCqe>(entry);
  }
  ++next_;
  record_.consumer_index = next_ & prm::kCqIndexMask;
  WriteRecord(record_);
  return completion;
}

void Mlx4Cq::WriteRecord(const prm::CqDoorbellRecord& record) {
  std::array<std::byte, wire::kBytes<prm::CqDoorbellRecord>> bytes;
  wire::Encode(record, bytes);
  CopyWords(bytes, doorbell_record_->bytes().data());
}

void Mlx4Cq::Arm() {
  const uint32_t index = next_ & prm::kCqIndexMask;
  const auto sequence = static_cast<uint8_t>(arm_sequence_ & 3);
  record_ = {.consumer_index = index,
             .arm_sequence = sequence,
             .arm_command = prm::kCqArmNext,
             .arm_index = index};
  WriteRecord(record_);
  std::array<std::byte, wire::kBytes<prm::CqDoorbell>> doorbell;
  wire::Encode(prm::CqDoorbell{.sequence = sequence,
                               .command = prm::kCqArmNext,
                               .cqn = number_,
                               .consumer_index = index},
               doorbell);
  uint64_t value = 0;
  for (const std::byte byte : doorbell) {
    value = value << 8 | std::to_integer<uint64_t>(byte);
  }
  WriteBe64(resources_.adapter().uars(), resources_.CqDoorbell(), value);
}

}  // namespace ibemu::hca::mlx4

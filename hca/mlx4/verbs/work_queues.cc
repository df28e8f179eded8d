#include "hca/mlx4/verbs/work_queues.h"

#include <array>
#include <atomic>
#include <bit>

#include "base/status_macros.h"
#include "hca/bus/address_space.h"
#include "hca/bus/big_endian.h"
#include "hca/mlx4/core/queue_entry.h"
#include "hca/prm/mlx4_registers.h"
#include "hca/prm/mlx4_wqe.h"

namespace ibemu::hca::mlx4 {
namespace {

constexpr int kLogPointer = 4;         // of a receive WQE, which is one pointer
constexpr int kLogWqeUnit = 4;         // strides are in units of 16 bytes
constexpr uint32_t kReadAhead = 2048;  // bytes (hw/mlx4/qp.c, sq_spare_wqes)

size_t ReceiveBytes(int log_receives) {
  return log_receives < 0 ? 0 : size_t{1} << (log_receives + kLogPointer);
}

}  // namespace

int LogOf(uint32_t count) {
  return static_cast<int>(std::bit_width(std::bit_ceil(count)) - 1);
}

void WriteReceivePointer(const WqePointer& pointer, std::byte* place) {
  std::array<std::byte, wire::kBytes<prm::DataSegment>> wqe;
  const bool empty = pointer.size == 0;
  wire::Encode(
      prm::DataSegment{.byte_count = pointer.size,
                       .lkey = empty ? prm::kInvalidLKey : pointer.lkey,
                       .address = pointer.iova},
      wqe);
  CopyWords(wqe, place);
}

void WriteCounter(DmaMemory& record, uint32_t count) {
  std::atomic_thread_fence(std::memory_order_release);
  const std::array bytes = {std::byte{0}, std::byte{0},
                            static_cast<std::byte>(count >> 8),
                            static_cast<std::byte>(count)};
  CopyWords(bytes, record.bytes().data());
}

absl::StatusOr<std::unique_ptr<WorkQueues>> WorkQueues::Create(
    Resources& resources, int log_stride, uint32_t receives) {
  const int log_receives = receives == 0 ? -1 : LogOf(receives);
  const size_t sends = size_t{kSends} << log_stride;
  IBEMU_ASSIGN_OR_RETURN(
      std::unique_ptr<QueueMemory> memory,
      QueueMemory::Create(resources,
                          RoundUpToPage(sends + ReceiveBytes(log_receives))));
  IBEMU_ASSIGN_OR_RETURN(
      std::unique_ptr<DmaMemory> record,
      resources.adapter().function().Allocate(sizeof(uint32_t)));
  std::unique_ptr<WorkQueues> queues(
      new WorkQueues(resources, log_stride, log_receives, std::move(memory),
                     std::move(record)));
  queues->Reset();
  return queues;
}

WorkQueues::WorkQueues(Resources& resources, int log_stride, int log_receives,
                       std::unique_ptr<QueueMemory> memory,
                       std::unique_ptr<DmaMemory> record)
    : resources_(resources),
      log_stride_(log_stride),
      log_receives_(log_receives),
      spare_((kReadAhead >> log_stride) + 1),
      memory_(std::move(memory)),
      record_(std::move(record)) {}

// The send ring comes first, because its WQEs are longer.
void WorkQueues::Describe(prm::QpContext& context) const {
  context.log_sq_size = kLogSends;
  context.log_sq_stride = static_cast<uint8_t>(log_stride_ - kLogWqeUnit);
  if (log_receives_ >= 0) {
    context.log_rq_size = static_cast<uint8_t>(log_receives_);
    context.log_rq_stride = kLogPointer - kLogWqeUnit;
  }
  context.pd = resources_.pd();
  context.usr_page = resources_.uar_page();
  context.db_record_addr = record_->iova();
  context.mtt_base_addr = memory_->mtts();
}

void WorkQueues::Reset() {
  posted_ = sent_ = receives_posted_ = 0;
  for (uint32_t i = 0; i < kSends; ++i) Stamp(i);
  WriteCounter(*record_, 0);
}

std::byte* WorkQueues::SendPlace(uint32_t index) {
  return memory_->bytes().data() + (size_t{index % kSends} << log_stride_);
}

// Makes a WQE invalid to the adapter, which reads ahead: none of its segments
// starts with a valid byte count, and its owner bit is that of the previous
// round.
void WorkQueues::Stamp(uint32_t index) {
  constexpr std::array kInvalid = {std::byte{0xff}, std::byte{0xff},
                                   std::byte{0xff}, std::byte{0xff}};
  const bool owner = (index & kSends) == 0;
  const std::array head = {owner ? std::byte{0x80} : std::byte{0}, std::byte{0},
                           std::byte{0}, std::byte{0}};
  std::byte* const place = SendPlace(index);
  CopyWords(head, place);
  for (size_t at = prm::kInlineBoundary; at < size_t{1} << log_stride_;
       at += prm::kInlineBoundary) {
    CopyWords(kInvalid, place + at);
  }
}

void WorkQueues::PostSend(std::span<const std::byte> wqe) {
  std::byte* const place = SendPlace(posted_);
  std::array<std::byte, 4> head;
  std::copy_n(wqe.begin(), head.size(), head.begin());
  if ((posted_ & kSends) != 0) head[0] |= std::byte{0x80};
  CopyWords(wqe.subspan(head.size()), place + head.size());
  // The owner bit comes last, because it makes the rest valid to the adapter.
  std::atomic_thread_fence(std::memory_order_release);
  CopyWords(head, place);
  Stamp(posted_ + spare_);
  ++posted_;
}

void WorkQueues::Ring(uint32_t qpn) {
  WriteBe32(resources_.adapter().uars(), resources_.SendDoorbell(), qpn << 8);
}

void WorkQueues::PostReceive(const WqePointer& pointer) {
  const uint32_t slot = receives_posted_ & ((1u << log_receives_) - 1);
  WriteReceivePointer(pointer, memory_->bytes().data() +
                                   (size_t{kSends} << log_stride_) +
                                   (size_t{slot} << kLogPointer));
  WriteCounter(*record_, ++receives_posted_);
}

}  // namespace ibemu::hca::mlx4

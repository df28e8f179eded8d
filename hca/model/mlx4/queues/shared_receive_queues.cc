#include "hca/model/mlx4/queues/shared_receive_queues.h"

#include <array>

#include "hca/prm/mlx4_memory.h"
#include "hca/prm/mlx4_registers.h"

namespace ibemu::hca::model::mlx4 {

using Status = prm::CommandStatus;

namespace {

constexpr int kSrqStrideShift = 4;

QueueBuffer::Place PlaceOfSrq(const prm::SrqContext& context) {
  return {.mtt_base_addr = context.mtt_base_addr,
          .log_page_size = context.log_page_size + prm::kIcmPageShift,
          .page_offset = uint64_t{context.page_offset} * 64};
}

}  // namespace

ModelSrq::ModelSrq(Core& core, EventQueues& events, uint32_t number,
                   const prm::SrqContext& context)
    : core_(core),
      events_(events),
      number_(number),
      context_(context),
      buffer_(core, PlaceOfSrq(context)),
      count_(core.ended,
             {.kind = QueueKind::kShared, .size = 1u << context.log_srq_size}) {
}

ReceiveSource::Fetched ModelSrq::Fetch(ReceiveWqe& wqe) {
  std::array<std::byte, 4> record;
  if (!core_.host.Read(context_.db_record_addr, record)) return Fetched::kFault;
  const auto posted = static_cast<uint16_t>(
      static_cast<uint8_t>(record[2]) << 8 | static_cast<uint8_t>(record[3]));
  if (posted == taken_) return Fetched::kNone;
  const size_t stride = size_t{1} << (context_.log_stride + kSrqStrideShift);
  std::vector<std::byte> bytes(stride);
  const uint16_t slot = next_ & ((1u << context_.log_srq_size) - 1);
  if (!buffer_.Read(slot * stride, bytes)) return Fetched::kFault;
  const auto header = wire::Decode<prm::NextSegment>(bytes);
  wqe = {.counter = slot,
         .sges = ParseReceiveWqe(std::span<const std::byte>(bytes).subspan(
             wire::kBytes<prm::NextSegment>))};
  next_ = header.next_wqe_index;
  ++taken_;
  count_.Add();
  const auto left = static_cast<uint16_t>(posted - taken_);
  if (left < context_.limit_watermark) {
    context_.limit_watermark = 0;  // only one event
    events_.Report(prm::EqeType::kSrqLimit, 0,
                   prm::QueueEvent{.number = number_});
  }
  return Fetched::kWqe;
}

Status SharedReceiveQueues::Start(uint32_t srqn,
                                  const prm::SrqContext& context) {
  if (const Status status = core_.CheckSrq(srqn); status != Status::kOk) {
    return status;
  }
  if (queues_.contains(srqn)) return Status::kBadResourceState;
  constexpr int kMinLogStride = 1;  // the header and one pointer
  constexpr uint64_t kRecordAlignment = 4;
  if (context.log_srq_size > core_.cap.log_max_srq_sz ||
      context.log_page_size > kMaxLogQueuePage ||
      context.log_stride < kMinLogStride ||
      context.mtt_base_addr % wire::kBytes<prm::MttEntry> != 0 ||
      context.db_record_addr % kRecordAlignment != 0 || context.xrcd != 0 ||
      context.pd >> core_.cap.log_max_pd != 0) {
    return Status::kBadParam;
  }
  const uint64_t bytes = uint64_t{1} << (context.log_srq_size +
                                         context.log_stride + kSrqStrideShift);
  if (!QueueBuffer(core_, PlaceOfSrq(context)).Translates(bytes)) {
    return Status::kIcmError;
  }
  queues_.try_emplace(srqn, core_, events_, srqn, context);
  return Status::kOk;
}

Status SharedReceiveQueues::Stop(uint32_t srqn) {
  if (const Status status = core_.CheckSrq(srqn); status != Status::kOk) {
    return status;
  }
  if (!queues_.contains(srqn)) return Status::kBadResourceState;
  if (users_.contains(srqn)) return Status::kResourceBusy;
  queues_.erase(srqn);
  return Status::kOk;
}

std::optional<prm::SrqContext> SharedReceiveQueues::Query(uint32_t srqn) const {
  const auto queue = queues_.find(srqn);
  if (queue == queues_.end()) return std::nullopt;
  return queue->second.context();
}

Status SharedReceiveQueues::Arm(uint32_t srqn, uint16_t limit) {
  ModelSrq* queue = Find(srqn);
  if (queue == nullptr) return Status::kBadResourceState;
  queue->Arm(limit);
  return Status::kOk;
}

ModelSrq* SharedReceiveQueues::Find(uint32_t srqn) {
  const auto queue = queues_.find(srqn);
  return queue == queues_.end() ? nullptr : &queue->second;
}

void SharedReceiveQueues::Reset() {
  queues_.clear();
  users_.clear();
}

}  // namespace ibemu::hca::model::mlx4

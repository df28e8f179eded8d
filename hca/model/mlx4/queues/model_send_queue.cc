#include "hca/model/mlx4/queues/model_send_queue.h"

#include <utility>
#include <vector>

#include "hca/prm/mlx4_registers.h"

namespace ibemu::hca::model::mlx4 {

namespace {

constexpr int kStrideShift = 4;  // strides are in units of 16 bytes
constexpr int kPageOffsetShift = 6;

}  // namespace

uint64_t ModelSendQueue::ReceiveBytes(const prm::QpContext& context) {
  if (context.srq) return 0;
  return uint64_t{1} << (context.log_rq_size + context.log_rq_stride +
                         kStrideShift);
}

uint64_t ModelSendQueue::SendBytes(const prm::QpContext& context) {
  return uint64_t{1} << (context.log_sq_size + context.log_sq_stride +
                         kStrideShift);
}

bool ModelSendQueue::ReceiveIsFirst(const prm::QpContext& context) {
  return !context.srq && context.log_rq_stride > context.log_sq_stride;
}

QueueBuffer::Place ModelSendQueue::Place(const prm::QpContext& context,
                                         uint64_t offset) {
  return {.mtt_base_addr = context.mtt_base_addr,
          .log_page_size = context.log_page_size + prm::kIcmPageShift,
          .page_offset =
              (uint64_t{context.page_offset} << kPageOffsetShift) + offset};
}

ModelSendQueue::ModelSendQueue(Core& core, const prm::QpContext& context)
    : buffer_(core, Place(context,
                          ReceiveIsFirst(context) ? ReceiveBytes(context) : 0)),
      service_(context.service),
      log_size_(context.log_sq_size),
      stride_(size_t{1} << (context.log_sq_stride + kStrideShift)),
      count_(core.ended, {.kind = QueueKind::kSends, .size = 1u << log_size_}) {
}

ModelSendQueue::Fetched ModelSendQueue::Fetch(SendWqe& wqe) {
  std::vector<std::byte> bytes(stride_);
  const uint16_t counter = counter_;
  const uint64_t slot = counter & ((1u << log_size_) - 1);
  if (!buffer_.Read(slot * stride_, bytes)) return Fetched::kFault;
  const bool round = (counter >> log_size_ & 1) != 0;
  if (wire::Get<&prm::ControlSegment::owner>(bytes) != round) {
    return Fetched::kNone;
  }
  ++counter_;
  count_.Add();
  std::optional<SendWqe> parsed = ParseSendWqe(bytes, service_);
  if (!parsed) {
    wqe = {};
    wqe.control = wire::Decode<prm::ControlSegment>(bytes);
    wqe.counter = counter;
    return Fetched::kMalformed;
  }
  wqe = *std::move(parsed);
  wqe.counter = counter;
  return Fetched::kWqe;
}

}  // namespace ibemu::hca::model::mlx4

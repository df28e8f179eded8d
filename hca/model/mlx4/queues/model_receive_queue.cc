#include "hca/model/mlx4/queues/model_receive_queue.h"

#include <array>

#include "hca/model/mlx4/queues/model_send_queue.h"

namespace ibemu::hca::model::mlx4 {

namespace {

constexpr int kReceiveStrideShift = 4;

}  // namespace

ModelReceiveQueue::ModelReceiveQueue(Core& core, const prm::QpContext& context)
    : core_(core),
      buffer_(core, ModelSendQueue::Place(
                        context, ModelSendQueue::ReceiveIsFirst(context)
                                     ? 0
                                     : ModelSendQueue::SendBytes(context))),
      record_(context.db_record_addr),
      log_size_(context.log_rq_size),
      stride_(size_t{1} << (context.log_rq_stride + kReceiveStrideShift)),
      count_(core.ended,
             {.kind = QueueKind::kReceives, .size = 1u << log_size_}) {}

ReceiveSource::Fetched ModelReceiveQueue::Fetch(ReceiveWqe& wqe) {
  std::array<std::byte, 4> record;
  if (!core_.host.Read(record_, record)) return Fetched::kFault;
  const auto posted = static_cast<uint16_t>(
      static_cast<uint8_t>(record[2]) << 8 | static_cast<uint8_t>(record[3]));
  if (posted == counter_) return Fetched::kNone;
  std::vector<std::byte> bytes(stride_);
  const uint64_t slot = counter_ & ((1u << log_size_) - 1);
  if (!buffer_.Read(slot * stride_, bytes)) return Fetched::kFault;
  wqe = {.counter = counter_, .sges = ParseReceiveWqe(bytes)};
  ++counter_;
  count_.Add();
  return Fetched::kWqe;
}

}  // namespace ibemu::hca::model::mlx4

#include "hca/model/mlx4/queues/model_eq.h"

#include "hca/model/mlx4/core/adapter_limits.h"
#include "hca/prm/mlx4_registers.h"

namespace ibemu::hca::model::mlx4 {

namespace {

constexpr uint64_t kEqeBytes = wire::kBytes<prm::Eqe>;
constexpr int kMaxLogEq = 22;

QueueBuffer::Place PlaceOfEq(const prm::EqContext& context) {
  return {.mtt_base_addr = context.mtt_base_addr,
          .log_page_size = context.log_page_size + prm::kIcmPageShift,
          .page_offset = uint64_t{context.page_offset} * kEqeBytes};
}

}  // namespace

ModelEq::ModelEq(Core& core, const prm::EqContext& context)
    : context_(context),
      buffer_(core, PlaceOfEq(context)),
      count_(core.ended, {.kind = QueueKind::kEvents, .size = size()}) {
  context_.status = prm::kQueueOk;
}

prm::CommandStatus ModelEq::Check(Core& core, const prm::EqContext& context) {
  using Status = prm::CommandStatus;
  const bool known_state = context.state == prm::kEqArmed ||
                           context.state == prm::kEqFired ||
                           context.state == prm::kEqAlwaysArmed;
  if (context.status != prm::kQueueOk || !known_state ||
      context.intr >= kMsixVectors ||
      context.log_page_size > kMaxLogQueuePage || context.log_eq_size == 0 ||
      context.log_eq_size > kMaxLogEq ||
      context.mtt_base_addr % wire::kBytes<prm::MttEntry> != 0) {
    return Status::kBadParam;
  }
  return QueueBuffer(core, PlaceOfEq(context))
                 .Translates(kEqeBytes << context.log_eq_size)
             ? Status::kOk
             : Status::kIcmError;
}

bool ModelEq::Initialise() {
  return buffer_.Fill(0, kEqeBytes << context_.log_eq_size,
                      ToBytes(prm::Eqe{.owner = true}));
}

ModelEq::Posted ModelEq::Post(prm::Eqe event) {
  if (dead()) return Posted::kFault;
  if (((producer_ - consumer_) & prm::kEqIndexMask) >= size() &&
      !context_.ignore_overrun) {
    context_.status = prm::kQueueOverflow;
    return Posted::kOverrun;
  }
  event.owner = (producer_ & size()) != 0;
  const auto entry = ToBytes(event);
  // The last byte holds the owner bit, so it is written last.
  const uint64_t place = (producer_ & (size() - 1)) * kEqeBytes;
  const std::span<const std::byte> bytes = entry;
  if (!buffer_.Write(place, bytes.first(kEqeBytes - 1)) ||
      !buffer_.Write(place + kEqeBytes - 1, bytes.last(1))) {
    context_.status = prm::kQueueWriteFailure;
    return Posted::kFault;
  }
  ++producer_;
  count_.Add();
  if (context_.state == prm::kEqAlwaysArmed) return Posted::kInterrupt;
  if (context_.state != prm::kEqArmed) return Posted::kQuietly;
  context_.state = prm::kEqFired;
  return Posted::kInterrupt;
}

bool ModelEq::MayRead(uint32_t consumer_index) const {
  return ((consumer_index - consumer_) & prm::kEqIndexMask) <=
         ((producer_ - consumer_) & prm::kEqIndexMask);
}

bool ModelEq::Doorbell(uint32_t consumer_index, bool arm) {
  consumer_ = consumer_index & prm::kEqIndexMask;
  if (!arm || dead()) return false;
  if ((producer_ & prm::kEqIndexMask) != consumer_) return true;
  context_.state = prm::kEqArmed;
  return false;
}

prm::EqContext ModelEq::context() const {
  prm::EqContext context = context_;
  context.consumer_index = consumer_;
  context.producer_index = producer_ & prm::kEqIndexMask;
  return context;
}

}  // namespace ibemu::hca::model::mlx4

#include "hca/model/mlx4/queues/model_cq.h"

#include "hca/prm/mlx4_events.h"
#include "hca/prm/mlx4_memory.h"
#include "hca/prm/mlx4_registers.h"

namespace ibemu::hca::model::mlx4 {

namespace {

using Status = prm::CommandStatus;

constexpr uint64_t kCqeBytes = wire::kBytes<prm::Cqe>;

QueueBuffer::Place PlaceOfCq(const prm::CqContext& context) {
  return {.mtt_base_addr = context.mtt_base_addr,
          .log_page_size = context.log_page_size + prm::kIcmPageShift,
          .page_offset = uint64_t{context.page_offset} * kCqeBytes};
}

// Returns true if the 24-bit counter `a` is ahead of `b`.
bool Beyond(uint32_t a, uint32_t b) {
  const uint32_t distance = (a - b) & prm::kCqIndexMask;
  return distance != 0 && distance <= prm::kCqIndexMask / 2;
}

}  // namespace

ModelCq::ModelCq(Core& core, const prm::CqContext& context)
    : core_(core),
      context_(context),
      buffer_(core, PlaceOfCq(context)),
      count_(core.ended, {.kind = QueueKind::kCompletions, .size = size()}) {}

Status ModelCq::Check(Core& core, const prm::CqContext& context) {
  constexpr uint64_t kRecordAlignment = 8;
  if (context.status != prm::kQueueOk || context.collapsed ||
      context.log_cq_size > core.cap.log_max_cq_sz ||
      context.log_page_size > kMaxLogQueuePage ||
      context.mtt_base_addr % wire::kBytes<prm::MttEntry> != 0 ||
      context.db_record_addr % kRecordAlignment != 0 ||
      context.usr_page < core.cap.num_rsvd_uar) {
    return Status::kBadParam;
  }
  return QueueBuffer(core, PlaceOfCq(context))
                 .Translates(kCqeBytes << context.log_cq_size)
             ? Status::kOk
             : Status::kIcmError;
}

bool ModelCq::Initialise() {
  // The adapter owns the entries that have the owner bit of the previous round.
  const uint32_t at = producer_ & (size() - 1);
  const bool before = (producer_ & size()) == 0;
  const auto fill = [this](uint32_t first, uint32_t count, bool owner) {
    return buffer_.Fill(first * kCqeBytes, count * kCqeBytes,
                        ToBytes(prm::Cqe{.owner = owner}));
  };
  return fill(at, size() - at, before) && fill(0, at, !before);
}

ModelCq::Posted ModelCq::Post(const prm::Cqe& entry, bool solicited) {
  return Write(entry, solicited);
}

ModelCq::Posted ModelCq::Post(const prm::ErrorCqe& entry) {
  return Write(entry, true);
}

bool ModelCq::ReadConsumerIndex() {
  const auto record =
      ReadStructure<prm::CqDoorbellRecord>(core_.host, context_.db_record_addr);
  if (!record) return false;
  consumer_ = record->consumer_index;
  return true;
}

template <class Entry>
ModelCq::Posted ModelCq::Write(Entry entry, bool solicited) {
  if (context_.status != prm::kQueueOk) return Posted::kFault;
  if (!ReadConsumerIndex()) {
    context_.status = prm::kQueueWriteFailure;
    return Posted::kFault;
  }
  if (((producer_ - consumer_) & prm::kCqIndexMask) >= size() &&
      !context_.ignore_overrun) {
    context_.status = prm::kQueueOverflow;
    return Posted::kOverrun;
  }
  entry.owner = (producer_ & size()) != 0;
  const auto bytes = ToBytes(entry);
  const std::span<const std::byte> all = bytes;
  // The last byte holds the owner bit, so it is written last.
  const uint64_t place = (producer_ & (size() - 1)) * kCqeBytes;
  if (!buffer_.Write(place, all.first(kCqeBytes - 1)) ||
      !buffer_.Write(place + kCqeBytes - 1, all.last(1))) {
    context_.status = prm::kQueueWriteFailure;
    return Posted::kFault;
  }
  ++producer_;
  count_.Add();
  if (solicited) solicited_ = producer_;
  return Notify(solicited) ? Posted::kNotify : Posted::kQuietly;
}

bool ModelCq::Notify(bool solicited) {
  const bool wanted = context_.state == prm::kCqArmed ||
                      (context_.state == prm::kCqArmedSolicited && solicited);
  if (!wanted) return false;
  context_.state = prm::kCqFired;
  context_.last_notified_index = producer_ & prm::kCqIndexMask;
  sequence_ = (sequence_ + 1) & 3;
  return true;
}

bool ModelCq::Arm(const prm::CqDoorbell& doorbell) {
  // A repetition of a request that was answered: its event is on the way.
  if (doorbell.sequence != ((sequence_ + 1) & 3)) return false;
  consumer_ = doorbell.consumer_index;
  if (doorbell.command == prm::kCqArmNext) {
    context_.state = prm::kCqArmed;
    if (Beyond(producer_ & prm::kCqIndexMask, consumer_)) return Notify(true);
  } else if (doorbell.command == prm::kCqArmSolicitedOnly) {
    context_.state = prm::kCqArmedSolicited;
    if (Beyond(solicited_ & prm::kCqIndexMask, consumer_)) return Notify(true);
  }
  return false;
}

Status ModelCq::Resize(Core& core, const prm::CqContext& context) {
  prm::CqContext wanted = context_;
  wanted.log_cq_size = context.log_cq_size;
  wanted.log_page_size = context.log_page_size;
  wanted.page_offset = context.page_offset;
  wanted.mtt_base_addr = context.mtt_base_addr;
  if (const Status status = Check(core, wanted); status != Status::kOk) {
    return status;
  }
  if (!ReadConsumerIndex()) return Status::kInternalError;
  const uint32_t unread = (producer_ - consumer_) & prm::kCqIndexMask;
  // The last entry in the old memory tells software that the rest is in the new
  // memory.
  if (unread + 1 > 1u << wanted.log_cq_size) return Status::kBadSize;
  constexpr uint8_t kResizeOpcode = 0x16;
  if (Write(prm::Cqe{.opcode = kResizeOpcode}, false) == Posted::kFault) {
    return Status::kInternalError;
  }
  context_.log_cq_size = wanted.log_cq_size;
  context_.log_page_size = wanted.log_page_size;
  context_.page_offset = wanted.page_offset;
  context_.mtt_base_addr = wanted.mtt_base_addr;
  buffer_.Move(PlaceOfCq(context_));
  count_.Resize(size());
  return Initialise() ? Status::kOk : Status::kInternalError;
}

void ModelCq::Moderate(uint16_t max_count, uint16_t period) {
  context_.cq_max_count = max_count;
  context_.cq_period = period;
}

prm::CqContext ModelCq::context() const {
  prm::CqContext context = context_;
  context.producer_index = producer_ & prm::kCqIndexMask;
  context.consumer_index = consumer_;
  context.solicit_producer_index = solicited_ & prm::kCqIndexMask;
  return context;
}

}  // namespace ibemu::hca::model::mlx4

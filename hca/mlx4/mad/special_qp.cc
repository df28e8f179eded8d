#include "hca/mlx4/mad/special_qp.h"

#include <array>
#include <atomic>
#include <utility>

#include "absl/strings/str_format.h"
#include "base/copy_bytes.h"
#include "base/status_macros.h"
#include "hca/bus/address_space.h"
#include "hca/bus/big_endian.h"
#include "hca/mlx4/core/qp_context.h"
#include "hca/mlx4/core/queue_entry.h"
#include "hca/prm/mlx4_registers.h"
#include "hca/prm/mlx4_wqe.h"
#include "mad/wire/mad_header.h"
#include "wire/packet_headers.h"

namespace ibemu::hca::mlx4 {
namespace {

constexpr uint32_t kSendSlots = 1u << SpecialQp::kLogSends;
constexpr uint32_t kReceiveSlots = 1u << SpecialQp::kLogReceives;
constexpr int kLogReceiveWqe = 4;  // one pointer
constexpr int kLogStrideUnit = 4;  // strides are in units of 16 bytes
constexpr size_t kSendArea = size_t{kSendSlots} * kMlxWqe;
constexpr size_t kReceiveArea = size_t{kReceiveSlots} << kLogReceiveWqe;
constexpr size_t kGrhBytes = wire::kBytes<wire::GlobalRouteHeader>;
constexpr size_t kReceiveBytes = kGrhBytes + mad::kMadBytes;
constexpr size_t kReceiveSlot = 512;

constexpr uint8_t kMtu4096 = 5;
constexpr uint8_t kLogMessageMax = 11;  // the Linux driver's, for MADs
constexpr uint8_t kQp0SchedQueue = 0x3f;

}  // namespace

absl::StatusOr<std::unique_ptr<SpecialQp>> SpecialQp::Create(
    Resources& resources, const SpecialQpInit& init,
    const std::function<absl::Status()>& between, OnMad on_mad) {
  std::unique_ptr<SpecialQp> qp(
      new SpecialQp(resources, init, std::move(on_mad)));
  IBEMU_RETURN_IF_ERROR(qp->Allocate());
  IBEMU_RETURN_IF_ERROR(qp->Start(between));
  for (uint32_t i = 0; i < kReceiveSlots; ++i) qp->PostReceive();
  return qp;
}

SpecialQp::~SpecialQp() {
  if (!started_) return;
  resources_.adapter().TakeDown(prm::Opcode::k2RstQp,
                                {.in = init_.number, .op = prm::kFromAnyState});
}

absl::Status SpecialQp::Allocate() {
  PciFunction& function = resources_.adapter().function();
  // The send queue comes first, because its WQEs are longer.
  IBEMU_ASSIGN_OR_RETURN(
      queue_,
      QueueMemory::Create(resources_, RoundUpToPage(kSendArea + kReceiveArea)));
  IBEMU_ASSIGN_OR_RETURN(doorbell_record_, function.Allocate(sizeof(uint32_t)));
  IBEMU_ASSIGN_OR_RETURN(
      sends_, function.Allocate(size_t{kSendSlots} * mad::kMadBytes));
  IBEMU_ASSIGN_OR_RETURN(
      receives_, function.Allocate(size_t{kReceiveSlots} * kReceiveSlot));
  return absl::OkStatus();
}

prm::QpContext SpecialQp::Context() const {
  prm::QpContext context;
  context.service = prm::QpService::kMlx;
  context.pm_state = prm::kPathMigrated;
  context.mtu = kMtu4096;
  context.log_msg_max = kLogMessageMax;
  context.log_sq_size = kLogSends;
  context.log_sq_stride = kLogMlxWqe - kLogStrideUnit;
  context.log_rq_size = kLogReceives;
  context.log_rq_stride = kLogReceiveWqe - kLogStrideUnit;
  context.pd = resources_.pd();
  context.usr_page = resources_.uar_page();
  context.local_qpn = init_.number;
  context.primary.sched_queue =
      init_.qp == 0
          ? static_cast<uint8_t>(kQp0SchedQueue | (init_.port - 1) << 6)
          : prm::SchedQueue(init_.port, /*sl=*/0);
  context.primary.counter_index = prm::kNoCounter;
  context.cqn_send = context.cqn_receive = init_.cqn;
  context.db_record_addr = doorbell_record_->iova();
  context.qkey = init_.qp == 0 ? 0 : mad::kQp1QKey;
  context.mtt_base_addr = queue_->mtts();
  return context;
}

absl::Status SpecialQp::Start(const std::function<absl::Status()>& between) {
  // WQEs are not valid until they are posted.
  for (uint32_t i = 0; i < kSendSlots; ++i) Stamp(i);
  IBEMU_RETURN_IF_ERROR(
      Step(prm::Opcode::kRst2InitQp, prm::QpContextState::kInit));
  started_ = true;
  IBEMU_RETURN_IF_ERROR(
      Step(prm::Opcode::kInit2RtrQp, prm::QpContextState::kRtr));
  IBEMU_RETURN_IF_ERROR(between());
  return Step(prm::Opcode::kRtr2RtsQp, prm::QpContextState::kRts);
}

absl::Status SpecialQp::Step(prm::Opcode opcode, prm::QpContextState next) {
  prm::QpContext context = Context();
  context.state = next;
  // The P_Key index and the Q_Key are set by the first transition, and stay as
  // they are.
  const uint32_t optional = opcode == prm::Opcode::kRst2InitQp
                                ? prm::kOptPKeyIndex | prm::kOptQKey
                                : 0;
  const auto mailbox = QpMailbox(context, optional);
  return resources_.commands().Send(opcode, std::span<const std::byte>(mailbox),
                                    {.in = init_.number});
}

void SpecialQp::Send(const mad::AddressVector& to, MlxSource source,
                     const mad::MadBytes& mad) {
  source.psn = psn_++;
  if (backlog_.size() >= kBacklog) {
    ++totals_.dropped;
    return;
  }
  backlog_.push_back({.to = to, .source = source, .mad = mad});
  PostWaiting();
}

void SpecialQp::PostWaiting() {
  while (!backlog_.empty() && flying_.size() < kSendsInFlight) {
    Post(backlog_.front());
    flying_.push_back(backlog_.front());
    backlog_.pop_front();
  }
}

void SpecialQp::Post(const Waiting& send) {
  const uint32_t slot = posted_ % kSendSlots;
  const size_t payload = size_t{slot} * mad::kMadBytes;
  CopyBytes(send.mad, sends_->bytes().subspan(payload).data());
  const bool owner = (posted_ & kSendSlots) != 0;
  const MlxWqe wqe =
      MakeMlxWqe(send.to, send.source,
                 {.iova = sends_->iova() + payload, .lkey = init_.lkey}, owner);
  std::byte* const place = queue_->bytes().data() + size_t{slot} * kMlxWqe;
  // The owner bit comes last, because it makes the rest valid to the adapter.
  CopyWords(std::span(wqe).subspan(4), place + 4);
  std::atomic_thread_fence(std::memory_order_release);
  CopyWords(std::span(wqe).first(4), place);
  Stamp(posted_ + kSpareSends);
  ++posted_;
  ++totals_.sent;
  WriteBe32(resources_.adapter().uars(), resources_.SendDoorbell(),
            init_.number << 8);
}

// Makes a WQE invalid to the adapter, which reads ahead: none of its segments
// starts with a valid byte count, and its owner bit is that of the previous
// round.
void SpecialQp::Stamp(uint32_t index) {
  std::byte* const place =
      queue_->bytes().data() + size_t{index % kSendSlots} * kMlxWqe;
  constexpr std::array kInvalid = {std::byte{0xff}, std::byte{0xff},
                                   std::byte{0xff}, std::byte{0xff}};
  const bool owner = (index & kSendSlots) == 0;
  const std::array head = {owner ? std::byte{0x80} : std::byte{0}, std::byte{0},
                           std::byte{0}, std::byte{0}};
  CopyWords(head, place);
  for (size_t at = prm::kInlineBoundary; at < kMlxWqe;
       at += prm::kInlineBoundary) {
    CopyWords(kInvalid, place + at);
  }
}

std::span<std::byte> SpecialQp::ReceiveBuffer(uint32_t index) {
  return receives_->bytes().subspan(
      size_t{index % kReceiveSlots} * kReceiveSlot, kReceiveBytes);
}

void SpecialQp::PostReceive() {
  const uint32_t slot = receives_posted_ % kReceiveSlots;
  std::array<std::byte, wire::kBytes<prm::DataSegment>> wqe;
  wire::Encode(prm::DataSegment{.byte_count = kReceiveBytes,
                                .lkey = init_.lkey,
                                .address = receives_->iova() +
                                           size_t{slot} * kReceiveSlot},
               wqe);
  CopyWords(wqe, queue_->bytes().data() + kSendArea +
                     (size_t{slot} << kLogReceiveWqe));
  ++receives_posted_;
  std::atomic_thread_fence(std::memory_order_release);
  const std::array count = {std::byte{0}, std::byte{0},
                            static_cast<std::byte>(receives_posted_ >> 8),
                            static_cast<std::byte>(receives_posted_)};
  CopyWords(count, doorbell_record_->bytes().data());
}

void SpecialQp::OnCompletion(const Completion& completion) {
  if (completion.entry.is_send) return OnSent(completion.error);
  if (completion.error) {
    // The queue pair is in the error state, which only a reset of it ends.
    return resources_.adapter().CutOff(absl::UnavailableError(absl::StrFormat(
        "queue pair %d of port %d received with error 0x%02x", init_.qp,
        init_.port, static_cast<int>(completion.error->syndrome))));
  }
  // A datagram of another length is no MAD.
  if (completion.entry.byte_count == kReceiveBytes) {
    ++totals_.received;
    on_mad_(completion.entry, ReceiveBuffer(completion.entry.wqe_counter));
  } else {
    ++totals_.dropped;
  }
  PostReceive();
}

void SpecialQp::OnSent(const std::optional<prm::ErrorCqe>& error) {
  if (flying_.empty()) return;  // a completion of nothing that was posted
  const Waiting send = flying_.front();
  flying_.pop_front();
  const bool may_be_flushed = flushed_ != 0;
  if (may_be_flushed) --flushed_;
  if (error && error->syndrome != prm::CqeSyndrome::kFlushed) {
    ++totals_.dropped;
    Recover(error->syndrome);
  } else if (error && may_be_flushed) {
    backlog_.push_front(send);
  }
  PostWaiting();
}

// Brings the queue pair back to RTS.  An error ends sending, but not receiving,
// and flushes what was posted (IBA vol 1 §10.3.1).  Linux's ib_mad does the
// same, and sends the flushed packets again, too.
void SpecialQp::Recover(prm::CqeSyndrome syndrome) {
  Mlx4Adapter& adapter = resources_.adapter();
  adapter.Note(absl::StrFormat(
      "queue pair %d of port %d: a packet was not sent: error 0x%02x", init_.qp,
      init_.port, static_cast<int>(syndrome)));
  flushed_ = flying_.size();
  const absl::Status led =
      Step(prm::Opcode::kSqErr2RtsQp, prm::QpContextState::kRts);
  if (!led.ok()) adapter.CutOff(led);
}

}  // namespace ibemu::hca::mlx4

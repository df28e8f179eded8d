#include "ipoib/datagram_queue.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

#include "base/status_macros.h"
#include "ipoib/address_attributes.h"
#include "verbs/wc_status.h"
#include "wire/packet_headers.h"

namespace ibemu::ipoib {
namespace {

namespace attribute = verbs::qp_attribute;

constexpr size_t kGrhBytes = wire::kBytes<wire::GlobalRouteHeader>;

}  // namespace

absl::StatusOr<std::unique_ptr<DatagramQueue>> DatagramQueue::Create(
    Timers& timers, verbs::Provider& provider, const Options& options,
    Listener& listener) {
  std::unique_ptr<DatagramQueue> queue(
      new DatagramQueue(timers, provider, options, listener));
  IBEMU_RETURN_IF_ERROR(queue->Start());
  return queue;
}

DatagramQueue::DatagramQueue(Timers& timers, verbs::Provider& provider,
                             const Options& options, Listener& listener)
    : provider_(provider),
      options_(options),
      listener_(listener),
      memory_(std::make_shared<OwnMemory>(timers, slots() * SlotBytes())),
      under_way_(options.depth.sends),
      free_(options.depth.sends),
      drain_(timers, [this] { Drain(); }) {
  std::iota(free_.rbegin(), free_.rend(), size_t{0});
}

DatagramQueue::~DatagramQueue() {
  // An address handle goes before its domain, a queue pair before its handles.
  qp_.reset();
  under_way_.clear();
}

absl::Status DatagramQueue::Start() {
  IBEMU_ASSIGN_OR_RETURN(pd_, provider_.CreatePd(memory_->process()));
  IBEMU_ASSIGN_OR_RETURN(
      mr_, provider_.CreateMr({.pd = pd_.get(),
                               .memory = memory_,
                               .start = OwnMemory::kStart,
                               .length = slots() * SlotBytes(),
                               .address = OwnMemory::kStart,
                               .access = verbs::access::kLocalWrite}));
  IBEMU_ASSIGN_OR_RETURN(cq_, provider_.CreateCq(slots(), *this));
  verbs::QpInit init{.type = verbs::QpType::kUd,
                     .signal_all = true,
                     .capacity = {.send_requests = options_.depth.sends,
                                  .receive_requests = options_.depth.receives,
                                  .send_sges = 1,
                                  .receive_sges = 1},
                     .pd = pd_.get(),
                     .send_cq = cq_.get(),
                     .receive_cq = cq_.get()};
  IBEMU_ASSIGN_OR_RETURN(qp_, provider_.CreateQp(init, *this));
  IBEMU_RETURN_IF_ERROR(Modify(verbs::QpState::kInit, attribute::kPKeyIndex |
                                                          attribute::kPort |
                                                          attribute::kQKey));
  for (size_t slot = 0; slot < options_.depth.receives; ++slot) {
    IBEMU_RETURN_IF_ERROR(PostReceive(slot));
  }
  IBEMU_RETURN_IF_ERROR(Modify(verbs::QpState::kReadyToReceive, 0));
  return Modify(verbs::QpState::kReadyToSend, attribute::kSendPsn);
}

absl::Status DatagramQueue::Modify(verbs::QpState state, uint32_t mask) {
  verbs::QpAttributes attributes{};
  attributes.qp_attr_mask = mask | attribute::kState;
  attributes.qp_state = static_cast<uint32_t>(state);
  attributes.pkey_index = options_.pkey_index;
  attributes.port_num = static_cast<uint8_t>(options_.port);
  attributes.qkey = options_.q_key;
  attributes.sq_psn = options_.first_psn;
  return qp_->Modify(attributes);
}

uint32_t DatagramQueue::slots() const {
  return options_.depth.receives + options_.depth.sends;
}

size_t DatagramQueue::SlotBytes() const { return kGrhBytes + options_.mtu; }

uint64_t DatagramQueue::AddressOfSlot(size_t slot) const {
  return OwnMemory::kStart + slot * SlotBytes();
}

absl::Status DatagramQueue::PostReceive(size_t slot) {
  verbs::ReceiveRequest request{
      .id = slot,
      .sges = {{.addr = AddressOfSlot(slot),
                .length = static_cast<uint32_t>(SlotBytes()),
                .lkey = mr_->lkey()}}};
  size_t taken = 0;
  return qp_->PostReceive({&request, 1}, taken);
}

void DatagramQueue::Send(const verbs::AddressAttributes& to, uint32_t qpn,
                         std::span<const std::byte> payload) {
  if (free_.empty() || payload.size() > options_.mtu) return;
  auto handle = provider_.CreateAh(*pd_, to);
  if (!handle.ok()) return;
  const size_t send = free_.back();
  const size_t slot = options_.depth.receives + send;
  const uint64_t address = AddressOfSlot(slot);
  memory_->Put(address, payload);
  verbs::SendRequest request{};
  request.work.wr_id = slot;
  request.work.num_sge = 1;
  request.work.opcode = IB_UVERBS_WR_SEND;
  request.work.send_flags = verbs::send_flag::kSignaled;
  request.work.wr.ud.remote_qpn = qpn;
  request.work.wr.ud.remote_qkey = options_.q_key;
  request.sges = {{.addr = address,
                   .length = static_cast<uint32_t>(payload.size()),
                   .lkey = mr_->lkey()}};
  request.address = handle->get();
  size_t taken = 0;
  if (!qp_->PostSend({&request, 1}, taken).ok()) return;
  under_way_[send] = *std::move(handle);
  free_.pop_back();
}

absl::Status DatagramQueue::Attach(const wire::Gid& mgid, wire::Lid mlid) {
  return qp_->AttachMulticast(BytesOf(mgid), static_cast<uint16_t>(mlid));
}

void DatagramQueue::Detach(const wire::Gid& mgid, wire::Lid mlid) {
  qp_->DetachMulticast(BytesOf(mgid), static_cast<uint16_t>(mlid));
}

void DatagramQueue::Drain() {
  const bool was_full = free_.empty();
  std::array<verbs::WorkCompletion, 16> completions;
  while (const size_t count = cq_->Poll(completions)) {
    for (const auto& completion : std::span(completions).first(count)) {
      if (completion.wr_id < options_.depth.receives) {
        OnReceived(completion, completion.wr_id);
      } else {
        const size_t send = completion.wr_id - options_.depth.receives;
        under_way_[send].reset();
        free_.push_back(send);
      }
    }
  }
  if (was_full && !free_.empty()) listener_.OnRoom();
}

void DatagramQueue::OnReceived(const verbs::WorkCompletion& completion,
                               size_t slot) {
  if (completion.status == verbs::wc_status::kFlushed) return;
  if (completion.status == verbs::wc_status::kSuccess &&
      completion.byte_len >= kGrhBytes && completion.byte_len <= SlotBytes()) {
    listener_.OnDatagram(
        {.slid = completion.slid,
         .sl = completion.sl,
         .path_bits = completion.dlid_path_bits,
         .source_qpn = completion.src_qp,
         .payload = memory_->At(AddressOfSlot(slot) + kGrhBytes,
                                completion.byte_len - kGrhBytes)});
  }
  // If the queue pair takes no more, its device is about to go.
  PostReceive(slot).IgnoreError();
}

}  // namespace ibemu::ipoib

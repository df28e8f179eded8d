#include "ipoib/connected/connected_queue.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <numeric>
#include <utility>

#include "base/status_macros.h"
#include "verbs/wc_status.h"

namespace ibemu::ipoib {
namespace {

constexpr size_t kSlots = ConnectedQueue::kReceives + ConnectedQueue::kSends;

// The receives' come first.
uint64_t AddressOfSlot(size_t slot) {
  return OwnMemory::kStart + slot * ConnectedQueue::kLongest;
}

}  // namespace

absl::StatusOr<std::unique_ptr<ConnectedQueue>> ConnectedQueue::Create(
    Timers& timers, verbs::Provider& provider, Listener& listener) {
  std::unique_ptr<ConnectedQueue> queue(
      new ConnectedQueue(timers, provider, listener));
  IBEMU_RETURN_IF_ERROR(queue->Start());
  return queue;
}

ConnectedQueue::ConnectedQueue(Timers& timers, verbs::Provider& provider,
                               Listener& listener)
    : provider_(provider),
      listener_(listener),
      memory_(std::make_shared<OwnMemory>(timers, kSlots * kLongest)),
      free_(kSends),
      drain_(timers, [this] { Drain(); }) {
  std::iota(free_.rbegin(), free_.rend(), size_t{0});
}

ConnectedQueue::~ConnectedQueue() = default;

absl::Status ConnectedQueue::Start() {
  IBEMU_ASSIGN_OR_RETURN(pd_, provider_.CreatePd(memory_->process()));
  IBEMU_ASSIGN_OR_RETURN(
      mr_, provider_.CreateMr({.pd = pd_.get(),
                               .memory = memory_,
                               .start = OwnMemory::kStart,
                               .length = kSlots * kLongest,
                               .address = OwnMemory::kStart,
                               .access = verbs::access::kLocalWrite}));
  IBEMU_ASSIGN_OR_RETURN(cq_, provider_.CreateCq(kSlots, *this));
  IBEMU_ASSIGN_OR_RETURN(
      srq_, provider_.CreateSrq(
                *pd_, {.max_requests = kReceives, .max_sges = 1}, *this));
  for (size_t slot = 0; slot < kReceives; ++slot) {
    IBEMU_RETURN_IF_ERROR(PostReceive(slot));
  }
  return absl::OkStatus();
}

absl::StatusOr<ConnectedQueue::QpHandle> ConnectedQueue::CreateQp() {
  const verbs::QpInit init{
      .type = verbs::QpType::kRc,
      .signal_all = true,
      .capacity = {.send_requests = kSends, .send_sges = 1},
      .pd = pd_.get(),
      .send_cq = cq_.get(),
      .receive_cq = cq_.get(),
      .srq = srq_.get()};
  Pair& pair = pairs_.emplace_back(*this);
  auto made = provider_.CreateQp(init, pair);
  if (!made.ok()) {
    pairs_.pop_back();
    return made.status();
  }
  pair.qp = *std::move(made);
  return QpHandle(pair.qp.get(), Retire{this});
}

void ConnectedQueue::Pair::OnEvent(verbs::AsyncEventType type) {
  if (type != verbs::AsyncEventType::kLastWqeReached) return;
  ended = true;
  queue.drain_.Request();
}

// What it was sending, and the part of a message that has come, end with errors
// then, and give back what they hold.  IBA vol 1 §10.3.1, Linux's ib_ipoib.
void ConnectedQueue::RetireQp(verbs::Qp& qp) {
  const auto pair = std::ranges::find_if(
      pairs_, [&qp](const Pair& each) { return each.qp.get() == &qp; });
  pair->retired = true;
  const auto state = static_cast<verbs::QpState>(qp.Query().qp_state);
  if (state == verbs::QpState::kReset || state == verbs::QpState::kInit) {
    pair->ended = true;  // it was never connected
  } else {
    verbs::QpAttributes error{};
    error.qp_attr_mask = verbs::qp_attribute::kState;
    error.qp_state = static_cast<uint32_t>(verbs::QpState::kError);
    qp.Modify(error).IgnoreError();  // but for the device, which has gone
  }
  drain_.Request();
}

absl::Status ConnectedQueue::PostReceive(size_t slot) {
  verbs::ReceiveRequest request{.id = slot,
                                .sges = {{.addr = AddressOfSlot(slot),
                                          .length = kLongest,
                                          .lkey = mr_->lkey()}}};
  size_t taken = 0;
  return srq_->PostReceive({&request, 1}, taken);
}

void ConnectedQueue::Send(verbs::Qp& qp, std::span<const std::byte> datagram) {
  if (free_.empty() || datagram.size() > kLongest) return;
  const size_t send = free_.back();
  const uint64_t address = AddressOfSlot(kReceives + send);
  memory_->Put(address, datagram);
  verbs::SendRequest request{};
  request.work.wr_id = kReceives + send;
  request.work.num_sge = 1;
  request.work.opcode = IB_UVERBS_WR_SEND;
  request.work.send_flags = verbs::send_flag::kSignaled;
  request.sges = {{.addr = address,
                   .length = static_cast<uint32_t>(datagram.size()),
                   .lkey = mr_->lkey()}};
  size_t taken = 0;
  if (!qp.PostSend({&request, 1}, taken).ok()) return;
  free_.pop_back();
  if (free_.empty()) was_full_ = true;
}

void ConnectedQueue::Drain() {
  std::array<verbs::WorkCompletion, 16> completions;
  while (const size_t count = cq_->Poll(completions)) {
    for (const auto& completion : std::span(completions).first(count)) {
      if (completion.wr_id < kReceives) {
        OnReceived(completion);
      } else {
        OnSent(completion);
      }
    }
  }
  std::erase_if(pairs_,
                [](const Pair& pair) { return pair.retired && pair.ended; });
  if (!free_.empty() && std::exchange(was_full_, false)) listener_.OnRoom();
}

void ConnectedQueue::OnReceived(const verbs::WorkCompletion& completion) {
  const size_t slot = completion.wr_id;
  if (completion.status == verbs::wc_status::kSuccess &&
      completion.byte_len <= kLongest) {
    listener_.OnMessage(memory_->At(AddressOfSlot(slot), completion.byte_len));
  }
  // If it takes no more, its device is about to go.
  PostReceive(slot).IgnoreError();
}

void ConnectedQueue::OnSent(const verbs::WorkCompletion& completion) {
  free_.push_back(completion.wr_id - kReceives);
  if (completion.status != verbs::wc_status::kSuccess) {
    listener_.OnBroken(completion.qp_num);
  }
}

}  // namespace ibemu::ipoib

#include "hca/mlx4/verbs/qp_send_queue.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_format.h"
#include "base/copy_bytes.h"
#include "base/status_macros.h"
#include "hca/mlx4/core/qp_context.h"
#include "hca/mlx4/core/verbs_attributes.h"
#include "hca/mlx4/verbs/send_wqe.h"
#include "hca/mlx4/verbs/verbs_provider.h"
#include "hca/mlx4/verbs/work_completion.h"
#include "verbs/offered_sends.h"
#include "verbs/parts/memory_transfer.h"
#include "verbs/wc_status.h"

namespace ibemu::hca::mlx4 {
namespace {

constexpr size_t kAtomicOperand = 8;  // bytes

}  // namespace

absl::Status QpSendQueue::TakeShare(uint64_t process) {
  IBEMU_ASSIGN_OR_RETURN(share_,
                         core_.provider->send_memory().ShareOf(process));
  return absl::OkStatus();
}

absl::Status QpSendQueue::Post(std::span<verbs::SendRequest> requests,
                               size_t& taken) {
  if (core_.state < verbs::QpState::kReadyToSend) {
    return absl::InvalidArgumentError("it is not ready to send");
  }
  absl::Status status;
  for (verbs::SendRequest& request : requests) {
    const bool too_long =
        request.inline_data != nullptr &&
        request.inline_data->size() > core_.init.capacity.inline_bytes;
    if (request.sges.size() > core_.init.capacity.send_sges || too_long ||
        !verbs::IsOffered(core_.init.type, request.work) ||
        (core_.is_datagram() && request.address == nullptr)) {
      status = absl::InvalidArgumentError(absl::StrFormat(
          "operation %d, %d SGEs", request.work.opcode, request.sges.size()));
      break;
    }
    if (core_.send_entries.full()) {
      status = absl::ResourceExhaustedError("the send queue is full");
      break;
    }
    auto send = std::make_shared<Send>();
    send->entry = core_.send_entries.Take();
    // Once the adapter is gone the datagram is not sent, and needs no address.
    if (core_.is_datagram() && !core_.gone) {
      Resources& resources = core_.provider->resources();
      const auto& handle =
          static_cast<const verbs::AddressHandle&>(*request.address);
      send->to = AddressVectorOf(
          handle.attributes,
          resources.adapter().firmware().caps().stat_rate_support);
      // All of the client's domains are one to the adapter.
      send->to->pd = resources.pd();
      if (&handle.pd != core_.init.pd) {
        send->status = verbs::wc_status::kLocalQpOperation;
      }
    }
    send->request = std::move(request);
    sends_.push_back(std::move(send));
    ++taken;
  }
  FlushUnposted();
  Pump();
  return status;
}

void QpSendQueue::Pump() {
  while (!waits_ && core_.state == verbs::QpState::kReadyToSend &&
         !core_.gone && begun_ < sends_.size() &&
         begun_ - posted_ < kMaxFetching) {
    const bool fenced = (sends_[begun_]->request.work.send_flags &
                         verbs::send_flag::kFence) != 0;
    if ((fenced && AwaitsAnswers()) || !Begin(sends_[begun_])) break;
    ++begun_;
  }
  PostReady();
}

// Returns whether the data of an RDMA READ or atomic operation is not yet in
// the client's memory, from which a fenced request may send it.
bool QpSendQueue::AwaitsAnswers() const {
  return std::any_of(sends_.begin(),
                     sends_.begin() + static_cast<ptrdiff_t>(begun_),
                     [](const std::shared_ptr<Send>& send) {
                       return Fetches(send->request.work) && !send->complete;
                     });
}

size_t QpSendQueue::LongestSend() const {
  if (!core_.is_datagram()) return kMaxMessage;
  return size_t{128} << core_.provider->MtuCodeOf(core_.attributes.port_num);
}

// Starts a send.  Returns false if there is no memory for it now.
bool QpSendQueue::Begin(const std::shared_ptr<Send>& send) {
  const verbs::SendRequest& request = send->request;
  if (send->status != 0) {
    send->ready = true;
    return true;
  }
  if (request.inline_data != nullptr) {
    send->length = request.inline_data->size();
  } else {
    const auto ranges = core_.provider->keys().FindAll(
        request.sges, core_.init.pd,
        Fetches(request.work) ? verbs::access::kLocalWrite : 0);
    if (!ranges.ok()) {
      send->status = verbs::wc_status::kLocalProtection;
    } else {
      send->length = verbs::LengthOf(*ranges);
    }
  }
  if (send->length > LongestSend() ||
      (send->status == 0 && IsAtomic(request.work) &&
       send->length != kAtomicOperand)) {
    send->status = verbs::wc_status::kLocalLength;
  }
  if (send->status != 0 || send->length == 0) {
    send->ready = true;
    return true;
  }
  DmaPool& pool = core_.provider->send_memory();
  auto memory = pool.Take(share_, send->length);
  if (!memory.ok() && pool.in_use() == 0) {
    core_.provider->OnShortage(memory.status());
    send->status = verbs::wc_status::kLocalQpOperation;
    send->ready = true;
    return true;
  }
  if (!memory.ok()) {
    waits_ = true;
    pool.CallWhenReturned(this, core_.life.WhileSame([this] {
      waits_ = false;
      Pump();
    }));
    return false;
  }
  send->memory = *std::move(memory);
  return Fetch(send);
}

bool QpSendQueue::Fetch(const std::shared_ptr<Send>& send) {
  const verbs::SendRequest& request = send->request;
  if (Fetches(request.work)) {
    send->ready = true;
    return true;
  }
  if (request.inline_data != nullptr) {
    CopyBytes(*request.inline_data, send->memory->bytes().data());
    send->ready = true;
    return true;
  }
  const auto ranges =
      core_.provider->keys().FindAll(request.sges, core_.init.pd, 0);
  const verbs::Buffer buffer = core_.provider->bounces().Take(send->length);
  verbs::MemoryTransfer transfer;
  transfer.Add(*ranges, buffer, 0);
  transfer.Read(core_.life.WhileSame([this, send,
                                      buffer](const absl::Status& status) {
    if (send->complete) return;  // it was flushed
    if (status.ok()) {
      std::copy_n(buffer->begin(), send->length, send->memory->bytes().begin());
    } else {
      send->status = verbs::wc_status::kLocalProtection;
      send->memory.reset();
    }
    send->ready = true;
    Pump();
  }));
  return true;
}

void QpSendQueue::PostReady() {
  if (core_.gone || core_.state != verbs::QpState::kReadyToSend) return;
  bool posted = false;
  while (posted_ < begun_ && sends_[posted_]->ready &&
         core_.adapter_qp.rings().send_room() != 0) {
    const Send& send = *sends_[posted_];
    const prm::Mlx4Av* const to = send.to ? &*send.to : nullptr;
    WqePointer data;
    if (send.memory) {
      data = {.iova = send.memory->iova(),
              .size = static_cast<uint32_t>(send.length),
              .lkey = core_.provider->lkey()};
    }
    core_.adapter_qp.rings().PostSend(
        send.status != 0 ? MakeFailingWqe(to)
                         : MakeSendWqe(send.request.work, to, data));
    ++posted_;
    posted = true;
  }
  if (posted) core_.adapter_qp.rings().Ring(core_.adapter_qp.number());
}

void QpSendQueue::OnCompletion(const Completion& completion) {
  if (sent_ == posted_) return;  // a completion of nothing that was posted
  const std::shared_ptr<Send> send = sends_[sent_++];
  core_.adapter_qp.rings().OnSent();
  if (completion.error) {
    // A request that the driver made fail keeps its own status.
    const bool ours =
        send->status != 0 &&
        completion.error->syndrome == prm::CqeSyndrome::kLocalProtection;
    if (!ours) {
      send->status = StatusOf(completion.error->syndrome);
      send->vendor_error = completion.error->vendor_syndrome;
    }
  } else if (Fetches(send->request.work) && send->memory) {
    PutDown(send);
    Pump();
    return;
  }
  send->memory.reset();
  send->complete = true;
  Complete();
  Pump();
}

// Writes the data of an RDMA READ or atomic operation to the client's memory.
void QpSendQueue::PutDown(const std::shared_ptr<Send>& send) {
  const auto end = [this, send](const absl::Status& status) {
    send->memory.reset();
    send->complete = true;
    if (!status.ok()) send->status = verbs::wc_status::kLocalProtection;
    Complete();
    if (!status.ok()) core_.fail();
    FlushUnposted();
    Pump();
  };
  const auto ranges = core_.provider->keys().FindAll(
      send->request.sges, core_.init.pd, verbs::access::kLocalWrite);
  if (!ranges.ok()) return end(ranges.status());
  const verbs::Buffer buffer = core_.provider->bounces().Take(send->length);
  std::copy_n(send->memory->bytes().begin(), send->length, buffer->begin());
  send->arriving = true;
  verbs::MemoryTransfer transfer;
  transfer.Add(*ranges, buffer, 0);
  transfer.Write(core_.life.WhileSame(end));
}

void QpSendQueue::Complete() {
  while (!sends_.empty() && sends_.front()->complete) {
    const std::shared_ptr<Send> send = std::move(sends_.front());
    sends_.pop_front();
    --sent_;
    --posted_;
    --begun_;
    const ib_uverbs_send_wr& work = send->request.work;
    const bool signaled = core_.init.signal_all ||
                          (work.send_flags & verbs::send_flag::kSignaled) != 0;
    if (!signaled && send->status == 0) continue;
    verbs::WorkCompletion completion{};
    completion.wr_id = work.wr_id;
    completion.status = send->status;
    completion.vendor_err = send->vendor_error;
    completion.opcode = CompletionOpcodeOf(work.opcode);
    completion.byte_len = static_cast<uint32_t>(send->length);
    completion.qp_num = core_.adapter_qp.number();
    core_.CompleteSend(completion, send->entry);
  }
}

void QpSendQueue::FlushUnposted() {
  const bool stopped =
      core_.broken() || core_.state == verbs::QpState::kSendQueueError;
  if (stopped && sent_ == posted_) Flush();
}

void QpSendQueue::Flush() {
  for (const auto& send : sends_) {
    if (send->complete) continue;
    // A send that the adapter has completed waits for the client's memory only.
    if (send->arriving && !core_.gone) continue;
    send->status = verbs::wc_status::kFlushed;
    send->complete = true;
  }
  sent_ = posted_ = begun_ = sends_.size();
  Complete();
}

// Memory whose data is still on its way to the client continues to count as the
// client's, so a client gets no more memory by a reset.
void QpSendQueue::Clear() {
  sends_.clear();
  core_.send_entries.FreeAll();
  sent_ = posted_ = begun_ = 0;
  waits_ = false;
}

void QpSendQueue::StopWaiting() {
  core_.provider->send_memory().StopWaiting(this);
}

}  // namespace ibemu::hca::mlx4

#include "hca/mlx4/verbs/qp_receive_queue.h"

#include <endian.h>

#include <algorithm>
#include <utility>

#include "base/copy_bytes.h"
#include "base/status_macros.h"
#include "hca/mlx4/core/verbs_attributes.h"
#include "hca/mlx4/verbs/mlx4_srq.h"
#include "hca/mlx4/verbs/verbs_provider.h"
#include "hca/mlx4/verbs/work_completion.h"
#include "hca/prm/mlx4_completion.h"
#include "verbs/parts/memory_transfer.h"
#include "verbs/wc_status.h"
#include "wire/packet_headers.h"

namespace ibemu::hca::mlx4 {
namespace {

// The bytes before each datagram, where the adapter writes its GRH or leaves
// the place as it is.
constexpr size_t kGrhPlace = wire::kBytes<wire::GlobalRouteHeader>;
constexpr size_t kMaxDatagram = kGrhPlace + 4096;

}  // namespace

QpReceiveQueue::QpReceiveQueue(QueuePairCore& core)
    : core_(core),
      pending_(core.init.capacity.receive_requests,
               core.init.capacity.receive_sges) {}

absl::Status QpReceiveQueue::TakeShare(uint64_t process) {
  if (core_.srq() != nullptr) return absl::OkStatus();
  IBEMU_ASSIGN_OR_RETURN(share_,
                         core_.provider->receive_memory().ShareOf(process));
  return absl::OkStatus();
}

absl::Status QpReceiveQueue::Post(std::span<verbs::ReceiveRequest> requests,
                                  size_t& taken) {
  if (core_.state == verbs::QpState::kReset || core_.init.srq != nullptr) {
    return absl::InvalidArgumentError("it receives nothing by itself");
  }
  pending_.SetMaxRequests(
      core_.init.capacity.receive_requests -
      static_cast<uint32_t>(posted_.size() + arrivals_.size()));
  absl::Status posted = pending_.Post(requests, taken);
  Pump();
  Flush();
  return posted;
}

void QpReceiveQueue::Pump() {
  while (core_.adapter_qp.running() && !waits_ && !core_.broken()) {
    auto request = pending_.Take();
    if (!request) return;
    auto receive =
        MakeReceive(*request, *core_.provider, share_, core_.init.pd,
                    core_.is_datagram() ? kMaxDatagram : kMaxMessage);
    if (!receive) {
      pending_.PutBack(*std::move(request));
      waits_ = true;
      return core_.provider->receive_memory().CallWhenReturned(
          this, core_.life.WhileSame([this] {
            waits_ = false;
            Pump();
          }));
    }
    core_.adapter_qp.rings().PostReceive(receive->pointer);
    posted_.push_back(*std::move(receive));
  }
}

void QpReceiveQueue::OnCompletion(const Completion& completion,
                                  uint32_t index) {
  const prm::Cqe& entry = completion.entry;
  PostedReceive receive;
  // A completion of nothing that was posted is ignored.
  if (core_.srq() != nullptr) {
    auto taken = core_.srq()->Take(entry.wqe_counter);
    if (!taken) return;
    receive = *std::move(taken);
  } else {
    if (posted_.empty()) return;
    receive = std::move(posted_.front());
    posted_.pop_front();
  }
  auto arrival = std::make_shared<Arrival>();
  arrivals_.push_back(arrival);
  if (core_.srq() != nullptr) core_.srq()->AddArriving(1);
  arrival->index = index;
  if (completion.error) {
    arrival->completion.wr_id = receive.request.id;
    const bool ours =
        receive.status != 0 &&
        completion.error->syndrome == prm::CqeSyndrome::kLocalProtection;
    arrival->completion.status =
        ours ? receive.status : StatusOf(completion.error->syndrome);
    arrival->completion.vendor_err =
        ours ? 0 : completion.error->vendor_syndrome;
    arrival->completion.opcode = verbs::wc_opcode::kReceive;
    arrival->completion.qp_num = core_.adapter_qp.number();
    arrival->done = true;
  } else {
    arrival->completion = Describe(entry, receive.request.id);
    PutDown(std::move(receive), arrival);
  }
  Complete();
  Pump();
}

verbs::WorkCompletion QpReceiveQueue::Describe(const prm::Cqe& entry,
                                               uint64_t id) const {
  constexpr uint32_t kPKeyIndex = 0x7f;
  verbs::WorkCompletion completion{};
  completion.wr_id = id;
  completion.opcode = entry.opcode == prm::kReceivedRdmaWriteImmediate
                          ? verbs::wc_opcode::kReceiveWriteWithImmediate
                          : verbs::wc_opcode::kReceive;
  completion.byte_len = entry.byte_count;
  completion.qp_num = core_.adapter_qp.number();
  completion.port_num = core_.attributes.port_num;
  completion.pkey_index = core_.attributes.pkey_index;
  if (entry.opcode != prm::kReceivedSend) {
    completion.wc_flags |= verbs::wc_flag::kWithImmediate;
    completion.ex.imm_data = htobe32(entry.immediate);
  } else if (core_.is_datagram()) {
    completion.pkey_index = static_cast<uint16_t>(entry.immediate & kPKeyIndex);
  }
  if (core_.is_datagram()) {
    if (entry.grh) completion.wc_flags |= verbs::wc_flag::kGrh;
    completion.src_qp = entry.remote_qpn;
    completion.slid = entry.remote_lid;
    completion.sl = entry.sl;
    completion.dlid_path_bits = entry.path_bits;
  } else {
    completion.src_qp = core_.attributes.dest_qp_num;
    completion.slid = core_.attributes.ah_attr.dlid;
    completion.sl = core_.attributes.ah_attr.sl;
  }
  return completion;
}

// Writes a message to the client's memory; its completion is reported
// afterwards.  Until then the memory that the message came in stays in use, so
// a client that takes messages slowly is sent no more than there is room for.
void QpReceiveQueue::PutDown(PostedReceive receive,
                             const std::shared_ptr<Arrival>& arrival) {
  const verbs::WorkCompletion& completion = arrival->completion;
  const bool written =
      completion.opcode == verbs::wc_opcode::kReceiveWriteWithImmediate;
  const size_t size = written || !receive.memory
                          ? 0
                          : std::min<size_t>(completion.byte_len,
                                             receive.memory->bytes().size());
  // Without a GRH its place in the client's memory stays as it is.
  const size_t skipped =
      core_.is_datagram() && (completion.wc_flags & verbs::wc_flag::kGrh) == 0
          ? std::min(size, kGrhPlace)
          : 0;
  const auto end = [arrival](const absl::Status& status) {
    arrival->done = true;
    arrival->memory.reset();
    if (!status.ok()) {
      arrival->completion.status = verbs::wc_status::kLocalProtection;
      arrival->fails = true;
    }
  };
  if (size == skipped) return end(absl::OkStatus());
  const auto ranges = core_.provider->keys().FindAll(
      receive.request.sges,
      core_.srq() != nullptr ? core_.srq()->pd() : core_.init.pd,
      verbs::access::kLocalWrite);
  if (!ranges.ok()) return end(ranges.status());
  const verbs::Buffer buffer = core_.provider->bounces().Take(size - skipped);
  const auto bytes = receive.memory->bytes().subspan(skipped, size - skipped);
  CopyBytes(bytes, buffer->data());
  arrival->memory = std::move(receive.memory);
  verbs::MemoryTransfer transfer;
  transfer.Add(verbs::PartOf(*ranges, skipped, size - skipped), buffer, 0);
  transfer.Write(core_.life.WhileSame([this, end](const absl::Status& status) {
    end(status);
    Complete();
  }));
}

// Completes receives, in the order in which they came.
void QpReceiveQueue::Complete() {
  while (!arrivals_.empty() && arrivals_.front()->done) {
    const std::shared_ptr<Arrival> arrival = arrivals_.front();
    arrivals_.pop_front();
    if (core_.srq() != nullptr) core_.srq()->EndArriving(1);
    core_.CompleteReceive(arrival->completion, arrival->index);
    // The sender was told of success; the receiver learns of the failure.
    if (arrival->fails) core_.fail();
  }
  if (arrivals_.empty() && std::exchange(tells_of_last_, false)) {
    core_.listener.OnEvent(verbs::AsyncEventType::kLastWqeReached);
  }
}

void QpReceiveQueue::TellOfLastRequest() {
  tells_of_last_ = true;
  Complete();
}

void QpReceiveQueue::Flush() {
  if (!core_.broken()) return;
  const auto flush = [this](uint64_t id) {
    auto arrival = std::make_shared<Arrival>();
    arrival->completion.wr_id = id;
    arrival->completion.status = verbs::wc_status::kFlushed;
    arrival->completion.opcode = verbs::wc_opcode::kReceive;
    arrival->completion.qp_num = core_.adapter_qp.number();
    arrival->done = true;
    arrivals_.push_back(std::move(arrival));
  };
  if (core_.gone) {
    for (const PostedReceive& receive : std::exchange(posted_, {})) {
      flush(receive.request.id);
    }
  }
  // Pending requests end after those that the adapter flushes.
  if (posted_.empty()) {
    while (const auto request = pending_.Take()) flush(request->id);
  }
  Complete();
}

void QpReceiveQueue::FlushArrivals() {
  for (const auto& arrival : arrivals_) {
    if (std::exchange(arrival->done, true)) continue;
    arrival->completion.status = verbs::wc_status::kFlushed;
  }
}

// Memory whose data is still on its way to the client continues to count as the
// client's, so a client gets no more memory by a reset.
void QpReceiveQueue::Clear() {
  waits_ = tells_of_last_ = false;
  while (pending_.Take()) continue;
  posted_.clear();
  if (core_.srq() != nullptr) core_.srq()->EndArriving(arrivals_.size());
  arrivals_.clear();
}

void QpReceiveQueue::StopWaiting() {
  core_.provider->receive_memory().StopWaiting(this);
}

}  // namespace ibemu::hca::mlx4

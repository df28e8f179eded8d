// The receive side of QueuePair: from the adapter to the client's memory.
#include <endian.h>

#include <algorithm>
#include <utility>

#include "hca/mlx4/core/verbs_attributes.h"
#include "hca/mlx4/verbs/queue_pair.h"
#include "hca/mlx4/verbs/shared_receive_queue.h"
#include "hca/mlx4/verbs/verbs_provider.h"
#include "hca/mlx4/verbs/work_completion.h"
#include "hca/prm/mlx4_completion.h"
#include "verbs/wc_status.h"
#include "wire/packet_headers.h"

namespace ibemu::hca::mlx4 {
namespace {

// The bytes before each datagram, where the adapter writes its GRH or leaves
// the place as it is.
constexpr size_t kGrhPlace = wire::kBytes<wire::GlobalRouteHeader>;
constexpr size_t kMaxDatagram = kGrhPlace + 4096;

}  // namespace

absl::Status QueuePair::PostReceive(std::span<verbs::ReceiveRequest> requests,
                                    size_t& taken) {
  if (state_ == State::kReset || init_.srq != nullptr) {
    return absl::InvalidArgumentError("it receives nothing by itself");
  }
  pending_.SetMaxRequests(
      init_.capacity.receive_requests -
      static_cast<uint32_t>(posted_receives_.size() + arrivals_.size()));
  absl::Status posted = pending_.Post(requests, taken);
  PumpReceives();
  FlushReceives();
  return posted;
}

void QueuePair::PumpReceives() {
  while (running_ && !receives_wait_ && !Broken()) {
    auto request = pending_.Take();
    if (!request) return;
    auto receive = MakeReceive(*request, *provider_, receive_share_, init_.pd,
                               is_datagram() ? kMaxDatagram : kMaxMessage);
    if (!receive) {
      pending_.PutBack(*std::move(request));
      receives_wait_ = true;
      return provider_->receive_memory().CallWhenReturned(
          this, WhileSame([this] {
            receives_wait_ = false;
            PumpReceives();
          }));
    }
    queues_->PostReceive(receive->pointer);
    posted_receives_.push_back(*std::move(receive));
  }
}

void QueuePair::OnReceived(const Completion& completion, bool solicited) {
  const prm::Cqe& entry = completion.entry;
  PostedReceive receive;
  // A completion of nothing that was posted is ignored.
  if (srq() != nullptr) {
    auto taken = srq()->Take(entry.wqe_counter);
    if (!taken) return;
    receive = *std::move(taken);
  } else {
    if (posted_receives_.empty()) return;
    receive = std::move(posted_receives_.front());
    posted_receives_.pop_front();
  }
  auto arrival = std::make_shared<Arrival>();
  arrivals_.push_back(arrival);
  if (srq() != nullptr) srq()->AddArriving(1);
  arrival->solicited = solicited;
  if (completion.error) {
    arrival->completion.wr_id = receive.request.id;
    const bool ours =
        receive.status != 0 &&
        completion.error->syndrome == prm::CqeSyndrome::kLocalProtection;
    arrival->completion.status =
        ours ? receive.status : StatusOf(completion.error->syndrome);
    arrival->completion.opcode = verbs::wc_opcode::kReceive;
    arrival->completion.qp_num = number_;
    arrival->done = true;
  } else {
    arrival->completion = Describe(entry, receive.request.id);
    PutDown(std::move(receive), arrival);
  }
  RunArrivals();
  PumpReceives();
}

verbs::WorkCompletion QueuePair::Describe(const prm::Cqe& entry,
                                          uint64_t id) const {
  constexpr uint32_t kPKeyIndex = 0x7f;
  verbs::WorkCompletion completion{};
  completion.wr_id = id;
  completion.opcode = entry.opcode == prm::kReceivedRdmaWriteImmediate
                          ? verbs::wc_opcode::kReceiveWriteWithImmediate
                          : verbs::wc_opcode::kReceive;
  completion.byte_len = entry.byte_count;
  completion.qp_num = number_;
  completion.port_num = attributes_.port_num;
  completion.pkey_index = attributes_.pkey_index;
  if (entry.opcode != prm::kReceivedSend) {
    completion.wc_flags |= verbs::wc_flag::kWithImmediate;
    completion.ex.imm_data = htobe32(entry.immediate);
  } else if (is_datagram()) {
    completion.pkey_index = static_cast<uint16_t>(entry.immediate & kPKeyIndex);
  }
  if (is_datagram()) {
    if (entry.grh) completion.wc_flags |= verbs::wc_flag::kGrh;
    completion.src_qp = entry.remote_qpn;
    completion.slid = entry.remote_lid;
    completion.sl = entry.sl;
    completion.dlid_path_bits = entry.path_bits;
  } else {
    completion.src_qp = attributes_.dest_qp_num;
    completion.slid = attributes_.ah_attr.dlid;
    completion.sl = attributes_.ah_attr.sl;
  }
  return completion;
}

// Writes a message to the client's memory; its completion is reported
// afterwards.  Until then the memory that the message came in stays in use, so
// a client that takes messages slowly is sent no more than there is room for.
void QueuePair::PutDown(PostedReceive receive,
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
      is_datagram() && (completion.wc_flags & verbs::wc_flag::kGrh) == 0
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
  const auto ranges = provider_->keys().FindAll(receive.request.sges, init_.pd,
                                                verbs::access::kLocalWrite);
  if (!ranges.ok()) return end(ranges.status());
  const verbs::Buffer buffer = provider_->bounces().Take(size - skipped);
  const auto bytes = receive.memory->bytes().subspan(skipped, size - skipped);
  std::ranges::copy(bytes, buffer->begin());
  arrival->memory = std::move(receive.memory);
  verbs::MemoryTransfer transfer;
  transfer.Add(verbs::PartOf(*ranges, skipped, size - skipped), buffer, 0);
  transfer.Write(WhileSame([this, end](const absl::Status& status) {
    end(status);
    RunArrivals();
  }));
}

// Completes receives, in the order in which they came.
void QueuePair::RunArrivals() {
  while (!arrivals_.empty() && arrivals_.front()->done) {
    const std::shared_ptr<Arrival> arrival = arrivals_.front();
    arrivals_.pop_front();
    if (srq() != nullptr) srq()->EndArriving(1);
    receive_cq().Push(arrival->completion, arrival->solicited);
    if (!arrival->fails) continue;
    // The sender was told of success; the receiver learns of the failure.
    Fail();
    listener_.OnEvent(verbs::EventType::kQpAccessError);
  }
}

void QueuePair::FlushReceives() {
  if (!Broken()) return;
  const auto flush = [this](uint64_t id) {
    auto arrival = std::make_shared<Arrival>();
    arrival->completion.wr_id = id;
    arrival->completion.status = verbs::wc_status::kFlushed;
    arrival->completion.opcode = verbs::wc_opcode::kReceive;
    arrival->completion.qp_num = number_;
    arrival->done = true;
    arrivals_.push_back(std::move(arrival));
  };
  if (gone_) {
    for (const PostedReceive& receive : std::exchange(posted_receives_, {})) {
      flush(receive.request.id);
    }
  }
  // Pending requests end after those that the adapter flushes.
  if (posted_receives_.empty()) {
    while (const auto request = pending_.Take()) flush(request->id);
  }
  RunArrivals();
}

}  // namespace ibemu::hca::mlx4

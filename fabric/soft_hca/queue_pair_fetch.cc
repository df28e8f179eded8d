// RDMA READs and atomic operations, whose responses carry data: requester and
// responder (IBA vol 1 §9.4.4, §9.4.5 and §9.7.5.1).
#include <algorithm>
#include <cstring>

#include "base/status_macros.h"
#include "fabric/soft_hca/hca.h"
#include "fabric/soft_hca/queue_pair.h"
#include "verbs/wc_status.h"
#include "wire/psn.h"

namespace ibemu::fabric {
namespace {

using Operation = Transport::Operation;

uint32_t RightFor(const Transport& request) {
  return request.IsAtomic() ? verbs::access::kRemoteAtomic
                            : verbs::access::kRemoteRead;
}

verbs::Buffer BytesOf(uint64_t value) {
  auto bytes = std::make_shared<std::vector<std::byte>>(sizeof value);
  std::memcpy(bytes->data(), &value, sizeof value);
  return bytes;
}

}  // namespace

// Returns true if another request may be sent.  The bytes outstanding are
// limited, because responses come at once and then wait for memory, which may
// be slow.
bool QueuePair::MayFetch() const {
  return fetches_ == 0 || (fetches_ < attributes_.max_rd_atomic &&
                           fetching_bytes_ < kMaxInFlight);
}

// Sends a request.  A long RDMA READ is several requests on the wire, one for
// each chunk.
void QueuePair::EmitFetch(Send& send) {
  const ib_uverbs_send_wr& work = send.request.work;
  const size_t length = std::min(send.length - send.emitted, verbs::kChunk);
  auto packet = std::make_shared<Transport>();
  packet->first = packet->last = packet->ack_request = true;
  packet->psn = wire::PsnAfter(send.first_psn,
                               static_cast<uint32_t>(send.emitted / Mtu()));
  packet->length = static_cast<uint32_t>(length);
  if (send.IsAtomic()) {
    const auto& atomic = work.wr.atomic;
    const bool compares = work.opcode == IB_UVERBS_WR_ATOMIC_CMP_AND_SWP;
    packet->operation =
        compares ? Operation::kCompareSwap : Operation::kFetchAdd;
    packet->address = atomic.remote_addr;
    packet->key = atomic.rkey;
    packet->compare = compares ? atomic.compare_add : 0;
    packet->swap_or_add = compares ? atomic.swap : atomic.compare_add;
  } else {
    packet->operation = Operation::kReadRequest;
    packet->address = work.wr.rdma.remote_addr + send.emitted;
    packet->key = work.wr.rdma.rkey;
  }
  auto fetch = std::make_shared<Fetch>(Fetch{
      .send = send,
      .start = send.emitted,
      .length = length,
      .next_psn = packet->psn,
      .last_psn =
          wire::PsnAfter(packet->psn, wire::PacketsFor(length, Mtu()) - 1)});
  send.emitted += length;
  ++send.fetches;
  ++fetches_;
  fetching_bytes_ += length;
  Emit(std::move(packet), std::move(fetch));
  if (send.emitted == send.length) ++cursor_;
}

// Responses come in the order of the requests, but a request is complete only
// when its data is in memory.
void QueuePair::OnFetched(const Transport& answer) {
  AcknowledgeUpTo(wire::PsnAfter(answer.psn, wire::kPsnMask));
  const auto first = std::find_if(
      in_flight_.begin(), in_flight_.end(), [](const InFlight& packet) {
        return packet.fetch != nullptr && !packet.fetch->answered;
      });
  if (first == in_flight_.end()) return;
  const std::shared_ptr<Fetch> fetch = first->fetch;
  Send& send = fetch->send;
  const bool atomic = answer.operation == Operation::kAtomicResponse;
  const size_t size = atomic ? kAtomicBytes : answer.size;
  const size_t most = answer.packets * Mtu();
  if (answer.packets > 1 && answer.psn != fetch->next_psn) {
    for (uint32_t i = 0; i < answer.packets && Receives(); ++i) {
      OnFetched(answer.Single(i));
    }
    return;
  }
  // A response was lost: the request is sent again after the timeout.
  if (answer.psn != fetch->next_psn || atomic != send.IsAtomic() ||
      size != std::min(fetch->length - fetch->received, most)) {
    return;
  }
  const auto ranges = RangesOf(send);
  if (!ranges.ok()) return FailLater(send, verbs::wc_status::kLocalProtection);
  if (atomic) {
    fetch->arrived.Add(*ranges, BytesOf(answer.original), 0);
  } else if (size != 0) {
    fetch->arrived.Add(
        verbs::PartOf(*ranges, fetch->start + fetch->received, size),
        answer.message, answer.offset);
  }
  fetch->received += size;
  fetch->answered = fetch->received == fetch->length;
  fetch->next_psn = wire::PsnAfter(fetch->next_psn, answer.packets);
  retries_left_ = attributes_.retry_cnt;
  timeouts_ = 0;
  ArmRetryTimer();
  if (!fetch->answered) return;
  if (fetch->arrived.empty()) return OnFetchWritten(*fetch, absl::OkStatus());
  fetch->arrived.Write(WhileSame([this, fetch](const absl::Status& status) {
    OnFetchWritten(*fetch, status);
  }));
}

void QueuePair::OnFetchWritten(Fetch& fetch, const absl::Status& status) {
  Send& send = fetch.send;
  if (!status.ok()) return FailLater(send, verbs::wc_status::kLocalProtection);
  fetch.complete = true;
  --fetches_;
  fetching_bytes_ -= fetch.length;
  send.complete = --send.fetches == 0 && send.emitted == send.length;
  AcknowledgeUpTo(fetch.last_psn);
}

void QueuePair::AnswerFetch(const Transport& request) {
  if (!MayAccess(RightFor(request)) ||
      !hca_.keys()
           .Find(request.key, init_.pd, request.address, request.length,
                 RightFor(request))
           .ok()) {
    return Refuse(Syndrome::kAccessError);
  }
  if (request.IsAtomic() && request.address % kAtomicBytes != 0) {
    return Refuse(Syndrome::kInvalidRequest);
  }
  expected_psn_ =
      wire::PsnAfter(expected_psn_, wire::PacketsFor(request.length, Mtu()));
  AddStep({.psn = request.psn, .fetch = std::make_shared<Transport>(request)});
  RunSteps();
}

// Answers a repeated request.  An RDMA READ is executed again.  An atomic
// operation is not: its result was kept.
void QueuePair::RepeatFetch(const Transport& request) {
  AddStep({.psn = request.psn,
           .fetch = std::make_shared<Transport>(request),
           .repeats = true});
  RunSteps();
}

// Returns true when the response is complete.
bool QueuePair::ContinueFetch(Step& step) {
  if (step.done) return true;
  if (step.reaching) return false;
  return step.fetch->IsAtomic() ? ContinueAtomic(step) : ContinueRead(step);
}

// Sends the next chunk of a response.
bool QueuePair::ContinueRead(Step& step) {
  const Transport& request = *step.fetch;
  const size_t size =
      std::min<size_t>(request.length - step.answered, verbs::kChunk);
  const auto range =
      hca_.keys().Find(request.key, init_.pd, request.address + step.answered,
                       size, verbs::access::kRemoteRead);
  if (!range.ok()) {
    step.done = true;
    step.refusal = Syndrome::kAccessError;
    return true;
  }
  const verbs::Buffer buffer = hca_.bounces().Take(size);
  if (size == 0) {
    SendReadResponses(step, buffer);
    step.done = true;
    return true;
  }
  step.reaching = true;
  verbs::MemoryTransfer transfer;
  transfer.Add(*range, buffer, 0);
  transfer.Read(
      WhileSame([this, front = steps_.front(), buffer](const auto& status) {
        front->reaching = false;
        if (!status.ok()) {
          front->done = true;
          front->status = status;
        } else {
          SendReadResponses(*front, buffer);
          front->done = front->answered == front->fetch->length;
        }
        RunSteps();
      }));
  return false;
}

// Returns the target of an atomic operation.  It is a single range, because an
// address that is a multiple of its size cannot cross a page.
absl::StatusOr<verbs::MemoryRange> QueuePair::AtomicTarget(
    const Transport& request) const {
  IBEMU_ASSIGN_OR_RETURN(
      const verbs::MemoryRanges ranges,
      hca_.keys().Find(request.key, init_.pd, request.address, kAtomicBytes,
                       verbs::access::kRemoteAtomic));
  return ranges.front();
}

bool QueuePair::ContinueAtomic(Step& step) {
  const Transport& request = *step.fetch;
  step.done = true;
  if (step.repeats) {
    // The latest result with this number is the right one.  A repeated request
    // that is too old gets no response.
    const auto kept = std::find_if(
        atomic_results_.rbegin(), atomic_results_.rend(),
        [&](const AtomicResult& result) { return result.psn == step.psn; });
    if (kept != atomic_results_.rend()) {
      SendAtomicResponse(kept->psn, kept->original);
    }
    return true;
  }
  const auto range = AtomicTarget(request);
  if (!range.ok()) {
    step.refusal = Syndrome::kAccessError;
    return true;
  }
  step.done = false;
  step.reaching = true;
  hca_.atomics().Run(
      *range,
      {.compares = request.operation == Operation::kCompareSwap,
       .compare = request.compare,
       .swap_or_add = request.swap_or_add},
      [this, self = self_, life = life_, asked = step.fetch] {
        return *self == nullptr || life_ != life
                   ? absl::PermissionDeniedError("its queue pair has gone")
                   : AtomicTarget(*asked).status();
      },
      WhileSame([this, front = steps_.front()](
                    const absl::StatusOr<uint64_t>& original) {
        front->done = true;
        if (absl::IsPermissionDenied(original.status())) {
          front->refusal = Syndrome::kAccessError;
        } else {
          front->status = original.status();
        }
        if (original.ok()) {
          atomic_results_.push_back({front->psn, *original});
          if (atomic_results_.size() > attributes_.max_dest_rd_atomic) {
            atomic_results_.pop_front();
          }
          SendAtomicResponse(front->psn, *original);
        }
        RunSteps();
      }));
  return false;
}

void QueuePair::SendReadResponses(Step& step, const verbs::Buffer& buffer) {
  const Transport& request = *step.fetch;
  const size_t mtu = Mtu();
  auto packet = std::make_shared<Transport>();
  packet->operation = Operation::kReadResponse;
  packet->psn =
      wire::PsnAfter(request.psn, static_cast<uint32_t>(step.answered / mtu));
  packet->first = step.answered == 0;
  packet->message = buffer;
  packet->size = buffer->size();
  packet->packets = wire::PacketsFor(packet->size, mtu);
  packet->payload = static_cast<uint32_t>(mtu);
  step.answered += packet->size;
  packet->last = step.answered == request.length;
  Transmit(std::move(packet));
}

void QueuePair::SendAtomicResponse(uint32_t psn, uint64_t original) {
  auto packet = std::make_shared<Transport>();
  packet->operation = Operation::kAtomicResponse;
  packet->first = packet->last = true;
  packet->psn = psn;
  packet->original = original;
  Transmit(std::move(packet));
}

}  // namespace ibemu::fabric

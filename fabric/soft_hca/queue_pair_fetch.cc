// RDMA READs and atomic operations, whose responses carry data (IBA vol 1
// §9.4.4, §9.4.5 and §9.7.5.1).
#include <algorithm>
#include <cstring>

#include "fabric/soft_hca/hca.h"
#include "fabric/soft_hca/queue_pair.h"
#include "verbs/wc_status.h"
#include "wire/psn.h"

namespace ibemu::fabric {
namespace {

using Operation = Transport::Operation;

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
  return fetches_ == 0 || (fetches_ < context_.attributes.max_rd_atomic &&
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
    for (uint32_t i = 0; i < answer.packets && context_.Receives(); ++i) {
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
  retries_left_ = context_.attributes.retry_cnt;
  timeouts_ = 0;
  ArmRetryTimer();
  if (!fetch->answered) return;
  if (fetch->arrived.empty()) return OnFetchWritten(*fetch, absl::OkStatus());
  fetch->arrived.Write(
      context_.guard.Wrap([this, fetch](const absl::Status& status) {
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

}  // namespace ibemu::fabric

#include "fabric/soft_hca/transport/fetch_requester.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_format.h"
#include "fabric/soft_hca/transport/atomic_unit.h"
#include "verbs/parts/bounce_buffers.h"
#include "verbs/wc_status.h"
#include "wire/psn.h"

namespace ibemu::fabric {
namespace {

verbs::Buffer BytesOf(uint64_t value) {
  auto bytes = std::make_shared<std::vector<std::byte>>(sizeof value);
  std::memcpy(bytes->data(), &value, sizeof value);
  return bytes;
}

}  // namespace

// The bytes outstanding are limited, because responses come at once and then
// wait for memory, which may be slow.
bool FetchRequester::MayRequest() const {
  return outstanding_ == 0 || (outstanding_ < qp_.attributes.max_rd_atomic &&
                               bytes_ < PacketsInFlight::kMaxBytes);
}

void FetchRequester::Request(PostedSend& send) {
  const size_t length = std::min(send.length - send.emitted, verbs::kChunk);
  std::shared_ptr<Transport> packet = RequestPacket(send, length);
  auto fetch = std::make_shared<FetchInFlight>(FetchInFlight{
      .send = send,
      .start = send.emitted,
      .length = length,
      .next_psn = packet->psn,
      .last_psn = wire::PsnAfter(packet->psn,
                                 wire::PacketsFor(length, link_.Mtu()) - 1)});
  send.emitted += length;
  ++send.fetches;
  ++outstanding_;
  bytes_ += length;
  in_flight_.Send(std::move(packet), std::move(fetch));
}

std::shared_ptr<Transport> FetchRequester::RequestPacket(const PostedSend& send,
                                                         size_t length) const {
  const ib_uverbs_send_wr& work = send.request.work;
  auto packet = std::make_shared<Transport>();
  packet->operation = send.Operation();
  packet->first = packet->last = packet->ack_request = true;
  packet->psn = wire::PsnAfter(
      send.first_psn, static_cast<uint32_t>(send.emitted / link_.Mtu()));
  packet->length = static_cast<uint32_t>(length);
  if (send.IsAtomic()) {
    const auto& atomic = work.wr.atomic;
    const bool compares = work.opcode == IB_UVERBS_WR_ATOMIC_CMP_AND_SWP;
    packet->address = atomic.remote_addr;
    packet->key = atomic.rkey;
    packet->compare = compares ? atomic.compare_add : 0;
    packet->swap_or_add = compares ? atomic.swap : atomic.compare_add;
  } else {
    packet->address = work.wr.rdma.remote_addr + send.emitted;
    packet->key = work.wr.rdma.rkey;
  }
  return packet;
}

void FetchRequester::OnResponse(const std::shared_ptr<FetchInFlight>& fetch,
                                const Transport& response) {
  PostedSend& send = fetch->send;
  const bool atomic =
      response.operation == Transport::Operation::kAtomicResponse;
  const size_t size = atomic ? kAtomicBytes : response.size;
  const size_t mtu = link_.Mtu();
  if (wire::PsnDistance(response.psn, fetch->next_psn) > 0) {
    ++qp_.counters.implied_nak_seq_err;
  }
  // A response was lost: the request is sent again after the timeout.
  if (response.psn != fetch->next_psn || atomic != send.IsAtomic()) return;
  if (!atomic && !response.FitsMtu(mtu)) {
    qp_.history.Note(Incident::Kind::kDenied, send.first_psn,
                     absl::StrFormat("a response of %d bytes came, which the "
                                     "path MTU here, %d, does not allow",
                                     response.longest(), mtu));
    return sends_.Fail(send, verbs::wc_status::kBadResponse);
  }
  if (size !=
      std::min(fetch->length - fetch->received, response.packets * mtu)) {
    return;
  }
  const auto ranges = send.FindMemory(qp_);
  if (!ranges.ok()) return FailLocally(send, ranges.status());
  if (atomic) {
    fetch->arrived.Add(*ranges, BytesOf(response.original), 0);
  } else if (size != 0) {
    fetch->arrived.Add(
        verbs::PartOf(*ranges, fetch->start + fetch->received, size),
        response.message, response.offset);
  }
  fetch->received += size;
  fetch->answered = fetch->received == fetch->length;
  fetch->next_psn = wire::PsnAfter(fetch->next_psn, response.packets);
  in_flight_.OnResponse();
  if (!fetch->answered) return;
  if (fetch->arrived.empty()) return OnWritten(*fetch, absl::OkStatus());
  fetch->arrived.Write(
      qp_.guard.Wrap([this, fetch](const absl::Status& status) {
        OnWritten(*fetch, status);
      }));
}

// Says why, in the history.
void FetchRequester::FailLocally(PostedSend& send, const absl::Status& why) {
  qp_.history.Note(Incident::Kind::kDenied, send.first_psn,
                   std::string(why.message()));
  sends_.Fail(send, verbs::wc_status::kLocalProtection);
}

void FetchRequester::OnWritten(FetchInFlight& fetch,
                               const absl::Status& status) {
  PostedSend& send = fetch.send;
  if (!status.ok()) return FailLocally(send, status);
  fetch.complete = true;
  --outstanding_;
  bytes_ -= fetch.length;
  send.complete = --send.fetches == 0 && send.emitted == send.length;
  listener_.OnFetchComplete(fetch.last_psn);
}

}  // namespace ibemu::fabric

#include "daemon/why/pitfalls.h"

#include <cstdint>

#include "absl/strings/str_format.h"

namespace ibemu::daemon {
namespace {

using fabric::QueuePairFacts;
using verbs::QpType;

constexpr int kEndless = 7;  // of rnr_retry

// Of what a queue pair of type RC that sends was set to.
void CheckRetries(const QueuePairFacts& own, std::vector<Pitfall>& found) {
  const verbs::QpAttributes& attributes = own.attributes;
  if (attributes.timeout == 0) {
    found.push_back({"no-timeout",
                     "its timeout is 0: a lost packet is waited for for ever, "
                     "and nobody is told"});
  } else if (attributes.retry_cnt == 0) {
    found.push_back(
        {"no-retries", "its retry_cnt is 0: one lost packet ends it"});
  }
  if (attributes.rnr_retry == kEndless && own.counters.rnr_nak_retry_err != 0) {
    found.push_back(
        {"hidden-stall",
         absl::StrFormat("its peer was not ready (%d RNR NAKs) and was waited "
                         "for: with an rnr_retry of 7 that has no end",
                         own.counters.rnr_nak_retry_err)});
  }
}

void CheckReceives(const QueuePairFacts& own, std::vector<Pitfall>& found) {
  const uint64_t late = own.counters.out_of_buffer;
  if (late == 0) return;
  const char* const so = own.type == QpType::kRc
                             ? "the peer had to send again, and fails when its "
                               "rnr_retry is used up"
                             : "lost, and nobody is told";
  found.push_back(
      {"late-receive",
       absl::StrFormat("%d %s came before a receive request "
                       "was posted: %s",
                       late, late == 1 ? "message" : "messages", so)});
}

// Completions that may all be there at once, of requests that always have one.
void CheckQueues(const QueuePairFacts& own, std::vector<Pitfall>& found) {
  const uint64_t sends = own.signal_all ? own.send_requests : 0;
  const uint64_t receives = own.receive_requests;
  const auto check = [&found](uint64_t most, uint32_t size, const char* what) {
    if (most <= size) return;
    found.push_back(
        {"cq-too-small",
         absl::StrFormat("%d %s requests may complete into a completion queue "
                         "of %d: when it is full, all of its queue pairs fail",
                         most, what, size)});
  };
  if (own.one_cq) return check(sends + receives, own.send_cq_size, "work");
  check(sends, own.send_cq_size, "send");
  check(receives, own.receive_cq_size, "receive");
}

int BytesOf(uint32_t mtu_code) { return 128 << mtu_code; }

void CheckPeer(const QueuePairFacts& own, const QueuePairFacts& peer,
               std::vector<Pitfall>& found) {
  const verbs::QpAttributes& here = own.attributes;
  const verbs::QpAttributes& there = peer.attributes;
  if (here.path_mtu > there.path_mtu) {
    found.push_back(
        {"mtu-differs",
         absl::StrFormat("its path MTU is %d and its peer's %d: an adapter "
                         "refuses packets that are longer than its own",
                         BytesOf(here.path_mtu), BytesOf(there.path_mtu))});
  }
  if (own.type == QpType::kRc &&
      here.max_rd_atomic > there.max_dest_rd_atomic) {
    found.push_back(
        {"rd-atomic-differs",
         absl::StrFormat("its max_rd_atomic is %d and its peer's "
                         "max_dest_rd_atomic %d: an adapter refuses more "
                         "(REM_INV_REQ_ERR)",
                         here.max_rd_atomic, there.max_dest_rd_atomic)});
  }
}

}  // namespace

std::vector<Pitfall> FindPitfalls(const QueuePairFacts& own,
                                  const QueuePairFacts* peer) {
  std::vector<Pitfall> found;
  const bool sends = own.may_send;
  if (own.type == QpType::kRc && sends) CheckRetries(own, found);
  CheckReceives(own, found);
  CheckQueues(own, found);
  if (peer != nullptr && sends && own.type != QpType::kUd) {
    CheckPeer(own, *peer, found);
  }
  return found;
}

}  // namespace ibemu::daemon

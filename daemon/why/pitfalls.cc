#include "daemon/why/pitfalls.h"

#include <cstdint>

#include "absl/strings/str_cat.h"
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
  if (own.counters.out_of_buffer <= own.kept_back) return;
  const uint64_t late = own.counters.out_of_buffer - own.kept_back;
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

// Whether a queue that nothing is taken out of is on its way to be full.
bool FillsUp(uint32_t used, uint32_t size) { return used > size / 2; }

void CheckCompletions(const QueuePairFacts& own, std::vector<Pitfall>& found) {
  if (!own.signaled && FillsUp(own.sends_taken, own.send_requests)) {
    found.push_back(
        {"never-signaled",
         absl::StrFormat("none of its sends was signaled, and %d of the %d "
                         "places of its send queue are taken: nothing frees "
                         "them, and ibv_post_send() fails when it is full",
                         own.sends_taken, own.send_requests)});
  }
  const auto check = [&found](uint32_t waiting, uint32_t size,
                              const char* what) {
    // Who has filled it to the last place has made it for just that: one more
    // would have failed here, too.
    if (!FillsUp(waiting, size) || waiting == size) return;
    found.push_back(
        {"never-polled",
         absl::StrFormat("nothing was ever polled from its %scompletion queue, "
                         "where %d completions are and %d have room: when it "
                         "is full, all of its queue pairs fail",
                         what, waiting, size)});
  };
  if (own.one_cq) return check(own.send_cq_unpolled, own.send_cq_size, "");
  check(own.send_cq_unpolled, own.send_cq_size, "send ");
  check(own.receive_cq_unpolled, own.receive_cq_size, "receive ");
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
  CheckCompletions(own, found);
  if (peer != nullptr && sends && own.type != QpType::kUd) {
    CheckPeer(own, *peer, found);
  }
  return found;
}

std::vector<Pitfall> FindPitfalls(const ContextFacts& facts) {
  // A program may well have a handle for each peer, and peers may share a port.
  constexpr uint32_t kManyHandles = 100;
  std::vector<Pitfall> found;
  if (facts.address_handles - facts.destinations >= kManyHandles) {
    found.push_back(
        {"ah-leak",
         absl::StrFormat(
             "%d address handles were never destroyed, and lead to "
             "%d %s: a program that runs longer has no memory left",
             facts.address_handles, facts.destinations,
             facts.destinations == 1 ? "destination" : "destinations")});
  }
  if (facts.late_arms != 0) {
    const std::string times =
        facts.late_arms == 1 ? "once"
                             : absl::StrFormat("%d times", facts.late_arms);
    found.push_back(
        {"late-arm",
         absl::StrCat(times,
                      " it waited for an event while completions from before "
                      "ibv_req_notify_cq() were not polled: an adapter that "
                      "tells of later ones alone lets it wait for ever")});
  }
  if (facts.others_commands != 0) {
    found.push_back(
        {"used-after-fork",
         absl::StrFormat("%d %s came from another process than the one that "
                         "opened the adapter: Linux refuses them, and a child "
                         "has but copies of the queues that an adapter reads",
                         facts.others_commands,
                         facts.others_commands == 1 ? "command" : "commands")});
  }
  return found;
}

}  // namespace ibemu::daemon

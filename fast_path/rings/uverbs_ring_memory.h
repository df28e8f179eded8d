// UverbsRingMemory: the memory that an open uverbsN shares with its client.
#ifndef IBEMU_FAST_PATH_RINGS_UVERBS_RING_MEMORY_H_
#define IBEMU_FAST_PATH_RINGS_UVERBS_RING_MEMORY_H_

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "fast_path/rings/completion_ring.h"
#include "fast_path/rings/ring_control.h"
#include "fast_path/rings/slot_ring.h"

namespace ibemu::fast_path {

// The state of a slot that somebody has taken.
enum class CommandState : uint32_t {
  kAsked,        // the client waits, awake
  kAskedAsleep,  // the client waits in a futex, which the state is
  kAnswered,
};

// A command, which the daemon answers in the same place.
struct CommandSlot {
  static constexpr size_t kMaxCommand = 1024;
  static constexpr size_t kMaxAnswer = 1024;
  static constexpr size_t kMaxData = 256;
  // Instead of the length of data: the client has not copied them.
  static constexpr uint32_t kNoData = UINT32_MAX;

  alignas(kLine) std::atomic<CommandState> state;
  // The client's: not 0 if it waits for the answer.  Else the slot is free when
  // the command has been carried out, and the daemon says so.
  std::atomic<uint32_t> awaited;
  // The commands of a thread are carried out in the order of these, which wrap
  // around.
  std::atomic<uint32_t> order;
  // The bytes as a write() would have them, and of a POST_SEND what its SGEs
  // name, in their order.
  std::atomic<uint32_t> command_length;
  std::atomic<uint32_t> data_length;
  // The daemon's: the errno of the write(), or 0, and the response.  There may
  // be one with an errno, too.
  std::atomic<uint32_t> error;
  std::atomic<uint32_t> answer_length;
  std::byte command[kMaxCommand];
  std::byte answer[kMaxAnswer];
  std::byte data[kMaxData];
};

// A QueuePairPromise is the number and the kind of work requests that a queue
// pair surely takes, so that who posts them need not wait for the answer.
// Requests are counted from the beginning; numbers wrap around.
struct QueuePairPromise {
  // The daemon's: the handle, plus 1, and in the upper half how often that has
  // changed; and what requests may be like.
  alignas(kLine) std::atomic<uint64_t> queue_pair;
  std::atomic<uint32_t> type;  // verbs::QpType
  std::atomic<uint32_t> send_sges, receive_sges;
  std::atomic<uint32_t> inline_bytes;
  // So many may have been posted without waiting.  Of sends in the lower half,
  // and in the upper half what the lower half of `freed` was then: so many more
  // as that has grown by.
  std::atomic<uint64_t> sends_until;
  std::atomic<uint32_t> receives_until;

  // The client's: so many were; and in the lower half how many sends are free
  // again by completions that it has taken out of rings.  The upper half is
  // that of `queue_pair`.
  alignas(kLine) std::atomic<uint32_t> sends, receives;
  std::atomic<uint64_t> freed;

  // Returns how many sends may have been posted.  `name`: queue_pair.
  uint32_t SendsUntil(uint64_t name) const {
    const uint64_t until = sends_until.load();
    const uint64_t now = freed.load();
    const auto at = static_cast<uint32_t>(until);
    if (now >> 32 != name >> 32) return at;
    return at + static_cast<uint32_t>(now) - static_cast<uint32_t>(until >> 32);
  }
  // Counts sends in `freed`, if the place is still that queue pair's.
  void Free(uint64_t name, uint32_t entries) {
    uint64_t now = freed.load();
    while (now >> 32 == name >> 32 &&
           !freed.compare_exchange_weak(
               now, (now & ~uint64_t{UINT32_MAX}) |
                        (static_cast<uint32_t>(now) + entries))) {
    }
  }
};

// Slots for commands, each of which is one thread's until it has its answer, or
// the daemon's until it is carried out if nobody waits for that; and what a
// client need not ask for: what queue pairs take, and completions.
struct UverbsRingMemory {
  // One bit for each.
  static constexpr size_t kSlots = 64;
  static constexpr size_t kQueues = 64;
  static constexpr size_t kQueuePairs = 256;

  RingControl control;

  // The client's: the slots that its threads have.
  alignas(kLine) std::atomic<uint64_t> taken;
  // How many commands were asked.
  std::atomic<uint32_t> asked_so_far;
  // What `arrivals` was when a poll last found nothing.
  std::atomic<uint32_t> arrivals_seen;
  // When an empty queue was last asked for by the file, in ns of
  // CLOCK_MONOTONIC: only so a client learns that the daemon has ended.
  std::atomic<int64_t> asked_by_file;

  // The slots whose commands nobody has begun: the client sets a bit, and who
  // clears it has the command: the daemon to carry it out, or the client to
  // take it back.
  alignas(kLine) std::atomic<uint64_t> asked;
  // The same for POST_RECVs that nobody waits for.  They are carried out before
  // others, and before a message finds no receive request: who hears that they
  // were posted may send at once.
  std::atomic<uint64_t> receives;

  // The daemon's: how many completions have come to any queue.
  alignas(kLine) std::atomic<uint32_t> arrivals;

  // Each in the place of its handle.  Of queue pairs with the same place the
  // last one has it, of completion queues the first one.
  QueuePairPromise queue_pairs[kQueuePairs];
  CommandSlot slots[kSlots];
  CompletionRing completions[kQueues];

  CompletionRing& RingOf(uint32_t queue) {
    return completions[queue % kQueues];
  }
  QueuePairPromise& PromiseOf(uint32_t queue_pair) {
    return queue_pairs[queue_pair % kQueuePairs];
  }
  // The client has taken a completion that frees so many sends.
  void Free(uint64_t queue_pair, uint32_t sends) {
    if (sends == 0) return;
    PromiseOf(static_cast<uint32_t>(queue_pair) - 1).Free(queue_pair, sends);
  }
};

static_assert(std::atomic<CommandState>::is_always_lock_free &&
              std::atomic<int64_t>::is_always_lock_free);

}  // namespace ibemu::fast_path

#endif  // IBEMU_FAST_PATH_RINGS_UVERBS_RING_MEMORY_H_

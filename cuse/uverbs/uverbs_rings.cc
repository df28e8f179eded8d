#include "cuse/uverbs/uverbs_rings.h"

#include <linux/futex.h>
#include <rdma/ib_user_verbs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <climits>
#include <cstring>
#include <utility>

#include "base/copy_bytes.h"
#include "verbs/uverbs/command.h"

namespace ibemu::cuse {
namespace {

using fast_path::CommandState;

// The bit of a slot.
uint64_t BitOf(size_t slot) { return uint64_t{1} << slot; }

// Commands whose answer is data alone, so that no descriptor has to be given
// and no memory of the client to be reached.
bool IsForRings(uint32_t command) {
  switch (command) {
    case IB_USER_VERBS_CMD_POST_SEND:
    case IB_USER_VERBS_CMD_POST_RECV:
    case IB_USER_VERBS_CMD_POST_SRQ_RECV:
    case IB_USER_VERBS_CMD_POLL_CQ:
    case IB_USER_VERBS_CMD_REQ_NOTIFY_CQ:
    case IB_USER_VERBS_CMD_CREATE_AH:
    case IB_USER_VERBS_CMD_DESTROY_AH:
      return true;
    default:
      return false;
  }
}

// Returns true if it is such a command, with room for no longer an answer than
// a slot has.
bool IsAllowed(const verbs::Command& command) {
  return !command.extended && IsForRings(command.number) &&
         command.room <= fast_path::CommandSlot::kMaxAnswer;
}

// Not FUTEX_PRIVATE: the waiter is another process.
void Wake(std::atomic<CommandState>& state) {
  syscall(SYS_futex, &state, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

}  // namespace

UverbsRings::UverbsRings(RingSet& set, RingSet::Client client,
                         SharedMemory memory, Owner& owner)
    : set_(set), shared_(std::move(memory)), owner_(owner) {
  for (fast_path::CompletionRing& ring : this->memory().completions) {
    completions_.emplace_back(ring, promises_);
  }
  set_.Add(*this, std::move(client));
}

UverbsRings::~UverbsRings() {
  Close();
  while (under_way_ != 0) {
    Answer(static_cast<size_t>(std::countr_zero(under_way_)), Errno::kIo, {});
  }
  set_.Remove(*this);
}

void UverbsRings::CatchUp() {
  if (closed_) return;
  Drain();
  if (!closed_) set_.Used(*this);
}

void UverbsRings::Close() {
  if (std::exchange(closed_, true)) return;
  control().closed = 1;
  for (CompletionRingWriter& ring : completions_) ring.End();
  for (Slot& slot : memory().slots) {
    if (slot.state.load() == CommandState::kAskedAsleep) Wake(slot.state);
  }
}

bool UverbsRings::HasCalls() const {
  return !closed_ && (memory().asked.load() | memory().receives.load()) != 0;
}

bool UverbsRings::Drain() {
  if (!HasCalls()) return false;
  if (!owner_.MayCommand()) {
    Close();
    return true;
  }
  // Who sees a command sees what its thread has left before.
  const uint64_t asked = memory().asked.exchange(0);
  const uint64_t receives = memory().receives.exchange(0);
  owner_.PollTaken();
  BeginAll(receives, true);
  BeginAll(asked, false);
  return true;
}

void UverbsRings::TakeReceives() {
  if (closed_ || memory().receives.load() == 0) return;
  if (!owner_.MayCommand()) return Close();
  BeginAll(memory().receives.exchange(0), true);
}

void UverbsRings::BeginAll(uint64_t asked, bool receives) {
  for (const size_t slot : InOrder(asked)) {
    if (!Begin(slot, receives)) Close();
  }
}

// A thread that does not wait has several commands there at the same time.
absl::InlinedVector<size_t, 4> UverbsRings::InOrder(uint64_t asked) const {
  absl::InlinedVector<size_t, 4> slots;
  for (; asked != 0; asked &= asked - 1) {
    slots.push_back(static_cast<size_t>(std::countr_zero(asked)));
  }
  if (slots.empty()) return slots;
  // The client may change these while they are compared, and they may be
  // anything: counted from one of them they have one order.
  std::array<uint32_t, Memory::kSlots> orders;
  for (const size_t slot : slots) orders[slot] = memory().slots[slot].order;
  const uint32_t least = orders[slots.front()] - (1u << 31);
  std::ranges::sort(slots, {}, [&orders, least](size_t slot) {
    return orders[slot] - least;
  });
  return slots;
}

// The slot is copied before anything of it is looked at.
bool UverbsRings::Begin(size_t number, bool receives) {
  const Slot& slot = memory().slots[number];
  const bool awaited = !receives && slot.awaited.load() != 0;
  const size_t command_length = slot.command_length.load();
  const size_t data_length = slot.data_length.load();
  const bool has_data = data_length != Slot::kNoData;
  if ((under_way_ & BitOf(number)) != 0 ||
      command_length > sizeof slot.command ||
      (has_data && data_length > sizeof slot.data)) {
    return false;
  }
  std::array<std::byte, sizeof slot.command> command;
  std::array<std::byte, sizeof slot.data> data;
  std::memcpy(command.data(), slot.command, command_length);
  if (has_data) std::memcpy(data.data(), slot.data, data_length);
  const Bytes whole = Bytes(command).first(command_length);
  const auto parsed = verbs::ParseCommand(whole);
  if (!parsed.ok() || !IsAllowed(*parsed)) return false;
  if (!awaited) {
    if (!CountUnawaited(*parsed, receives)) return false;
    unawaited_ |= BitOf(number);
  }
  under_way_ |= BitOf(number);
  owner_.Execute(
      number, whole,
      has_data ? std::optional(Bytes(data).first(data_length)) : std::nullopt,
      awaited);
  return true;
}

bool UverbsRings::CountUnawaited(const verbs::Command& command, bool receives) {
  if (command.number != (receives ? IB_USER_VERBS_CMD_POST_RECV
                                  : IB_USER_VERBS_CMD_POST_SEND) ||
      command.request.size() < sizeof(ib_uverbs_post_recv)) {
    return false;
  }
  // Sends and receives have the same header.
  const auto post = verbs::ReadAs<ib_uverbs_post_recv>(command.request);
  // Another thread may have destroyed the queue pair since the client posted.
  // The command then fails, and so it does for who makes up a handle.
  if (!promises_.Knows(post.qp_handle)) return true;
  return receives ? promises_.CountReceives(post.qp_handle, post.wr_count)
                  : promises_.CountSends(post.qp_handle, post.wr_count);
}

void UverbsRings::Answer(size_t number, Errno error, Bytes response) {
  under_way_ &= ~BitOf(number);
  if ((unawaited_ & BitOf(number)) != 0) {
    unawaited_ &= ~BitOf(number);
    memory().taken &= ~BitOf(number);
    return;
  }
  Slot& slot = memory().slots[number];
  slot.error = static_cast<uint32_t>(error);
  slot.answer_length = static_cast<uint32_t>(response.size());
  CopyBytes(response, slot.answer);
  if (slot.state.exchange(CommandState::kAnswered) ==
      CommandState::kAskedAsleep) {
    Wake(slot.state);
  }
}

verbs::ClientCompletions* UverbsRings::CompletionsOf(uint32_t queue) {
  CompletionRingWriter& ring = completions_[queue % completions_.size()];
  if (ring.broken()) Close();
  return ring.queue() == queue ? &ring : nullptr;
}

verbs::ClientCompletions* UverbsRings::PlaceFor(uint32_t queue) {
  CompletionRingWriter& ring = completions_[queue % completions_.size()];
  if (!ring.queue() && !closed_) ring.SetQueue(queue);
  return CompletionsOf(queue);
}

void UverbsRings::OnCqGone(uint32_t queue) {
  CompletionRingWriter& ring = completions_[queue % completions_.size()];
  if (ring.queue() == queue) ring.SetQueue(std::nullopt);
}

}  // namespace ibemu::cuse

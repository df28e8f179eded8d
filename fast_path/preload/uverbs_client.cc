#include "fast_path/preload/uverbs_client.h"

#include <linux/futex.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>

#include "fast_path/preload/monotonic_clock.h"
#include "fast_path/preload/work_request_list.h"
#include "fast_path/rings/attach_rings.h"
#include "verbs/sends_data.h"
#include "verbs/wc_status.h"

// In Linux since 5.14, and not in Debian 12's headers.
#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ 22
#define MADV_POPULATE_WRITE 23
#endif

namespace ibemu::fast_path {
namespace {

// An answer mostly comes within microseconds, and who sleeps until then pays a
// switch or two.  Others may have the processor meanwhile.
constexpr int64_t kLongestSpin = 50 * kMicrosecond;
// How long a poll that finds nothing is held, as in the daemon: a client that
// polls again and again would keep the processor from those it waits for.
constexpr int64_t kLongestPoll = 30 * kMicrosecond;
// Other commands find room in slots beside those that nobody waits for.
constexpr int kMaxUnawaited = 48;
// So often the daemon is looked for.
constexpr int64_t kLongestSleep = kSecond;
constexpr int64_t kShortSleep = kMillisecond;  // and when it has closed

template <class T>
T ReadAs(const void* bytes) {
  T value;
  std::memcpy(&value, bytes, sizeof value);
  return value;
}

// Returns true if these bytes are in pages that can be accessed.  The kernel is
// asked about each page once.
bool HasPages(KnownPages& known, const void* data, size_t size, int advice) {
  if (known.Has(data, size)) return true;
  constexpr uintptr_t kPage = 4096;
  const auto address = reinterpret_cast<uintptr_t>(data);
  const uintptr_t first = address & ~(kPage - 1);
  if (madvise(reinterpret_cast<void*>(first), address + size - first, advice) !=
      0) {
    return false;
  }
  known.Add(data, size);
  return true;
}

}  // namespace

// All lengths are right, and the answer is data that fits.  Whether the command
// is right is the daemon's to say.
Way UverbsClient::Judge(const void* command, size_t size,
                        Command& judged) const {
  if (size < sizeof judged.header || size > CommandSlot::kMaxCommand) {
    return Way::kCommand;
  }
  if (!HasPages(facts_.readable, command, size, MADV_POPULATE_READ)) {
    return Way::kPage;
  }
  judged.header = ReadAs<ib_uverbs_cmd_hdr>(command);
  judged.room = judged.header.out_words * size_t{4};
  judged.response = 0;
  if (judged.header.in_words * size_t{4} != size ||
      judged.room > CommandSlot::kMaxAnswer) {
    return Way::kCommand;
  }
  size_t least = 0;  // of the request
  switch (judged.header.command) {
    case IB_USER_VERBS_CMD_REQ_NOTIFY_CQ:
    case IB_USER_VERBS_CMD_DESTROY_AH:
      return Way::kRing;
    case IB_USER_VERBS_CMD_POLL_CQ:
      least = sizeof(ib_uverbs_poll_cq);
      break;
    case IB_USER_VERBS_CMD_POST_SEND:
      least = sizeof(ib_uverbs_post_send);
      break;
    case IB_USER_VERBS_CMD_POST_RECV:
    case IB_USER_VERBS_CMD_POST_SRQ_RECV:
      least = sizeof(ib_uverbs_post_recv);
      break;
    case IB_USER_VERBS_CMD_CREATE_AH:
      least = sizeof(ib_uverbs_create_ah);
      break;
    default:
      return Way::kCommand;
  }
  if (size < sizeof judged.header + least) return Way::kCommand;
  judged.response = ReadAs<uint64_t>(static_cast<const std::byte*>(command) +
                                     sizeof judged.header);
  if (judged.response == 0 || judged.room == 0) return Way::kCommand;
  const auto* const place = reinterpret_cast<const void*>(judged.response);
  return HasPages(facts_.writable, place, judged.room, MADV_POPULATE_WRITE)
             ? Way::kRing
             : Way::kPage;
}

// Lets others run, and returns the time when they have.
int64_t UverbsClient::Yield(int64_t began) const {
  sched_yield();
  const int64_t ended = Now();
  facts_.yields.OnYield(began, ended);
  return ended;
}

// Waits for something to poll: in this queue, which was empty after so many
// arrivals, or, as the daemon does it, in another one of the file, which the
// thread may poll next.  Returns kEmpty if the daemon has to say what there is.
// It has to as long as a post of this file may be in its slot: a poll after the
// post finds the completion that it has brought at once.
Way UverbsClient::PollEmpty(uint32_t queue, size_t most, uint32_t arrivals,
                            CompletionReader& reader) {
  if (memory_.arrivals_seen.exchange(arrivals, std::memory_order_relaxed) !=
          arrivals &&
      memory_.taken.load() == 0) {
    return Way::kRing;
  }
  const int64_t begin = Now();
  if (begin - memory_.asked_by_file.load(std::memory_order_relaxed) >
      kLongestSleep) {
    memory_.asked_by_file.store(begin, std::memory_order_relaxed);
    return Way::kAsleep;
  }
  // The daemon may hold the poll as well, while this thread sleeps.
  if (!facts_.yields.MayYield(begin)) return Way::kEmpty;
  int64_t now = begin;
  do {
    now = Yield(now);
    if (memory_.control.closed.load() != 0) return Way::kAsleep;
    if (memory_.arrivals.load() == arrivals) continue;
    const auto found = reader.Take(memory_.RingOf(queue), queue, most);
    return found == CompletionReader::Found::kUnknown ? Way::kEmpty
                                                      : Way::kRing;
  } while (now - begin < kLongestPoll);
  return memory_.taken.load() == 0 ? Way::kRing : Way::kEmpty;
}

// Answers a poll with what the queue's ring has.  Returns kEmpty if the daemon
// has to be asked.
Way UverbsClient::Poll(const ib_uverbs_poll_cq& poll, const Command& judged) {
  ib_uverbs_poll_cq_resp header{};
  if (judged.room < sizeof header + sizeof(ib_uverbs_wc) || poll.ne == 0) {
    return Way::kEmpty;
  }
  const size_t most = std::min<size_t>(
      poll.ne, (judged.room - sizeof header) / sizeof(ib_uverbs_wc));
  const uint32_t arrivals = memory_.arrivals.load();
  CompletionReader reader;
  switch (reader.Take(memory_.RingOf(poll.cq_handle), poll.cq_handle, most)) {
    case CompletionReader::Found::kUnknown:
      return Way::kEmpty;
    case CompletionReader::Found::kNone:
      if (const Way way = PollEmpty(poll.cq_handle, most, arrivals, reader);
          way != Way::kRing) {
        return way;
      }
      break;
    case CompletionReader::Found::kSome:
      break;
  }
  auto* place = reinterpret_cast<std::byte*>(judged.response);
  header.count = static_cast<uint32_t>(reader.entries().size());
  std::memcpy(place, &header, sizeof header);
  place += sizeof header;
  for (const CompletionRing::Entry& entry : reader.entries()) {
    std::memcpy(place, &entry.completion, sizeof entry.completion);
    place += sizeof entry.completion;
    memory_.Free(entry.queue_pair, static_cast<uint32_t>(entry.frees_sends));
  }
  return Way::kRing;
}

// Copies what the requests of a POST_SEND send, if it is not too much.  The
// kernel copies, for it knows which pages are there.  REQUIRES: the command has
// a whole ib_uverbs_post_send.
Way UverbsClient::FillData(CommandSlot& slot, size_t size) const {
  WorkRequestList<ib_uverbs_send_wr> list(slot.command, size);
  if (!list.is_whole()) return Way::kCommand;

  iovec pieces[CommandSlot::kMaxCommand / sizeof(ib_uverbs_sge)];
  size_t count = 0;
  size_t length = 0;
  bool is_inline = false;
  bool is_later = false;
  for (uint32_t i = 0; i < list.count(); ++i) {
    const ib_uverbs_send_wr request = list.At(i);
    if (!list.HasSges(request.num_sge)) return Way::kCommand;
    const bool sends = verbs::SendsData(request);
    if ((request.send_flags & verbs::send_flag::kInline) != 0) {
      if (!sends) return Way::kCommand;
      is_inline = true;
    } else if ((request.send_flags & verbs::send_flag::kFence) != 0) {
      is_later = true;  // what reads before it bring may be sent
    }
    for (uint32_t j = 0; j < request.num_sge; ++j) {
      const ib_uverbs_sge sge = list.TakeSge();
      if (!sends) continue;
      length += sge.length;
      pieces[count++] = {reinterpret_cast<void*>(sge.addr), sge.length};
    }
  }
  slot.data_length.store(CommandSlot::kNoData, std::memory_order_relaxed);
  if (is_inline && is_later) return Way::kCommand;
  if (length <= sizeof slot.data && !is_later) {
    const iovec here = {slot.data, length};
    if (length == 0 ||
        process_vm_readv(facts_.process.load(std::memory_order_relaxed), &here,
                         1, pieces, count, 0) == static_cast<ssize_t>(length)) {
      slot.data_length.store(static_cast<uint32_t>(length),
                             std::memory_order_relaxed);
      return Way::kRing;
    }
  }
  // Inline data are read before the command ends, which needs its write().
  return is_inline ? Way::kPage : Way::kRing;
}

CommandSlot* UverbsClient::TakeSlot(uint64_t& bit) {
  uint64_t taken = memory_.taken.load(std::memory_order_relaxed);
  while (~taken != 0) {
    const int free = std::countr_one(taken);
    bit = uint64_t{1} << free;
    taken = memory_.taken.fetch_or(bit);
    if ((taken & bit) == 0) return &memory_.slots[free];
  }
  return nullptr;
}

// Returns true if the daemon has not begun the command, and now will not.
bool UverbsClient::TakeBack(std::atomic<uint64_t>& asked, uint64_t bit) {
  return (asked.fetch_and(~bit) & bit) != 0;
}

// Returns true if it is known what the daemon will say of the post in the slot.
bool UverbsClient::Claim(const CommandSlot& slot, uint32_t command, size_t size,
                         PromiseClaim& claim) {
  if (std::popcount(memory_.taken.load()) > kMaxUnawaited) return false;
  switch (command) {
    case IB_USER_VERBS_CMD_POST_SEND:
      return claim.Claim(
          memory_, WorkRequestList<ib_uverbs_send_wr>(slot.command, size));
    case IB_USER_VERBS_CMD_POST_RECV:
      return claim.Claim(
          memory_, WorkRequestList<ib_uverbs_recv_wr>(slot.command, size));
    default:
      return false;
  }
}

// Leaves the post in the slot, and the slot, to the daemon.  With kAsleep both
// are still the caller's.
Way UverbsClient::Leave(CommandSlot& slot, uint32_t command, uint64_t bit) {
  slot.awaited.store(0, std::memory_order_relaxed);
  std::atomic<uint64_t>& asked =
      command == IB_USER_VERBS_CMD_POST_RECV ? memory_.receives : memory_.asked;
  asked.fetch_or(bit);
  return memory_.control.IsServed() || !TakeBack(asked, bit) ? Way::kRing
                                                             : Way::kAsleep;
}

bool UverbsClient::Sleep(std::atomic<CommandState>& state) {
  auto awake = CommandState::kAsked;
  if (!state.compare_exchange_strong(awake, CommandState::kAskedAsleep) &&
      awake == CommandState::kAnswered) {
    return true;
  }
  // Who closes the rings wakes those who sleep, but not who comes later.
  const int64_t longest =
      memory_.control.closed.load() == 0 ? kLongestSleep : kShortSleep;
  const timespec slice = ToTimespec(longest);
  const long result = syscall(SYS_futex, &state, FUTEX_WAIT,
                              CommandState::kAskedAsleep, &slice, nullptr, 0);
  if (result == 0 || errno != ETIMEDOUT) return true;
  return ioctl(fd_, kLookAtRings) == 0;
}

// Has the command in the slot carried out.  `bit` becomes 0 if the slot may
// still be written to, though its answer does not come.
Way UverbsClient::Carry(CommandSlot& slot, uint64_t& bit) {
  slot.awaited.store(1, std::memory_order_relaxed);
  slot.state.store(CommandState::kAsked, std::memory_order_relaxed);
  memory_.asked.fetch_or(bit);
  const int64_t begin = Now();
  int64_t now = begin;
  while (slot.state.load() != CommandState::kAnswered) {
    if (!memory_.control.IsServed() && TakeBack(memory_.asked, bit)) {
      return Way::kAsleep;
    }
    if (now - begin < kLongestSpin && facts_.yields.MayYield(now)) {
      now = Yield(now);
    } else if (!Sleep(slot.state)) {
      memory_.control.closed.store(1);
      if (!TakeBack(memory_.asked, bit)) bit = 0;
      return Way::kAsleep;
    }
  }
  return Way::kRing;
}

Way UverbsClient::Write(const void* command, size_t size, int& error) {
  Command judged;
  if (const Way way = Judge(command, size, judged); way != Way::kRing) {
    return way;
  }
  if (memory_.control.closed.load() != 0) return Way::kAsleep;
  auto* response = reinterpret_cast<std::byte*>(judged.response);
  error = 0;
  if (judged.header.command == IB_USER_VERBS_CMD_POLL_CQ) {
    const auto poll = ReadAs<ib_uverbs_poll_cq>(
        static_cast<const std::byte*>(command) + sizeof judged.header);
    const Way way = Poll(poll, judged);
    if (way != Way::kEmpty) return way;
  }
  if (!memory_.control.IsServed()) return Way::kAsleep;
  uint64_t bit = 0;
  CommandSlot* const slot = TakeSlot(bit);
  if (slot == nullptr) return Way::kBusy;
  std::memcpy(slot->command, command, size);
  // What is judged is the copy, if another thread changes the command.
  if (const Way way = Judge(slot->command, size, judged); way != Way::kRing) {
    memory_.taken.fetch_and(~bit);
    return way;
  }
  response = reinterpret_cast<std::byte*>(judged.response);
  slot->command_length.store(static_cast<uint32_t>(size),
                             std::memory_order_relaxed);
  slot->data_length.store(CommandSlot::kNoData, std::memory_order_relaxed);
  Way way = Way::kRing;
  if (judged.header.command == IB_USER_VERBS_CMD_POST_SEND) {
    way = FillData(*slot, size);
  }
  slot->order.store(memory_.asked_so_far.fetch_add(1),
                    std::memory_order_relaxed);
  PromiseClaim claim;
  if (way == Way::kRing && Claim(*slot, judged.header.command, size, claim)) {
    way = Leave(*slot, judged.header.command, bit);
    if (way == Way::kRing) {
      // No request is a bad one.
      std::memset(response, 0,
                  std::min(judged.room, sizeof(ib_uverbs_post_send_resp)));
      return way;
    }
    claim.GiveBack();
  } else if (way == Way::kRing) {
    way = Carry(*slot, bit);
  }
  if (way == Way::kRing) {
    error = static_cast<int>(slot->error.load());
    if (response != nullptr) {
      std::memcpy(response, slot->answer,
                  std::min<size_t>(slot->answer_length.load(), judged.room));
    }
  }
  memory_.taken.fetch_and(~bit);
  return way;
}

}  // namespace ibemu::fast_path

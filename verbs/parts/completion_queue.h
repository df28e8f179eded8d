// Completion queues in memory.
#ifndef IBEMU_VERBS_PARTS_COMPLETION_QUEUE_H_
#define IBEMU_VERBS_PARTS_COMPLETION_QUEUE_H_

#include <cstddef>
#include <cstdint>
#include <deque>

#include "verbs/parts/send_queue_entries.h"
#include "verbs/parts/solicited_events.h"
#include "verbs/provider.h"

namespace ibemu::verbs {

// A CompletionQueue keeps completions, oldest first, until the client polls
// them.  The listener must outlive it.
//
// A request to be notified that finds a completion of the kind it asks for is
// answered at once, as by mlx4 and mlx5 adapters: their doorbell tells how many
// completions were polled, and the adapter compares that with the number of all
// completions, or with that of the last solicited or failed one.
class CompletionQueue : public verbs::Cq {
 public:
  // `size` is the number of completions that it holds, `most` the largest size
  // to which it may be resized.
  CompletionQueue(uint32_t size, uint32_t most, verbs::CqListener& listener)
      : size_(size), most_(most), listener_(listener) {}

  uint32_t size() const override { return size_; }
  absl::Status Resize(uint32_t size) override;
  size_t waiting() const override {
    return entries_.size() - listener_.taken();
  }
  // Returns how many completions wait if none was ever polled, else 0.
  size_t unpolled() const {
    return polled_ == 0 && listener_.taken() == 0 ? entries_.size() : 0;
  }
  size_t Poll(std::span<verbs::WorkCompletion> completions) override;
  size_t Peek(size_t first,
              std::span<verbs::WaitingCompletion> completions) const override;
  void RequestNotify(bool solicited_only) override;

  // Adds a completion and tells the listener, as the client asked.  Returns
  // false if the completion is lost, because it finds no room or an earlier one
  // found none: then the queue is in error, of which the listener hears once,
  // and takes no more (IBA vol 1 §10.10.2.4).  The queue pair whose completion
  // is lost has to enter the error state.  One of a failed request without a
  // vendor_err gets the one that goes with its status.
  bool Push(const verbs::WorkCompletion& completion, bool solicited) {
    return Push({.completion = completion, .solicited = solicited});
  }
  // The same of a receive request, number `index` for `events`, which is asked
  // only if the client wants to be notified of solicited completions.  Forget()
  // comes before `events` ends.
  bool PushReceive(const verbs::WorkCompletion& completion,
                   SolicitedEvents& events, uint32_t index) {
    return Push(
        {.completion = completion, .events = &events, .event_index = index});
  }
  // The same of a send request.  When its completion is polled, the entries up
  // to `entry` of its queue are freed; Forget() comes before those end.
  bool PushSend(const verbs::WorkCompletion& completion,
                SendQueueEntries& entries, uint64_t entry) {
    return Push({.completion = completion,
                 .sends = &entries,
                 .send_entry = entry,
                 .frees_sends = entries.Complete(entry)});
  }

  // Drops the completions of the queue pair `number`, which ends or is reset.
  void Forget(uint32_t number);

 private:
  enum class Wanted { kNothing, kSolicited, kAny };

  struct Entry {
    verbs::WorkCompletion completion;
    bool solicited = false;
    SendQueueEntries* sends = nullptr;  // null: not of a send request
    uint64_t send_entry = 0;
    uint32_t frees_sends = 0;
    SolicitedEvents* events = nullptr;  // null: see `solicited`
    uint32_t event_index = 0;
  };

  bool Push(Entry entry);
  // Returns true if the entry is of the kind that the client wants.
  bool IsWanted(const Entry& entry) const;
  void Notify();

  uint32_t size_;
  const uint32_t most_;
  verbs::CqListener& listener_;
  Wanted wanted_ = Wanted::kNothing;
  bool overrun_ = false;
  uint64_t polled_ = 0;
  std::deque<Entry> entries_;
};

}  // namespace ibemu::verbs

#endif  // IBEMU_VERBS_PARTS_COMPLETION_QUEUE_H_

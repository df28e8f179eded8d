// CompletionRingWriter: the daemon's side of a CompletionRing.
#ifndef IBEMU_CUSE_UVERBS_COMPLETION_RING_WRITER_H_
#define IBEMU_CUSE_UVERBS_COMPLETION_RING_WRITER_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "cuse/uverbs/promise_table.h"
#include "fast_path/rings/completion_ring.h"
#include "verbs/uverbs/client_completions.h"

namespace ibemu::cuse {

// A CompletionRingWriter puts completions into a ring, from which the client
// takes them.  Of what the client leaves there nothing is believed but how many
// it has taken, and that only if it can be so.  Else it takes nothing more.
class CompletionRingWriter final : public verbs::ClientCompletions {
 public:
  using Ring = fast_path::CompletionRing;

  // Both must outlive this object.
  CompletionRingWriter(Ring& ring, PromiseTable& promises)
      : ring_(ring), promises_(promises) {}

  // The handle of the queue that has the ring, if there is one.
  std::optional<uint32_t> queue() const { return queue_; }
  // Gives the ring to a queue, closed; or to nobody.
  void SetQueue(std::optional<uint32_t> queue);

  // Closes the ring for good.
  void End();
  // Returns true if the client has broken the rules.
  bool broken() const { return broken_; }

  // verbs::ClientCompletions
  size_t size() const override { return producer_ - polled_; }
  size_t room() override;
  size_t taken() override;
  void Open() override;
  void Close() override;
  bool is_open() const override { return (changes_ & 1) != 0; }
  void Add(const verbs::WaitingCompletion& completion,
           std::optional<uint32_t> qp) override;
  void SetMore(bool more) override;
  void OnPolled(size_t count) override;

 private:
  // What an entry says of a send queue.  It is needed again in OnPolled(), and
  // the client may have overwritten the entry by then.
  struct Freed {
    uint64_t queue_pair;
    uint32_t sends;
  };

  // Takes over how many completions the client has taken.  Returns false if
  // `consumer` can't be what an honest client has left in the ring.
  bool Believe(uint64_t consumer);

  Ring& ring_;
  PromiseTable& promises_;
  std::optional<uint32_t> queue_;
  bool ended_ = false, broken_ = false;
  uint32_t changes_ = 0;
  // How many completions were added since the ring was opened, taken by the
  // client, when last looked at, and polled of the queue.
  uint32_t producer_ = 0, taken_ = 0, polled_ = 0;
  std::array<Freed, Ring::kEntries> freed_{};
};

}  // namespace ibemu::cuse

#endif  // IBEMU_CUSE_UVERBS_COMPLETION_RING_WRITER_H_

// UverbsRings: the memory that an open uverbsN shares with its client, seen
// from the daemon.
#ifndef IBEMU_CUSE_UVERBS_UVERBS_RINGS_H_
#define IBEMU_CUSE_UVERBS_UVERBS_RINGS_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>

#include "absl/container/inlined_vector.h"
#include "cuse/errno.h"
#include "cuse/reply.h"
#include "cuse/rings/ring_set.h"
#include "cuse/rings/shared_memory.h"
#include "cuse/uverbs/completion_ring_writer.h"
#include "cuse/uverbs/promise_table.h"
#include "fast_path/rings/uverbs_ring_memory.h"
#include "verbs/uverbs/client_completions.h"
#include "verbs/uverbs/command.h"
#include "verbs/uverbs/objects.h"

namespace ibemu::cuse {

// The UverbsRings of a file take its client's commands out of shared memory and
// put their answers there.  The client may do with the memory what it likes: it
// is then cut off from it, and still has its file.
//
// Commands are those whose answers are data: POST_SEND, POST_RECV,
// POST_SRQ_RECV, POLL_CQ, REQ_NOTIFY_CQ, CREATE_AH and DESTROY_AH.
class UverbsRings final : private RingSet::Rings {
 public:
  // The file that the commands are for.
  class Owner {
   public:
    // Returns false if the client has no right to give commands any more.
    virtual bool MayCommand() = 0;

    // Polls what the client has taken by itself (verbs::ClientCompletions): it
    // may have commands that rely on it.
    virtual void PollTaken() = 0;

    // Carries out what a write() of `command` would have brought, and calls
    // Answer(slot) once, now or later.  `data`: what the SGEs of a POST_SEND
    // name, if the client has copied it.  The bytes are valid during the call.
    // `awaited`: see verbs::CommandCall.
    virtual void Execute(size_t slot, Bytes command, std::optional<Bytes> data,
                         bool awaited) = 0;

   protected:
    ~Owner() = default;
  };

  // REQUIRES: set.HasRoomFor(client.user); `memory` has the size of a
  // UverbsRingMemory; `set` and `owner` outlive this object.
  UverbsRings(RingSet& set, RingSet::Client client, SharedMemory memory,
              Owner& owner);

  // Closes the rings.  Commands without an answer fail with EIO.
  ~UverbsRings();
  UverbsRings(const UverbsRings&) = delete;
  UverbsRings& operator=(const UverbsRings&) = delete;

  // Begins all commands that were given before a call that came by the file,
  // and serves the rings from now on.
  void CatchUp();

  // Carries out the POST_RECVs that the client has not waited for.
  void TakeReceives();

  // Cuts the client off from its rings.  It is told, and goes on by its file,
  // also with commands that nobody has begun, but for those that it does not
  // wait for: these are lost.  Others are still answered.
  void Close();

  // Answers the command of a slot.  REQUIRES: it has no answer yet; the
  // response has at most as many bytes as the command has room for.
  void Answer(size_t slot, Errno error, Bytes response);

  // See verbs::ContextClient.  Of completion queues with the same place the
  // first one has it.
  verbs::ClientCompletions* CompletionsOf(uint32_t queue);
  verbs::ClientCompletions* PlaceFor(uint32_t queue);
  void OnCqGone(uint32_t queue);
  void OnArrival() { ++memory().arrivals; }
  void OnPromise(uint32_t handle, const verbs::QpObject* qp) {
    promises_.Set(handle, qp);
  }

 private:
  using Memory = fast_path::UverbsRingMemory;
  using Slot = fast_path::CommandSlot;

  bool Drain() override;
  bool HasCalls() const override;
  fast_path::RingControl& control() override { return memory().control; }

  Memory& memory() const { return *static_cast<Memory*>(shared_.address()); }
  // Returns false if the client has broken the rules.
  bool Begin(size_t slot, bool receives);
  // Begins what these bits ask for, in the order in which it was asked.
  void BeginAll(uint64_t asked, bool receives);
  // Returns the slots of these bits in that order.
  absl::InlinedVector<size_t, 4> InOrder(uint64_t asked) const;
  // Counts a post that the client does not wait for.  Returns false if there
  // can be none like that.
  bool CountUnawaited(const verbs::Command& command, bool receives);

  RingSet& set_;
  const SharedMemory shared_;
  Owner& owner_;
  uint64_t under_way_ = 0;  // the slots whose commands have no answer yet
  uint64_t unawaited_ = 0;  // of these, those whose clients have gone on
  PromiseTable promises_{memory().queue_pairs};
  std::deque<CompletionRingWriter> completions_;  // by place
  bool closed_ = false;
};

}  // namespace ibemu::cuse

#endif  // IBEMU_CUSE_UVERBS_UVERBS_RINGS_H_

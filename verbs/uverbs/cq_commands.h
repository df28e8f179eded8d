// CqCommands: completion channels and completion queues.
#ifndef IBEMU_VERBS_UVERBS_CQ_COMMANDS_H_
#define IBEMU_VERBS_UVERBS_CQ_COMMANDS_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "base/timers.h"
#include "verbs/provider.h"
#include "verbs/uverbs/client_completions.h"
#include "verbs/uverbs/command_table.h"
#include "verbs/uverbs/context_client.h"
#include "verbs/uverbs/context_objects.h"
#include "verbs/uverbs/event_queue.h"
#include "verbs/uverbs/objects.h"

namespace ibemu::verbs {

// The commands for completion channels and completion queues of one context.
class CqCommands final : private CqObject::Keeper {
 public:
  // Adds its commands to `table`.  REQUIRES: all arguments outlive this object,
  // and `table` is not used when this object has ended.
  CqCommands(CommandTable& table, Provider& provider, ContextClient& client,
             Timers& timers, ContextObjects& objects);
  ~CqCommands();  // polls that wait are not answered any more
  CqCommands(const CqCommands&) = delete;
  CqCommands& operator=(const CqCommands&) = delete;

  // Polls what the client has taken by itself: that frees entries of send
  // queues.
  void PollTaken();

 private:
  // A POLL_CQ that found nothing and has not been answered yet.
  struct Poll {
    uint32_t cq;
    size_t most;  // completions
    uint64_t address;
    CommandCall::Done done;
    TimerId end;
  };

  absl::Status CreateCompChannel(CommandCall& call);
  absl::Status CreateCq(CommandCall& call);
  absl::Status ResizeCq(CommandCall& call);
  absl::Status DestroyCq(CommandCall& call);
  absl::Status PollCq(CommandCall& call);
  absl::Status TakeCompletions(uint32_t handle, size_t most,
                               std::vector<std::byte>& response);
  void TellPromises(std::span<const WorkCompletion> completions);
  // CqObject::Keeper
  void OnArrival(CqObject& cq) override;
  size_t TakenOf(const CqObject& cq) override;
  void OnDrop(CqObject& cq) override;

  // The queue is destroyed.
  void OnGone(uint32_t handle);
  // See PollTaken().
  void PollTaken(CqObject& cq);
  // Lets the client take no more of the queue's completions by itself.
  void Withhold(CqObject& cq);
  // Lets the client take them.
  void Share(CqObject& cq);
  // Puts there what comes next in the queue and finds room, if it is open.
  void AddAll(const CqObject& cq, ClientCompletions& to);
  std::optional<uint32_t> HandleOfQp(uint32_t number) const;
  void EndPoll(uint64_t number);
  void EndPollsSoon();
  void PollTakenSoon();
  absl::Status ReqNotifyCq(CommandCall& call);

  Provider& provider_;
  ContextClient& client_;
  Timers& timers_;
  ContextObjects& objects_;
  absl::flat_hash_map<int, std::weak_ptr<EventQueue>> channels_;

  uint64_t last_poll_ = 0;
  bool polls_end_soon_ = false;
  bool polls_taken_soon_ = false;
  absl::flat_hash_map<uint64_t, Poll> polls_;
  // Those of which the client could take completions by itself.
  absl::flat_hash_set<uint32_t> shared_;
  // Null inside once this has ended; callbacks that run later, and queues that
  // end later, check that.
  std::shared_ptr<CqObject::Keeper*> self_ =
      std::make_shared<CqObject::Keeper*>(static_cast<CqObject::Keeper*>(this));
};

}  // namespace ibemu::verbs

#endif  // IBEMU_VERBS_UVERBS_CQ_COMMANDS_H_

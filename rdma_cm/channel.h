// Channel: one open of rdma_cm, with its ids and their events.
#ifndef IBEMU_RDMA_CM_CHANNEL_H_
#define IBEMU_RDMA_CM_CHANNEL_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "rdma_cm/id_event_queue.h"
#include "rdma_cm/rdma_cm_view.h"
#include "rdma_cm/user_id.h"
#include "rdma_cm/values/outcome.h"

namespace ibemu::rdma_cm {

// A Channel does what ucma.c does, but for bytes: it keeps ids by their numbers
// and counts the events that were fetched.  Its end ends its ids, in the order
// in which they were made.
class Channel final : private UserIdOwner {
 public:
  static constexpr size_t kMaxIds = 16384;
  static constexpr size_t kMaxEvents = 4 * kMaxIds;
  static constexpr size_t kMaxJoins = 64;         // of an id
  static constexpr size_t kMaxJoinsOfAll = 4096;  // of all ids together
  // Of the ids of all opens of a view: librdmacm has a table of that size, and
  // cannot keep an id whose number is beyond it.
  static constexpr uint32_t kMaxNumbers = 65536;
  static constexpr int kMaxBacklog = 1024;  // net.rdma_ucm.max_backlog

  // Calls `on_event` when an event was queued, but not while this ends.
  Channel(std::shared_ptr<RdmaCmView> view, std::function<void()> on_event);
  ~Channel();
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;

  // Returns the new id's number, or kNoMemory at one of the limits.  `qp_type`
  // counts for PortSpace::kIb alone.
  Outcome<uint32_t> Create(uint64_t uid, PortSpace space, uint8_t qp_type);

  // Ends an id and forgets its events.  Returns how many were fetched.
  Outcome<uint32_t> Destroy(uint32_t number);

  enum class Needs { kNothing, kDevice };
  // Errors: kNoSuchId; kInvalid, it is another open's, or has no device yet;
  // kRemoved, its device is gone.
  Outcome<std::shared_ptr<UserId>> Find(uint32_t number,
                                        Needs needs = Needs::kNothing);

  Refusal Listen(UserId& id, int backlog);
  Refusal Accept(UserId& id, uint64_t uid,
                 const ConnectionParameters& parameters, const cm::Ece& ece);

  // Returns the number of the new join.
  Outcome<uint32_t> Join(const std::shared_ptr<UserId>& id, uint64_t uid,
                         const SocketAddress& group, uint8_t join_state);
  // Leaves the group and forgets the join's events.  Returns how many were
  // fetched.
  Outcome<uint32_t> Leave(uint32_t join);

  // Takes an id, with its events, from the open that has it, which must be of
  // the same user.  Returns how many events were fetched, or kNoMemory, and the
  // id stays, if not all of it fits here.
  Outcome<uint32_t> TakeOver(uint32_t number);

  // Whose open it is: a number that the front end gives its users, or
  // kUnknownUser if the process was gone before it could be asked.  Two of
  // these need not be the same.
  static constexpr uint64_t kUnknownUser = UINT64_MAX;
  uint64_t user() const { return user_; }
  void SetUser(uint64_t user) { user_ = user; }

  // The process that has it open, as the daemon sees it; 0: unknown.
  int process() const override { return process_; }
  void SetProcess(int process) { process_ = process; }

  bool has_event() const { return !events_.empty(); }
  // Takes an event, which counts as fetched.  REQUIRES: has_event().
  QueuedEvent Fetch();
  // The program could not be told after all.  Does not call this open's
  // `on_event`.
  void PutBack(QueuedEvent event);

 private:
  void OnEvent(const std::shared_ptr<UserId>& id, Event event) override;
  void OnJoinEvent(const std::shared_ptr<UserId>& id,
                   const std::shared_ptr<UserJoin>& join, Event event) override;
  bool HasRoom(const UserId& listener) override;
  void OnRequest(const std::shared_ptr<UserId>& listener,
                 std::unique_ptr<Id> id, Event event) override;

  bool is_ending() const { return on_event_ == nullptr; }
  bool MayAdd() const;
  std::shared_ptr<UserId> Add(std::unique_ptr<Id> id, uint64_t uid);
  void Push(QueuedEvent event);
  uint32_t End(const std::shared_ptr<UserId>& id);
  // Ends the id that the event's request made, if that has not ended yet.
  void EndRequest(const QueuedEvent& event);

  const std::shared_ptr<RdmaCmView> view_;
  std::function<void()> on_event_;            // null while this ends
  std::vector<std::shared_ptr<UserId>> ids_;  // in the order of their making
  IdEventQueue events_;
  size_t joins_ = 0;  // of its ids
  uint64_t user_ = 0;
  int process_ = 0;
};

}  // namespace ibemu::rdma_cm

#endif  // IBEMU_RDMA_CM_CHANNEL_H_

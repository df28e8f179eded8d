// UserId: an id as a program has it, with a number and events that count.
#ifndef IBEMU_RDMA_CM_USER_ID_H_
#define IBEMU_RDMA_CM_USER_ID_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "rdma_cm/id.h"
#include "rdma_cm/user_join.h"
#include "rdma_cm/values/event.h"

namespace ibemu::rdma_cm {

class UserId;

// The owner of a UserId: an open rdma_cm, which hears its events.
class UserIdOwner {
 public:
  virtual void OnEvent(const std::shared_ptr<UserId>& id, Event event) = 0;
  virtual void OnJoinEvent(const std::shared_ptr<UserId>& id,
                           const std::shared_ptr<UserJoin>& join,
                           Event event) = 0;
  virtual bool HasRoom(const UserId& listener) = 0;
  virtual void OnRequest(const std::shared_ptr<UserId>& listener,
                         std::unique_ptr<Id> id, Event event) = 0;
  // As Id::Owner has it.
  virtual int process() const = 0;

 protected:
  ~UserIdOwner() = default;
};

// A UserId is an Id with what ucma.c knows of it (ucma_context).  Its events go
// to the open that has it, which may change.
class UserId final : public std::enable_shared_from_this<UserId>,
                     private Id::Owner {
 public:
  UserId(UserIdOwner& owner, std::unique_ptr<Id> id, uint64_t uid);

  // Ends the id: what is under way, its joins, and it tells no more.
  void End();

  // Null after the end, which comes early if its adapter is removed.
  Id* id() { return id_.get(); }
  const std::vector<std::shared_ptr<UserJoin>>& joins() const { return joins_; }
  void Add(std::shared_ptr<UserJoin> join) {
    joins_.push_back(std::move(join));
  }
  void Remove(const UserJoin& join);

  // Passes on an event of one of its joins.
  void TellOfJoin(const std::shared_ptr<UserJoin>& join, Event event);

  UserIdOwner& owner() const { return *owner_; }
  void SetOwner(UserIdOwner& owner) { owner_ = &owner; }

  uint32_t number = 0;
  // The program's name of it.  An id with none is told no events: that of a
  // request, until it is accepted.
  uint64_t uid;
  uint32_t events_reported = 0;  // that the program was told
  uint32_t events_queued = 0;  // in its open's IdEventQueue, which counts them
  uint32_t room = 0;           // for requests that nobody has fetched

 private:
  void OnEvent(Event event) override;
  bool HasRoom() override;
  int process() const override { return owner_->process(); }
  void OnRequest(std::unique_ptr<Id> id, Event event) override;

  UserIdOwner* owner_;
  std::unique_ptr<Id> id_;
  std::vector<std::shared_ptr<UserJoin>> joins_;
};

}  // namespace ibemu::rdma_cm

#endif  // IBEMU_RDMA_CM_USER_ID_H_

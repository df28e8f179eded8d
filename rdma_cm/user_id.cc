#include "rdma_cm/user_id.h"

#include <utility>

namespace ibemu::rdma_cm {

UserId::UserId(UserIdOwner& owner, std::unique_ptr<Id> id, uint64_t uid_)
    : uid(uid_), owner_(&owner), id_(std::move(id)) {
  id_->SetOwner(static_cast<Id::Owner&>(*this));
}

void UserId::End() {
  for (const std::shared_ptr<UserJoin>& join : joins_) join->join.reset();
  id_.reset();
}

void UserId::Remove(const UserJoin& join) {
  std::erase_if(joins_, [&join](const std::shared_ptr<UserJoin>& one) {
    return one.get() == &join;
  });
}

void UserId::OnEvent(Event event) {
  owner_->OnEvent(shared_from_this(), std::move(event));
}

void UserId::TellOfJoin(const std::shared_ptr<UserJoin>& join, Event event) {
  owner_->OnJoinEvent(shared_from_this(), join, std::move(event));
}

bool UserId::HasRoom() { return owner_->HasRoom(*this); }

void UserId::OnRequest(std::unique_ptr<Id> id, Event event) {
  owner_->OnRequest(shared_from_this(), std::move(id), std::move(event));
}

}  // namespace ibemu::rdma_cm

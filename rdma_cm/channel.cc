#include "rdma_cm/channel.h"

#include <algorithm>
#include <utility>

namespace ibemu::rdma_cm {
namespace {

uint8_t QpTypeOf(PortSpace space, uint8_t wanted) {
  switch (space) {
    case PortSpace::kTcp:
      return static_cast<uint8_t>(verbs::QpType::kRc);
    case PortSpace::kUdp:
    case PortSpace::kIpoib:
      return static_cast<uint8_t>(verbs::QpType::kUd);
    case PortSpace::kIb:
      break;
  }
  return wanted;
}

}  // namespace

Channel::Channel(std::shared_ptr<RdmaCmView> view,
                 std::function<void()> on_event)
    : view_(std::move(view)), on_event_(std::move(on_event)) {}

// What an end brings about may be told to another id of this open, but whoever
// was told of events may be gone already.
Channel::~Channel() {
  on_event_ = nullptr;
  // First, so that no id's end has to look for its events.
  const std::vector<QueuedEvent> unfetched = events_.TakeAll();
  while (!ids_.empty()) {
    for (const std::shared_ptr<UserId>& id : std::exchange(ids_, {})) End(id);
  }
  // What is left of them moved to another open.
  for (const QueuedEvent& event : unfetched) EndRequest(event);
}

std::shared_ptr<UserId> Channel::Add(std::unique_ptr<Id> id, uint64_t uid) {
  auto made = std::make_shared<UserId>(static_cast<UserIdOwner&>(*this),
                                       std::move(id), uid);
  made->number = view_->ids().Add(made);
  ids_.push_back(made);
  return made;
}

bool Channel::MayAdd() const {
  return ids_.size() < kMaxIds && view_->ids().next() < kMaxNumbers;
}

Outcome<uint32_t> Channel::Create(uint64_t uid, PortSpace space,
                                  uint8_t qp_type) {
  if (!MayAdd()) return Refusal::kNoMemory;
  return Add(std::make_unique<Id>(view_->parts(), space,
                                  QpTypeOf(space, qp_type)),
             uid)
      ->number;
}

Outcome<std::shared_ptr<UserId>> Channel::Find(uint32_t number, Needs needs) {
  const std::shared_ptr<UserId> id = view_->ids().Find(number);
  if (id == nullptr) return Refusal::kNoSuchId;
  if (&id->owner() != static_cast<UserIdOwner*>(this)) return Refusal::kInvalid;
  if (id->id() == nullptr) return Refusal::kRemoved;
  if (needs == Needs::kDevice && !id->id()->port()) return Refusal::kInvalid;
  return id;
}

Outcome<uint32_t> Channel::Destroy(uint32_t number) {
  const std::shared_ptr<UserId> id = view_->ids().Find(number);
  if (id == nullptr) return Refusal::kNoSuchId;
  if (&id->owner() != static_cast<UserIdOwner*>(this)) return Refusal::kInvalid;
  return End(id);
}

// With a listener go the requests that nobody has fetched.
uint32_t Channel::End(const std::shared_ptr<UserId>& id) {
  id->End();
  for (const std::shared_ptr<UserJoin>& join : id->joins()) {
    view_->joins().Remove(join->number);
  }
  joins_ -= id->joins().size();
  view_->ids().Remove(id->number);
  std::erase(ids_, id);
  for (const QueuedEvent& event : events_.RemoveOf(*id)) EndRequest(event);
  return id->events_reported;
}

void Channel::EndRequest(const QueuedEvent& event) {
  const std::shared_ptr<UserId> made = event.made.lock();
  if (made == nullptr || view_->ids().Find(made->number) != made) return;
  static_cast<Channel&>(made->owner()).End(made);
}

Refusal Channel::Listen(UserId& id, int backlog) {
  const bool is_given = backlog > 0 && backlog <= kMaxBacklog;
  id.room = static_cast<uint32_t>(is_given ? backlog : kMaxBacklog);
  return id.id()->Listen();
}

Refusal Channel::Accept(UserId& id, uint64_t uid,
                        const ConnectionParameters& parameters,
                        const cm::Ece& ece) {
  const Refusal refusal = id.id()->Accept(parameters, ece);
  if (refusal == Refusal::kNone) id.uid = uid;
  return refusal;
}

// ----- Multicast

Outcome<uint32_t> Channel::Join(const std::shared_ptr<UserId>& id, uint64_t uid,
                                const SocketAddress& group,
                                uint8_t join_state) {
  if (id->joins().size() >= kMaxJoins || joins_ >= kMaxJoinsOfAll) {
    return Refusal::kNoMemory;
  }
  auto join = std::make_shared<UserJoin>(UserJoin{.id = id, .uid = uid});
  Outcome<std::unique_ptr<MulticastJoin>> membership = id->id()->Join(
      group, join_state, [weak = std::weak_ptr(join)](Event event) {
        const std::shared_ptr<UserJoin> told = weak.lock();
        const std::shared_ptr<UserId> of =
            told != nullptr ? told->id.lock() : nullptr;
        if (of != nullptr) of->TellOfJoin(told, std::move(event));
      });
  if (!membership.ok()) return membership.refusal();
  join->join = *std::move(membership);
  join->number = view_->joins().Add(join);
  id->Add(join);
  ++joins_;
  return join->number;
}

Outcome<uint32_t> Channel::Leave(uint32_t number) {
  const std::shared_ptr<UserJoin> join = view_->joins().Find(number);
  if (join == nullptr) return Refusal::kNoSuchId;
  const std::shared_ptr<UserId> id = join->id.lock();
  if (&id->owner() != static_cast<UserIdOwner*>(this)) return Refusal::kInvalid;
  if (id->id() == nullptr) return Refusal::kRemoved;
  join->join.reset();
  view_->joins().Remove(number);
  id->Remove(*join);
  --joins_;
  events_.RemoveOf(*join);
  return join->events_reported;
}

// -----

Outcome<uint32_t> Channel::TakeOver(uint32_t number) {
  const std::shared_ptr<UserId> id = view_->ids().Find(number);
  if (id == nullptr) return Refusal::kNoSuchId;
  auto& from = static_cast<Channel&>(id->owner());
  if (user_ == kUnknownUser || from.user_ != user_) return Refusal::kInvalid;
  if (id->id() == nullptr) return Refusal::kRemoved;
  if (&from == this) return id->events_reported;
  const size_t joins = id->joins().size();
  if (ids_.size() >= kMaxIds || joins_ + joins > kMaxJoinsOfAll ||
      events_.size() + id->events_queued > kMaxEvents) {
    return Refusal::kNoMemory;
  }
  from.joins_ -= joins;
  joins_ += joins;
  std::erase(from.ids_, id);
  ids_.push_back(id);
  id->SetOwner(static_cast<UserIdOwner&>(*this));
  for (QueuedEvent& event : from.events_.RemoveOf(*id)) Push(std::move(event));
  return id->events_reported;
}

// ----- Events

QueuedEvent Channel::Fetch() {
  QueuedEvent event = events_.TakeFirst();
  const bool is_request = event.event.type == EventType::kConnectRequest;
  if (const std::shared_ptr<UserId> id = event.id.lock()) {
    ++id->events_reported;
    if (is_request) ++id->room;
  }
  if (const std::shared_ptr<UserJoin> join = event.join.lock()) {
    ++join->events_reported;
  }
  return event;
}

// Meanwhile the id may have ended or moved to another open.
void Channel::PutBack(QueuedEvent event) {
  const std::shared_ptr<UserId> id = event.id.lock();
  if (id == nullptr || view_->ids().Find(id->number) != id) {
    return EndRequest(event);
  }
  --id->events_reported;
  if (event.event.type == EventType::kConnectRequest) --id->room;
  if (const std::shared_ptr<UserJoin> join = event.join.lock()) {
    --join->events_reported;
  }
  auto& owner = static_cast<Channel&>(id->owner());
  owner.events_.PutBack(std::move(event));
  if (&owner != this) owner.on_event_();
}

void Channel::Push(QueuedEvent event) {
  if (is_ending() || events_.size() >= kMaxEvents) return;
  events_.Push(std::move(event));
  on_event_();
}

// An id that has no name is told nothing: accepting it fails later.
void Channel::OnEvent(const std::shared_ptr<UserId>& id, Event event) {
  if (id->uid == 0) return;
  Push({.id = id,
        .told_uid = id->uid,
        .told_id = id->number,
        .event = std::move(event)});
}

void Channel::OnJoinEvent(const std::shared_ptr<UserId>& id,
                          const std::shared_ptr<UserJoin>& join, Event event) {
  if (id->uid == 0) return;
  Push({.id = id,
        .join = join,
        .told_uid = join->uid,
        .told_id = join->number,
        .event = std::move(event)});
}

bool Channel::HasRoom(const UserId& listener) {
  return !is_ending() && listener.room > 0 && MayAdd() &&
         events_.size() < kMaxEvents;
}

// It is told under the name of the listener, with the number of the new id.
void Channel::OnRequest(const std::shared_ptr<UserId>& listener,
                        std::unique_ptr<Id> id, Event event) {
  --listener->room;
  const std::shared_ptr<UserId> made = Add(std::move(id), /*uid=*/0);
  Push({.id = listener,
        .made = made,
        .told_uid = listener->uid,
        .told_id = made->number,
        .event = std::move(event)});
}

}  // namespace ibemu::rdma_cm

#include "ipoib/netdev/group_table.h"

#include <utility>

namespace ibemu::ipoib {

using mad::McMemberRecord;

GroupTable::GroupTable(Timers& timers, Link& link)
    : timers_(timers), link_(link) {}

GroupTable::~GroupTable() {
  timers_.Cancel(idle_);
  for (auto& [address, group] : receiving_) Leave(group);
}

void GroupTable::Send(const wire::IpAddress& address, Datagram datagram) {
  Group* const group = Find(address);
  if (group == nullptr) return;
  group->used = timers_.Now();
  if (const McMemberRecord* const record = group->membership->record()) {
    link_.SendToGroup(*record, datagram);
  } else if (group->waiting.size() < kMaxWaiting) {
    group->waiting.push_back(std::move(datagram));
  }
}

// Returns a group that is joined, or will be; null if there are too many.
GroupTable::Group* GroupTable::Find(const wire::IpAddress& address) {
  const auto received = receiving_.find(address);
  if (received != receiving_.end()) return &received->second;
  const auto sent = sending_.find(address);
  if (sent != sending_.end()) return &sent->second;
  if (sending_.size() >= kMaxSentTo) return nullptr;
  if (sending_.empty()) {
    idle_ = timers_.RunAfter(kIdle, [this] { LeaveIdle(); });
  }
  Group& group = sending_[address];
  Join(address, group, Link::JoinAs::kSender);
  return &group;
}

void GroupTable::Listen(const wire::IpAddress& address) {
  if (listened_.size() >= kMaxListened) return;
  if (!listened_.insert(address).second || !link_.up()) return;
  Join(address, receiving_[address], Link::JoinAs::kReceiver);
}

void GroupTable::Ignore(const wire::IpAddress& address) {
  listened_.erase(address);
  const auto received = receiving_.find(address);
  if (received == receiving_.end()) return;
  Leave(received->second);
  receiving_.erase(received);
}

void GroupTable::OnLinkChange() {
  timers_.Cancel(std::exchange(idle_, TimerId::kNone));
  sending_.clear();
  for (auto& [address, group] : receiving_) Leave(group);
  receiving_.clear();
  if (!link_.up()) return;
  for (const wire::IpAddress& address : listened_) {
    Join(address, receiving_[address], Link::JoinAs::kReceiver);
  }
}

// Nothing in a map moves, so the group is where it is until it goes, and its
// membership with it.
void GroupTable::Join(const wire::IpAddress& address, Group& group,
                      Link::JoinAs as) {
  group.membership =
      link_.Join(address, as, [this, &group, as](const McMemberRecord* record) {
        OnJoined(group, record, as);
      });
}

void GroupTable::OnJoined(Group& group, const McMemberRecord* record,
                          Link::JoinAs as) {
  if (group.attached) link_.Detach(*std::exchange(group.attached, {}));
  if (record == nullptr) return;
  if (as == Link::JoinAs::kReceiver) {
    link_.Attach(*record);
    group.attached = *record;
  }
  for (const Datagram& datagram : std::exchange(group.waiting, {})) {
    link_.SendToGroup(*record, datagram);
  }
}

void GroupTable::Leave(Group& group) {
  if (group.attached) link_.Detach(*std::exchange(group.attached, {}));
}

void GroupTable::LeaveIdle() {
  std::erase_if(sending_, [now = timers_.Now()](const auto& entry) {
    return entry.second.used + kIdle <= now;
  });
  idle_ = sending_.empty() ? TimerId::kNone
                           : timers_.RunAfter(kIdle, [this] { LeaveIdle(); });
}

}  // namespace ibemu::ipoib

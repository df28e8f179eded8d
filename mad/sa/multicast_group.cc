#include "mad/sa/multicast_group.h"

#include <algorithm>
#include <utility>

#include "mad/wire/sa_component_mask.h"

namespace ibemu::mad {
namespace {

using Record = McMemberRecord;

// Linux waits 3000 ms for the SA, in 11 tries; and leaves with 3 tries.
constexpr SaRetryPolicy kToJoin{.timeout = absl::Milliseconds(300),
                                .retries = 10};
constexpr SaRetryPolicy kToLeave{.timeout = absl::Milliseconds(3000),
                                 .retries = 2};

constexpr uint64_t kLeaveMask = kComponentBit<&Record::mgid> |
                                kComponentBit<&Record::port_gid> |
                                kComponentBit<&Record::join_state>;

// The components that a second join is compared in, beside those with
// selectors.
constexpr uint64_t kComparedMask =
    kComponentBit<&Record::port_gid> | kComponentBit<&Record::q_key> |
    kComponentBit<&Record::mlid> | kComponentBit<&Record::traffic_class> |
    kComponentBit<&Record::p_key> | kComponentBit<&Record::sl> |
    kComponentBit<&Record::flow_label> | kComponentBit<&Record::hop_limit> |
    kComponentBit<&Record::scope>;

bool Satisfies(Selector selector, uint8_t value, uint8_t wanted) {
  switch (selector) {
    case Selector::kGreaterThan:
      return value > wanted;
    case Selector::kLessThan:
      return value < wanted;
    case Selector::kExactly:
      return value == wanted;
    case Selector::kLargest:
      break;
  }
  return true;
}

// Returns true if the values of a group are those that `wanted` asks for:
// cmp_rec() in Linux.
bool Agrees(const Record& group, const Record& wanted, uint64_t mask) {
  const auto has = [mask](uint64_t bits) { return (mask & bits) == bits; };
  constexpr uint64_t kMtu =
      kComponentBit<&Record::mtu_selector> | kComponentBit<&Record::mtu>;
  constexpr uint64_t kRate =
      kComponentBit<&Record::rate_selector> | kComponentBit<&Record::rate>;
  constexpr uint64_t kLife = kComponentBit<&Record::packet_life_time_selector> |
                             kComponentBit<&Record::packet_life_time>;
  return MatchesComponents(wanted, group, mask & kComparedMask) &&
         (!has(kMtu) ||
          Satisfies(wanted.mtu_selector, group.mtu, wanted.mtu)) &&
         (!has(kRate) ||
          Satisfies(wanted.rate_selector, group.rate, wanted.rate)) &&
         (!has(kLife) ||
          Satisfies(wanted.packet_life_time_selector, group.packet_life_time,
                    wanted.packet_life_time));
}

}  // namespace

MulticastGroup::MulticastGroup(Timers& timers, SaClient& sa,
                               const wire::Gid& mgid, Listener& listener)
    : timers_(timers), sa_(sa), listener_(listener) {
  record_.mgid = mgid;
}

MulticastGroup::~MulticastGroup() {
  for (GroupMember* const member : waiting_) member->group = nullptr;
  for (GroupMember* const member : members_) member->group = nullptr;
}

void MulticastGroup::Add(GroupMember& member) {
  member.group = this;
  waiting_.push_back(&member);
  Proceed();
}

void MulticastGroup::Remove(GroupMember& member) {
  member.group = nullptr;
  std::erase(waiting_, &member);
  std::erase(members_, &member);
  if (asker_ == &member) asker_ = nullptr;
  Proceed();
}

void MulticastGroup::Lose() {
  lost_meanwhile_ = true;
  record_.join_state = 0;
  for (GroupMember* const member : std::exchange(members_, {})) {
    member->group = nullptr;
    Tell(*member, absl::AbortedError("the membership was lost"));
  }
  Proceed();
}

void MulticastGroup::Proceed() {
  while (query_ == nullptr) {
    if (waiting_.empty()) {
      const uint8_t abandoned = AbandonedStates();
      if (abandoned == 0) break;
      Leave(abandoned);
    } else if (const uint8_t wanted = waiting_.front()->wanted.join_state;
               wanted != 0 && (record_.join_state & wanted) == wanted) {
      AdmitFirst();
    } else {
      AskToJoin(*waiting_.front());
    }
  }
  listener_.OnChange(*this);
}

void MulticastGroup::AskToJoin(GroupMember& member) {
  asker_ = &member;
  lost_meanwhile_ = false;
  query_ = sa_.JoinGroup(member.wanted, member.mask, kToJoin,
                         [this](absl::StatusOr<McMemberRecord> record) {
                           query_.reset();
                           OnJoinAnswered(std::move(record));
                         });
}

void MulticastGroup::OnJoinAnswered(absl::StatusOr<McMemberRecord> record) {
  const GroupMember* const asker = std::exchange(asker_, nullptr);
  if (!record.ok()) {
    if (asker != nullptr) RefuseFirst(record.status());
  } else if (!lost_meanwhile_) {
    // Also if the asker has gone: then it is time to leave.
    const wire::Gid asked = record_.mgid;
    record_ = *record;
    if (asked != wire::Gid{}) record_.mgid = asked;
    if (asker != nullptr) {
      record_.join_state |= asker->wanted.join_state;
      AdmitFirst();
    }
  }
  Proceed();
}

void MulticastGroup::Leave(uint8_t join_state) {
  record_.join_state &= static_cast<uint8_t>(~join_state);
  const McMemberRecord leaving{.mgid = record_.mgid,
                               .port_gid = record_.port_gid,
                               .join_state = join_state};
  query_ = sa_.LeaveGroup(leaving, kLeaveMask, kToLeave,
                          [this](const absl::StatusOr<McMemberRecord>&) {
                            query_.reset();
                            Proceed();
                          });
}

void MulticastGroup::AdmitFirst() {
  GroupMember& member = *waiting_.front();
  if (!Agrees(record_, member.wanted, member.mask)) {
    return RefuseFirst(absl::InvalidArgumentError(
        "the group has other values than those asked for"));
  }
  waiting_.pop_front();
  members_.push_back(&member);
  McMemberRecord its = record_;
  its.join_state = member.wanted.join_state;
  Tell(member, its);
}

void MulticastGroup::RefuseFirst(const absl::Status& why) {
  GroupMember& member = *waiting_.front();
  waiting_.pop_front();
  member.group = nullptr;
  Tell(member, why);
}

// Returns the states in which the port is a member for nobody.
uint8_t MulticastGroup::AbandonedStates() const {
  uint8_t states = record_.join_state;
  for (const GroupMember* const member : members_) {
    states &= static_cast<uint8_t>(~member->wanted.join_state);
  }
  return states;
}

void MulticastGroup::Tell(GroupMember& member,
                          absl::StatusOr<McMemberRecord> news) {
  timers_.RunSoon([weak = member.weak_from_this(), news = std::move(news)] {
    const auto told = weak.lock();
    if (told == nullptr) return;  // it has left
    MulticastMembers::Changed changed = std::move(told->changed);
    changed(news);  // may destroy the membership
    told->changed = std::move(changed);
  });
}

}  // namespace ibemu::mad

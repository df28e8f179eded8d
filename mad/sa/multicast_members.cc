#include "mad/sa/multicast_members.h"

#include <algorithm>
#include <map>
#include <utility>

#include "mad/sa/multicast_group.h"

namespace ibemu::mad {
namespace {

class Membership final : public MulticastMembership {
 public:
  explicit Membership(std::shared_ptr<GroupMember> member)
      : member_(std::move(member)) {}
  ~Membership() override {
    if (member_->group != nullptr) member_->group->Remove(*member_);
  }
  Membership(const Membership&) = delete;
  Membership& operator=(const Membership&) = delete;

 private:
  const std::shared_ptr<GroupMember> member_;
};

}  // namespace

class MulticastMembers::Impl final : public verbs::AsyncEventListener,
                                     public MulticastGroup::Listener {
 public:
  Impl(Timers& timers, verbs::Provider& provider, int port, SaClient& sa)
      : timers_(timers), provider_(provider), port_(port), sa_(sa) {
    provider_.AddListener(*this);
  }
  ~Impl() { provider_.RemoveListener(*this); }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  // Returns the group of this MGID.  Each join of MGID 0 gets one of its own.
  MulticastGroup& GroupOf(const wire::Gid& mgid) {
    const auto found = groups_.find(KeyOf(mgid));
    if (mgid != wire::Gid{} && found != groups_.end()) return *found->second;
    return *groups_
                .emplace(KeyOf(mgid), std::make_unique<MulticastGroup>(
                                          timers_, sa_, mgid, *this))
                ->second;
  }

 private:
  using Key = std::pair<uint64_t, uint64_t>;
  // By MGID, of which there is only one of each but of 0.
  using Groups = std::multimap<Key, std::unique_ptr<MulticastGroup>>;

  static Key KeyOf(const wire::Gid& gid) {
    return {gid.prefix, gid.interface_id};
  }

  Groups::iterator PlaceOf(const MulticastGroup& group, const Key& key) {
    const auto [first, end] = groups_.equal_range(key);
    const auto place = std::find_if(first, end, [&](const auto& entry) {
      return entry.second.get() == &group;
    });
    return place == end ? groups_.end() : place;
  }

  // MulticastGroup::Listener
  void OnChange(MulticastGroup& group) override {
    const Key key = KeyOf(group.mgid());
    auto place = PlaceOf(group, key);
    if (place == groups_.end()) {  // the SA has just chosen its MGID
      auto node = groups_.extract(PlaceOf(group, Key{}));
      node.key() = key;
      place = groups_.insert(std::move(node));
    }
    if (group.empty()) groups_.erase(place);
  }

  // verbs::AsyncEventListener
  void OnDeviceEvent(verbs::AsyncEventType type, int port) override {
    using enum verbs::AsyncEventType;
    if (port != port_) return;
    if (type != kPortError && type != kLidChange && type != kClientReregister) {
      return;
    }
    for (auto group = groups_.begin(); group != groups_.end();) {
      (group++)->second->Lose();  // may destroy it
    }
  }

  Timers& timers_;
  verbs::Provider& provider_;
  const int port_;
  SaClient& sa_;
  Groups groups_;
};

MulticastMembers::MulticastMembers(Timers& timers, verbs::Provider& provider,
                                   int port, SaClient& sa)
    : impl_(std::make_unique<Impl>(timers, provider, port, sa)) {}

MulticastMembers::~MulticastMembers() = default;

std::unique_ptr<MulticastMembership> MulticastMembers::Join(
    const McMemberRecord& record, uint64_t mask, Changed changed) {
  auto member = std::make_shared<GroupMember>();
  member->wanted = record;
  member->mask = mask;
  member->changed = std::move(changed);
  impl_->GroupOf(record.mgid).Add(*member);
  return std::make_unique<Membership>(std::move(member));
}

}  // namespace ibemu::mad

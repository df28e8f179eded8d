// MulticastGroup: the memberships of one port in one multicast group.
#ifndef IBEMU_MAD_SA_MULTICAST_GROUP_H_
#define IBEMU_MAD_SA_MULTICAST_GROUP_H_

#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "base/timers.h"
#include "mad/sa/multicast_members.h"
#include "mad/sa/sa_client.h"

namespace ibemu::mad {

class MulticastGroup;

// A GroupMember is one user who is a member or wants to be.
struct GroupMember : std::enable_shared_from_this<GroupMember> {
  McMemberRecord wanted;
  uint64_t mask = 0;
  MulticastMembers::Changed changed;
  MulticastGroup* group = nullptr;  // null: is no member, and does not wait
};

// A MulticastGroup joins for its first member and leaves after its last, and
// compares the values that those between want with what the SA said.  It does
// one thing after the other: who comes while it leaves waits.
class MulticastGroup {
 public:
  class Listener {
   public:
    // mgid() or empty() may have changed.  Called as the last thing that a call
    // does; may destroy the group.
    virtual void OnChange(MulticastGroup& group) = 0;

   protected:
    ~Listener() = default;
  };

  // All must outlive this.
  MulticastGroup(Timers& timers, SaClient& sa, const wire::Gid& mgid,
                 Listener& listener);
  ~MulticastGroup();
  MulticastGroup(const MulticastGroup&) = delete;
  MulticastGroup& operator=(const MulticastGroup&) = delete;

  // Zero until the SA has chosen one.
  const wire::Gid& mgid() const { return record_.mgid; }

  // Returns true if there is nobody, and nothing under way.
  bool empty() const {
    return waiting_.empty() && members_.empty() && query_ == nullptr;
  }

  // `member` must be removed before it goes, unless its group is null.
  void Add(GroupMember& member);
  void Remove(GroupMember& member);

  // The SA has forgotten this port, or the port its address.
  void Lose();

 private:
  void Proceed();
  void AskToJoin(GroupMember& member);
  void OnJoinAnswered(absl::StatusOr<McMemberRecord> record);
  void Leave(uint8_t join_state);
  // Moves the first of those who wait to the members, or refuses it.
  void AdmitFirst();
  void RefuseFirst(const absl::Status& why);
  uint8_t AbandonedStates() const;
  void Tell(GroupMember& member, absl::StatusOr<McMemberRecord> news);

  Timers& timers_;
  SaClient& sa_;
  Listener& listener_;
  McMemberRecord record_;  // join_state: of the port, as the SA knows it
  std::deque<GroupMember*> waiting_;
  std::vector<GroupMember*> members_;
  std::unique_ptr<SaQuery> query_;
  const GroupMember* asker_ = nullptr;  // for whom the join is; or has gone
  bool lost_meanwhile_ = false;         // since the join was asked for
};

}  // namespace ibemu::mad

#endif  // IBEMU_MAD_SA_MULTICAST_GROUP_H_

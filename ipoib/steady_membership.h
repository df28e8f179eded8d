// SteadyMembership: a membership that is renewed when it is lost.
#ifndef IBEMU_IPOIB_STEADY_MEMBERSHIP_H_
#define IBEMU_IPOIB_STEADY_MEMBERSHIP_H_

#include <cstdint>
#include <memory>
#include <optional>

#include "absl/functional/any_invocable.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "base/timers.h"
#include "mad/sa/multicast_members.h"

namespace ibemu::ipoib {

// A SteadyMembership joins a group, tries again after 1, 2, 4 to 16 s if that
// fails, and joins anew at once after a loss.
class SteadyMembership {
 public:
  // Told with the group's record when the port has become a member, and with
  // null when it is none any more.  May destroy nothing of this.
  using Changed = absl::AnyInvocable<void(const mad::McMemberRecord*)>;
  // Whether the port can be a member of a group like this.
  using Accepts = bool (*)(const mad::McMemberRecord&);

  // The references must outlive this.  A group that is not accepted is left,
  // and counts as a join that failed.
  SteadyMembership(
      Timers& timers, mad::MulticastMembers& members, uint64_t mask,
      Changed changed,
      Accepts accepts = [](const mad::McMemberRecord&) { return true; });
  ~SteadyMembership();
  SteadyMembership(const SteadyMembership&) = delete;
  SteadyMembership& operator=(const SteadyMembership&) = delete;

  // Joins as `wanted` says, if it has not; tries at once if it waits to try
  // again.
  void Start(const mad::McMemberRecord& wanted);
  // Leaves, and tries no more.
  void Stop();

  // The group's record; null while the port is no member.
  const mad::McMemberRecord* record() const {
    return record_ ? &*record_ : nullptr;
  }

 private:
  void Join();
  void JoinAfter(absl::Duration delay);
  void OnChange(absl::StatusOr<mad::McMemberRecord> news);

  Timers& timers_;
  mad::MulticastMembers& members_;
  const uint64_t mask_;
  Changed changed_;
  const Accepts accepts_;
  mad::McMemberRecord wanted_;
  std::unique_ptr<mad::MulticastMembership> membership_;  // or wanted
  std::optional<mad::McMemberRecord> record_;
  absl::Duration back_off_;
  TimerId retry_ = TimerId::kNone;
};

}  // namespace ibemu::ipoib

#endif  // IBEMU_IPOIB_STEADY_MEMBERSHIP_H_

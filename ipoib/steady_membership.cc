#include "ipoib/steady_membership.h"

#include <algorithm>
#include <utility>

namespace ibemu::ipoib {
namespace {

constexpr absl::Duration kFirstBackOff = absl::Seconds(1);
constexpr absl::Duration kLongestBackOff = absl::Seconds(16);

}  // namespace

SteadyMembership::SteadyMembership(Timers& timers,
                                   mad::MulticastMembers& members,
                                   uint64_t mask, Changed changed,
                                   Accepts accepts)
    : timers_(timers),
      members_(members),
      mask_(mask),
      changed_(std::move(changed)),
      accepts_(accepts),
      back_off_(kFirstBackOff) {}

SteadyMembership::~SteadyMembership() { timers_.Cancel(retry_); }

void SteadyMembership::Start(const mad::McMemberRecord& wanted) {
  if (membership_ != nullptr && wanted == wanted_) return;
  Stop();
  wanted_ = wanted;
  back_off_ = kFirstBackOff;
  Join();
}

void SteadyMembership::Stop() {
  timers_.Cancel(std::exchange(retry_, TimerId::kNone));
  membership_.reset();
  if (!record_) return;
  record_.reset();
  changed_(nullptr);
}

void SteadyMembership::Join() {
  timers_.Cancel(std::exchange(retry_, TimerId::kNone));
  membership_ = members_.Join(wanted_, mask_,
                              [this](absl::StatusOr<mad::McMemberRecord> news) {
                                OnChange(std::move(news));
                              });
}

void SteadyMembership::JoinAfter(absl::Duration delay) {
  retry_ = timers_.RunAfter(delay, [this] { Join(); });
}

void SteadyMembership::OnChange(absl::StatusOr<mad::McMemberRecord> news) {
  if (news.ok() && accepts_(*news)) {
    record_ = *std::move(news);
    back_off_ = kFirstBackOff;
    return changed_(&*record_);
  }
  membership_.reset();
  if (absl::IsAborted(news.status())) {
    // After whoever hears of the same event, and may want to stop.
    JoinAfter(absl::ZeroDuration());
    if (std::exchange(record_, std::nullopt)) changed_(nullptr);
    return;
  }
  // Without a subnet manager, or a device, there is nothing to try.
  if (absl::IsFailedPrecondition(news.status()) ||
      absl::IsUnavailable(news.status())) {
    return;
  }
  JoinAfter(back_off_);
  back_off_ = std::min(back_off_ * 2, kLongestBackOff);
}

}  // namespace ibemu::ipoib

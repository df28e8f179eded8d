#include "cuse/rings/ring_set.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

namespace ibemu::cuse {
namespace {

// Who has not used its rings for so many looks is not looked at any more.
constexpr int kMaxInVain = 256;

// More threads of a client that wait are woken by what comes next, or by their
// own patience: to wake thousands takes the loop's time.
constexpr int kMaxWoken = 64;

}  // namespace

bool RingSet::HasRoomFor(uid_t user) const {
  const auto known = users_.find(user);
  return all_.size() < kMax &&
         (known == users_.end() || known->second < kMaxOfUser);
}

void RingSet::Add(Rings& rings, Client client) {
  ++users_[client.user];
  rings.client_ = std::move(client);
  rings.control().daemon_sleeps = 1;
  all_.push_back(&rings);
}

void RingSet::Remove(Rings& rings) {
  std::replace(served_.begin(), served_.end(), &rings,
               static_cast<Rings*>(nullptr));
  std::erase(all_, &rings);
  const auto user = users_.find(rings.client_.user);
  if (--user->second == 0) users_.erase(user);
}

std::vector<RingSet::Usage> RingSet::Usages() const {
  std::vector<Usage> usages;
  for (Rings* const rings : all_) {
    Usage& usage = usages.emplace_back(Usage{rings->client_, {}, {}});
    std::ranges::copy(rings->control().sent, usage.sent.begin());
    std::ranges::copy(rings->control().received, usage.received.begin());
  }
  return usages;
}

void RingSet::Used(Rings& rings) {
  rings.vain_ = 0;
  if (rings.served_) return;
  rings.served_ = true;
  rings.control().daemon_sleeps = 0;
  served_.push_back(&rings);
}

// What comes between the last look and the store is seen by HasCalls(), or its
// client sees the store.
void RingSet::Park(Rings& rings) {
  rings.control().daemon_sleeps = 1;
  if (rings.HasCalls()) {
    rings.control().daemon_sleeps = 0;
    rings.vain_ = 0;
    return;
  }
  rings.served_ = false;
  std::replace(served_.begin(), served_.end(), &rings,
               static_cast<Rings*>(nullptr));
}

bool RingSet::Look() {
  bool found = false;
  // Calls may add entries.
  for (size_t i = 0; i < served_.size(); ++i) {
    Rings* const rings = served_[i];
    if (rings == nullptr) continue;
    if (rings->Drain()) {
      found = true;
      rings->vain_ = 0;
    } else if (++rings->vain_ > kMaxInVain) {
      Park(*rings);
    }
  }
  std::erase(served_, nullptr);
  return found;
}

bool RingSet::BeforeSleep() {
  for (Rings* const rings : served_) {
    if (rings != nullptr) rings->control().daemon_sleeps = 1;
  }
  return std::none_of(served_.begin(), served_.end(),
                      [](const Rings* const rings) {
                        return rings != nullptr && rings->HasCalls();
                      });
}

void RingSet::AfterSleep() {
  for (Rings* const rings : served_) {
    if (rings != nullptr) rings->control().daemon_sleeps = 0;
  }
}

void WakeClient(fast_path::RingControl& control) {
  control.event.fetch_add(1);
  if (control.waiting.exchange(0) == 0) return;
  // Not FUTEX_PRIVATE: the waiter is another process.
  if (syscall(SYS_futex, &control.event, FUTEX_WAKE, kMaxWoken, nullptr,
              nullptr, 0) == kMaxWoken) {
    control.waiting = 1;
  }
}

}  // namespace ibemu::cuse

#include "ipoib/netdev/neighbor_queue.h"

#include <algorithm>
#include <utility>

namespace ibemu::ipoib {

NeighborQueue::NeighborQueue(Timers& timers, Link& link,
                             Undelivered undelivered)
    : timers_(timers), link_(link), undelivered_(std::move(undelivered)) {}

void NeighborQueue::Send(const wire::IpAddress& address, Datagram datagram) {
  if (!neighbors_.contains(address) && !MakeRoom()) return;
  Neighbor& neighbor = neighbors_[address];
  neighbor.used = timers_.Now();
  const bool stale = neighbor.heard_of + kReachable <= timers_.Now();
  if (stale && neighbor.question == nullptr) Ask(address, neighbor);
  if (neighbor.hardware) {
    link_.SendTo(*neighbor.hardware, std::move(datagram));
  } else {
    Wait(neighbor, std::move(datagram));
  }
}

void NeighborQueue::Wait(Neighbor& neighbor, Datagram datagram) {
  if (neighbor.waiting.size() >= kMaxWaiting || waiting_ >= kMaxWaitingAll) {
    return;
  }
  neighbor.waiting.push_back(std::move(datagram));
  ++waiting_;
}

// Returns true if there may be one more neighbour: forgets the known one that
// was used least recently, if it must.
bool NeighborQueue::MakeRoom() {
  if (neighbors_.size() < kMaxNeighbors) return true;
  auto oldest = neighbors_.end();
  for (auto it = neighbors_.begin(); it != neighbors_.end(); ++it) {
    if (it->second.question != nullptr) continue;
    if (oldest == neighbors_.end() || it->second.used < oldest->second.used) {
      oldest = it;
    }
  }
  if (oldest == neighbors_.end()) return false;
  neighbors_.erase(oldest);
  return true;
}

void NeighborQueue::Ask(const wire::IpAddress& address, Neighbor& neighbor) {
  neighbor.question = link_.ResolveHardware(
      address, kPatience,
      [this, address](const absl::StatusOr<HardwareAddress>& answer) {
        OnAnswer(address, answer);
      });
}

void NeighborQueue::OnAnswer(const wire::IpAddress& address,
                             const absl::StatusOr<HardwareAddress>& answer) {
  const auto found = neighbors_.find(address);
  Neighbor& neighbor = found->second;
  neighbor.question.reset();
  const std::vector<Datagram> waiting = std::exchange(neighbor.waiting, {});
  waiting_ -= waiting.size();
  if (!answer.ok()) {
    neighbors_.erase(found);
    for (const Datagram& datagram : waiting) undelivered_(datagram);
    return;
  }
  neighbor.hardware = *answer;
  neighbor.heard_of = timers_.Now();
  if (!link_.up()) return;
  for (const Datagram& datagram : waiting) link_.SendTo(*answer, datagram);
}

void NeighborQueue::Learn(const HardwareAddress& hardware) {
  for (auto& [address, neighbor] : neighbors_) {
    if (neighbor.hardware && neighbor.hardware->gid == hardware.gid) {
      neighbor.hardware = hardware;
    }
  }
}

void NeighborQueue::Forget() {
  neighbors_.clear();
  waiting_ = 0;
}

}  // namespace ibemu::ipoib

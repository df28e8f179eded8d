#include "mad/host_core.h"

#include <utility>

#include "mad/agent_core.h"

namespace ibemu::mad {

uint32_t HostCore::NextHighTid() {
  do {
    last_high_tid_ = last_high_tid_ == kLastHighTid ? 1 : last_high_tid_ + 1;
  } while (agents_.contains(last_high_tid_));
  return last_high_tid_;
}

void HostCore::Enter(AgentCore& agent) { agents_[agent.hi_tid()] = &agent; }

void HostCore::Leave(const AgentCore& agent) { agents_.erase(agent.hi_tid()); }

AgentCore* HostCore::Find(uint32_t high_tid) const {
  const auto found = agents_.find(high_tid);
  return found == agents_.end() ? nullptr : found->second;
}

void HostCore::Remove() {
  removed_ = true;
  deferred_.clear();
  for (const auto& [high_tid, agent] : agents_) agent->Die();
}

void HostCore::SendDoneSoon(uint32_t high_tid, uint64_t cookie) {
  Defer({.high_tid = high_tid, .cookie = cookie, .message = nullptr});
}

void HostCore::DeliverSoon(uint32_t high_tid, IncomingMessage message) {
  Later later{.high_tid = high_tid, .cookie = 0, .message = nullptr};
  later.message = std::make_unique<IncomingMessage>(std::move(message));
  Defer(std::move(later));
}

void HostCore::Defer(Later later) {
  deferred_.push_back(std::move(later));
  if (deferred_.size() > 1) return;  // already on its way
  timers_.RunSoon([weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->RunDeferred();
  });
}

void HostCore::RunDeferred() {
  for (Later& later : std::exchange(deferred_, {})) {
    AgentCore* agent = Find(later.high_tid);
    if (agent == nullptr) continue;
    if (later.message != nullptr) {
      agent->DeliverLocal(std::move(*later.message));
    } else {
      agent->SendDone(later.cookie);
    }
  }
}

}  // namespace ibemu::mad

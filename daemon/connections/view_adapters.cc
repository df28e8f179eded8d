#include "daemon/connections/view_adapters.h"

#include <algorithm>

namespace ibemu::daemon {

void ViewAdapters::Add(int slot, AdapterId adapter) {
  const auto next =
      std::find_if(slots_.begin(), slots_.end(),
                   [slot](const Slot& other) { return other.number > slot; });
  const auto added = slots_.insert(next, {slot, adapter, {}});
  if (listeners_.empty()) return;
  const std::shared_ptr<rdma_cm::Adapter> shown = table_.Get(adapter);
  if (shown == nullptr) return;
  added->shown = shown;
  listeners_.ForEach([&](Listener& listener) { listener.OnAdded(shown); });
}

void ViewAdapters::Remove(int slot) {
  const auto removed =
      std::find_if(slots_.begin(), slots_.end(),
                   [slot](const Slot& other) { return other.number == slot; });
  if (removed == slots_.end()) return;
  const std::shared_ptr<rdma_cm::Adapter> shown = removed->shown.lock();
  slots_.erase(removed);
  if (shown == nullptr) return;
  listeners_.ForEach([&](Listener& listener) { listener.OnRemoved(shown); });
}

std::vector<std::shared_ptr<rdma_cm::Adapter>> ViewAdapters::adapters() {
  std::vector<std::shared_ptr<rdma_cm::Adapter>> shown;
  for (Slot& slot : slots_) {
    std::shared_ptr<rdma_cm::Adapter> adapter = table_.Get(slot.adapter);
    if (adapter == nullptr) continue;
    slot.shown = adapter;
    shown.push_back(std::move(adapter));
  }
  return shown;
}

}  // namespace ibemu::daemon

#include "daemon/adapters/host_table.h"

namespace ibemu::daemon {

std::shared_ptr<mad::Host> HostTable::Get(AdapterId adapter) {
  std::shared_ptr<mad::Host> host = Find(adapter);
  if (host != nullptr) return host;
  host = std::make_shared<mad::Host>(timers_, adapters_.device(adapter));
  hosts_[adapter] = host;
  watchers_.ForEach([&](Watcher& watcher) { watcher.OnHost(adapter, *host); });
  return host;
}

std::shared_ptr<mad::Host> HostTable::Find(AdapterId adapter) const {
  const auto host = hosts_.find(adapter);
  return host == hosts_.end() ? nullptr : host->second.lock();
}

std::optional<AdapterId> HostTable::AdapterOf(const mad::Host& host) const {
  for (const auto& [adapter, known] : hosts_) {
    if (known.lock().get() == &host) return adapter;
  }
  return std::nullopt;
}

std::shared_ptr<mad::Host> HostTable::FindUsed(AdapterId adapter) {
  keepers_.ForEach([&](Keeper& keeper) { keeper.LetGo(adapter); });
  return Find(adapter);
}

}  // namespace ibemu::daemon

#include "daemon/connections/connection_table.h"

#include <functional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "mad/device.h"

namespace ibemu::daemon {

// One host's, with those who use it.
class ConnectionTable::Entry {
 public:
  // `changed`: of the host, as it has it.
  Entry(Timers& timers, std::unique_ptr<HostConnections> connections,
        std::function<void()> changed)
      : timers_(timers),
        connections_(std::move(connections)),
        changes_(connections_->host().Watch(std::move(changed))) {}
  ~Entry() { timers_.Cancel(end_); }

  HostConnections& connections() { return *connections_; }
  bool used() const { return !used_.expired(); }

  // `unused` is called when nobody has the result any more.
  std::shared_ptr<HostConnections> Use(absl::AnyInvocable<void()> unused) {
    timers_.Cancel(std::exchange(end_, TimerId::kNone));
    std::shared_ptr<HostConnections> used = used_.lock();
    if (used != nullptr) return used;
    used = std::shared_ptr<HostConnections>(
        connections_.get(),
        [unused = std::make_shared<absl::AnyInvocable<void()>>(
             std::move(unused))](HostConnections*) { (*unused)(); });
    used_ = used;
    return used;
  }

  void EndAfter(absl::Duration linger, Timers::Task end) {
    timers_.Cancel(end_);
    end_ = timers_.RunAfter(linger, std::move(end));
  }

 private:
  Timers& timers_;
  const std::unique_ptr<HostConnections> connections_;
  const std::unique_ptr<mad::Host::Subscription> changes_;
  std::weak_ptr<HostConnections> used_;
  TimerId end_ = TimerId::kNone;
};

ConnectionTable::ConnectionTable(Timers& timers, HostTable& hosts,
                                 const AddressPlan& plan, uint64_t seed)
    : timers_(timers),
      hosts_(hosts),
      plan_(plan),
      seed_(seed),
      random_(Random::ForStream(seed, "rdma_cm")),
      self_(std::make_shared<ConnectionTable*>(this)) {
  hosts_.AddKeeper(*this);
}

ConnectionTable::~ConnectionTable() {
  hosts_.RemoveKeeper(*this);
  *self_ = nullptr;
}

std::shared_ptr<HostConnections> ConnectionTable::Get(AdapterId adapter) {
  const std::shared_ptr<mad::Host> host = hosts_.Get(adapter);
  mad::Device& device = host->device();
  if (device.type() != mad::NodeType::kChannelAdapter) return nullptr;
  std::unique_ptr<Entry>& entry = entries_[host.get()];
  if (entry == nullptr) {
    HostConnections::Addresses addresses;
    for (int port = device.first_port(); port <= device.last_port(); ++port) {
      addresses.push_back(plan_.AddressesOf({adapter, port}));
    }
    Adapters& adapters = hosts_.adapters();
    entry = std::make_unique<Entry>(
        timers_,
        std::make_unique<HostConnections>(
            timers_, host, adapters.provider(adapter),
            Random::ForStream(
                seed_, absl::StrCat("cm ", adapters.description(adapter))),
            addresses),
        [this, of = host.get()] {
          if (of->removed()) OnUnused(of);
        });
    if (watcher_ != nullptr) entry->connections().ids().SetWatcher(*watcher_);
  }
  return entry->Use([self = self_, of = host.get()] {
    if (*self != nullptr) (*self)->OnUnused(of);
  });
}

// Never at once: this may be a call of what is to end.  What belongs to a host
// that is gone must not stay beside the next one of the adapter: both would
// answer for the same addresses.
void ConnectionTable::OnUnused(const mad::Host* host) {
  const auto unused = entries_.find(host);
  if (unused == entries_.end() || unused->second->used()) return;
  const bool gone = host->removed();
  unused->second->EndAfter(gone ? absl::ZeroDuration() : kLinger,
                           [this, host] { entries_.erase(host); });
}

void ConnectionTable::LetGo(AdapterId adapter) {
  const auto kept = entries_.find(hosts_.Find(adapter).get());
  if (kept == entries_.end() || kept->second->used()) return;
  entries_.erase(kept);
}

rdma_cm::Adapter* ConnectionTable::Find(AdapterId adapter) const {
  const auto entry = entries_.find(hosts_.Find(adapter).get());
  return entry == entries_.end() ? nullptr : &entry->second->connections();
}

cm::CmCounters ConnectionTable::CountersOf(const mad::Host& host,
                                           int port) const {
  const auto entry = entries_.find(&host);
  if (entry == entries_.end()) return {};
  return entry->second->connections().cm().counters(port);
}

uint64_t ConnectionTable::SeedElsewhere(AdapterId adapter) const {
  const auto guid = static_cast<uint64_t>(hosts_.adapters().node_guid(adapter));
  return Random::ForStream(seed_, absl::StrCat("elsewhere ", guid)).Next();
}

Random ConnectionTable::NextRandom() { return Random(random_.Next()); }

}  // namespace ibemu::daemon

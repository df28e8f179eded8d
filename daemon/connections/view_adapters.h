// ViewAdapters: the adapters of one view, as rdma_cm sees them.
#ifndef IBEMU_DAEMON_CONNECTIONS_VIEW_ADAPTERS_H_
#define IBEMU_DAEMON_CONNECTIONS_VIEW_ADAPTERS_H_

#include <memory>
#include <vector>

#include "base/observer_list.h"
#include "daemon/adapters/adapters.h"
#include "daemon/connections/connection_table.h"
#include "rdma_cm/host/adapter.h"

namespace ibemu::daemon {

// A ViewAdapters follows the slots of a view.  Its adapters begin when somebody
// asks for them.
class ViewAdapters final : public rdma_cm::AdapterList {
 public:
  // `table` must outlive this.
  explicit ViewAdapters(ConnectionTable& table) : table_(table) {}

  // Called when an adapter comes into a slot, or goes.
  void Add(int slot, AdapterId adapter);
  void Remove(int slot);

  std::vector<std::shared_ptr<rdma_cm::Adapter>> adapters() override;
  void AddListener(Listener& listener) override { listeners_.Add(listener); }
  void RemoveListener(Listener& listener) override {
    listeners_.Remove(listener);
  }

 private:
  struct Slot {
    int number = 0;
    AdapterId adapter{};
    std::weak_ptr<rdma_cm::Adapter> shown;
  };

  ConnectionTable& table_;
  std::vector<Slot> slots_;  // by number
  ObserverList<Listener> listeners_;
};

}  // namespace ibemu::daemon

#endif  // IBEMU_DAEMON_CONNECTIONS_VIEW_ADAPTERS_H_

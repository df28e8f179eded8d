// HostTable: the hosts of a daemon's adapters.
#ifndef IBEMU_DAEMON_ADAPTERS_HOST_TABLE_H_
#define IBEMU_DAEMON_ADAPTERS_HOST_TABLE_H_

#include <map>
#include <memory>
#include <optional>

#include "base/observer_list.h"
#include "base/timers.h"
#include "daemon/adapters/adapters.h"
#include "mad/host.h"

namespace ibemu::daemon {

// A HostTable holds the mad::Host of each adapter that somebody uses.  All
// views of one adapter share its Host, which lives as long as any of these
// views, or any file that a program has opened through them.
class HostTable {
 public:
  // An observer of all adapters' hosts.
  class Watcher {
   public:
    // Called when a Host was made for `adapter`: the only one that gets its
    // MADs from now on.
    virtual void OnHost(AdapterId adapter, mad::Host& host) = 0;

   protected:
    ~Watcher() = default;
  };

  // One who keeps hosts for a while after their last user has gone.
  class Keeper {
   public:
    // Lets go of the adapter's host, unless somebody uses it.
    virtual void LetGo(AdapterId adapter) = 0;

   protected:
    ~Keeper() = default;
  };

  // Both must outlive this object and all hosts.
  HostTable(Timers& timers, Adapters& adapters)
      : timers_(timers), adapters_(adapters) {}
  HostTable(const HostTable&) = delete;
  HostTable& operator=(const HostTable&) = delete;

  Adapters& adapters() { return adapters_; }

  // Returns the adapter's Host, and makes it if there is none.
  std::shared_ptr<mad::Host> Get(AdapterId adapter);

  // Returns the adapter's Host, or null if nobody has it.
  std::shared_ptr<mad::Host> Find(AdapterId adapter) const;

  // Returns the adapter whose Host this is, if it is the present one.
  std::optional<AdapterId> AdapterOf(const mad::Host& host) const;

  // The same as Find(), when all who only keep it have let go of it.  Not to be
  // called from a call of what they keep.
  std::shared_ptr<mad::Host> FindUsed(AdapterId adapter);

  // Makes Get() give a new Host next time.  Whoever uses the old one keeps it.
  // REQUIRES: the adapter was pulled out, or the old Host gets Unbind() next.
  void Forget(AdapterId adapter) { hosts_.erase(adapter); }

  // Neither `watcher` nor `keeper` is owned.
  void AddWatcher(Watcher& watcher) { watchers_.Add(watcher); }
  void RemoveWatcher(Watcher& watcher) { watchers_.Remove(watcher); }
  void AddKeeper(Keeper& keeper) { keepers_.Add(keeper); }
  void RemoveKeeper(Keeper& keeper) { keepers_.Remove(keeper); }

 private:
  Timers& timers_;
  Adapters& adapters_;
  std::map<AdapterId, std::weak_ptr<mad::Host>> hosts_;
  ObserverList<Watcher> watchers_;
  ObserverList<Keeper> keepers_;
};

}  // namespace ibemu::daemon

#endif  // IBEMU_DAEMON_ADAPTERS_HOST_TABLE_H_

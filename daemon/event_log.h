// What happens in a fabric, line by line.
#ifndef IBEMU_DAEMON_EVENT_LOG_H_
#define IBEMU_DAEMON_EVENT_LOG_H_

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/time/time.h"
#include "base/observer_list.h"
#include "base/timers.h"
#include "fabric/fabric.h"
#include "fabric/fabric_watcher.h"
#include "nlohmann/json_fwd.hpp"

namespace ibemu::daemon {

class EventListener {
 public:
  // What nobody wants is not even written down: drops, of which there may be
  // many.
  virtual bool Wants(std::string_view /*kind*/) const { return true; }

  // `line`: a JSON object, without its newline; docs/events.md describes it.
  // Neither adds nor removes listeners.  Also for kinds that are not wanted.
  virtual void OnEvent(std::string_view kind, std::string_view line) = 0;

 protected:
  ~EventListener() = default;
};

// Watches the fabric while somebody listens, and only then.
class EventLog : public fabric::FabricWatcher {
 public:
  // What an event may be, for who wants some of them only.
  static constexpr std::string_view kKinds[] = {"link", "port",   "sm",
                                                "node", "device", "trap",
                                                "drop", "fault",  "scenario"};

  // Events count time from now on.  `wall_clock`: what makes the timers' time
  // the time of day.  Both references must outlive this.
  EventLog(Timers& timers, fabric::Fabric& fabric, absl::Duration wall_clock);
  EventLog(const EventLog&) = delete;
  EventLog& operator=(const EventLog&) = delete;
  ~EventLog();

  // Not owned.
  void Add(EventListener& listener);
  void Remove(const EventListener& listener);
  bool Listened() const { return !listeners_.empty(); }

  // An event that the fabric knows nothing of.  `fields`: an object.
  void Tell(std::string_view kind, const nlohmann::json& fields);

  // Who knows a fault's name by the port that it is at the end of; null:
  // nobody.
  using FaultNames =
      std::function<std::string(fabric::PortId port, uint32_t number)>;
  void NameFaultsBy(FaultNames names) { fault_names_ = std::move(names); }

  void OnPortChange(fabric::PortId port) override;
  void OnTrap(fabric::PortId port, const mad::Notice& notice,
              bool repeated) override;
  void OnDrop(const fabric::DroppedPacket& dropped) override;

 private:
  // What was told last; a change is what differs from it.
  struct KnownPort {
    explicit KnownPort(const fabric::NodePort& port);

    mad::PortState state;
    bool link_up, is_sm;
    uint8_t lmc;
    mad::Lid lid, sm_lid;
  };
  struct KnownNode {
    bool on, plugged;
  };

  bool Wanted(std::string_view kind);
  void TellNode(fabric::NodeId node);
  void TellLink(fabric::PortId port);
  void TellPort(fabric::PortId port);

  Timers& timers_;
  fabric::Fabric& fabric_;
  const absl::Time start_;
  const absl::Duration wall_clock_;
  FaultNames fault_names_;
  ObserverList<EventListener> listeners_;
  std::vector<KnownPort> ports_;  // empty while nobody listens
  std::vector<KnownNode> nodes_;
};

}  // namespace ibemu::daemon

#endif  // IBEMU_DAEMON_EVENT_LOG_H_

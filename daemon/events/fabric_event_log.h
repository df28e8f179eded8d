// The event log of a simulated subnet.
#ifndef IBEMU_DAEMON_EVENTS_FABRIC_EVENT_LOG_H_
#define IBEMU_DAEMON_EVENTS_FABRIC_EVENT_LOG_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "base/timers.h"
#include "daemon/events/event_log.h"
#include "fabric/fabric.h"
#include "fabric/subnet/fabric_watcher.h"

namespace ibemu::daemon {

// A FabricEventLog watches the fabric while there is a listener, and only then.
class FabricEventLog : public EventLog, fabric::FabricWatcher {
 public:
  // The parameters are those of EventLog().  `fabric` must outlive this object,
  // too.
  FabricEventLog(Timers& timers, fabric::Fabric& fabric,
                 absl::Duration wall_clock);
  ~FabricEventLog() override;

  std::span<const std::string_view> kinds() const override;

  // Sets the function that returns the name of the fault with a number.  If it
  // is null, faults have no names.
  using NameOfFault = std::function<std::string(uint32_t number)>;
  void NameFaultsBy(NameOfFault name) { name_of_fault_ = std::move(name); }

 private:
  struct KnownEnd {
    KnownPort port;
    bool link_up;
  };
  struct KnownNode {
    bool on, plugged;
  };

  void Begin() override;
  void End() override;
  void OnPortChange(fabric::PortId port) override;
  void OnTrap(fabric::PortId port, const mad::Notice& notice,
              bool repeated) override;
  void OnDrop(const fabric::DroppedPacket& dropped) override;

  void TellNode(topology::NodeId node);
  void TellLink(fabric::PortId port);

  fabric::Fabric& fabric_;
  NameOfFault name_of_fault_;
  std::vector<KnownEnd> ports_;  // empty while there is no listener
  std::vector<KnownNode> nodes_;
};

}  // namespace ibemu::daemon

#endif  // IBEMU_DAEMON_EVENTS_FABRIC_EVENT_LOG_H_

// MadTimeouts: the MADs of hosts that nobody answered, and why.
#ifndef IBEMU_DAEMON_WHY_MAD_TIMEOUTS_H_
#define IBEMU_DAEMON_WHY_MAD_TIMEOUTS_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>

#include "absl/time/time.h"
#include "base/timers.h"
#include "daemon/adapters/host_table.h"
#include "daemon/why/diagnosis.h"
#include "fabric/fabric.h"
#include "fabric/history/incident.h"
#include "fabric/subnet/fabric_watcher.h"
#include "mad/timeout_watcher.h"
#include "topology/topology.h"

namespace ibemu::daemon {

// A MadTimeouts watches the hosts of a fabric, and keeps the last kMost MADs
// that ended without an answer, with the reason; if their agent ended first,
// those that were lost on their way.  The same MAD sent again and
// again, as libibmad does it, is kept once.
class MadTimeouts final : fabric::FabricWatcher, HostTable::Watcher {
 public:
  static constexpr size_t kMost = 256;
  // The last packets with a MAD that were dropped: what it looks for reasons
  // in.
  static constexpr size_t kMostDrops = 1024;

  struct Timeout {
    topology::NodeId node{};
    int port = 0;
    // The last try ended in vain at `end`; the first was sent at `begin`.
    absl::Time begin{}, end{};
    int tries = 0;
    std::string what{};  // "SM Get(NodeInfo) by the directed route 0,1"
    std::string why{};   // "no port has LID 7"
  };

  // The first three must outlive this, and this all hosts of `hosts`.
  MadTimeouts(Timers& timers, fabric::Fabric& fabric,
              const Diagnosis& diagnosis, HostTable& hosts);
  ~MadTimeouts();
  MadTimeouts(const MadTimeouts&) = delete;
  MadTimeouts& operator=(const MadTimeouts&) = delete;

  // The latest last.
  const std::deque<Timeout>& all() const { return timeouts_; }

 private:
  // Watches one host.
  class HostWatch final : public mad::TimeoutWatcher {
   public:
    HostWatch(MadTimeouts& owner, topology::NodeId node)
        : owner_(owner), node_(node) {}
    void OnTimeout(const mad::UnansweredSend& send) override {
      owner_.Add(node_, send);
    }

   private:
    MadTimeouts& owner_;
    const topology::NodeId node_;
  };
  // A packet that was dropped.
  struct Drop {
    uint64_t tid = 0;
    mad::MgmtClass mgmt_class{};
    bool is_answer = false;
    absl::Time time{};
    fabric::Incident::Drop where{};
  };

  void OnHost(AdapterId adapter, mad::Host& host) override;
  void OnPortChange(fabric::PortId) override {}
  void OnTrap(fabric::PortId, const mad::Notice&, bool) override {}
  void OnDrop(const fabric::DroppedPacket& dropped) override;

  void Add(topology::NodeId node, const mad::UnansweredSend& send);
  std::optional<std::string> WhereLost(const mad::UnansweredSend& send,
                                       absl::Time since) const;
  std::string WhoDidNotAnswer(const mad::Outgoing& packet) const;
  // Returns what became of packets since then; nothing if none was dropped.
  std::optional<std::string> DropText(const mad::Outgoing& packet,
                                      absl::Time since, bool is_answer) const;

  Timers& timers_;
  fabric::Fabric& fabric_;
  const Diagnosis& diagnosis_;
  std::map<topology::NodeId, HostWatch> watches_;
  std::deque<Drop> drops_;  // the latest last
  std::deque<Timeout> timeouts_;
};

}  // namespace ibemu::daemon

#endif  // IBEMU_DAEMON_WHY_MAD_TIMEOUTS_H_

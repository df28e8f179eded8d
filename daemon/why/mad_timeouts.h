// MadTimeouts: the MADs of hosts that nobody answered or acknowledged, and why.
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

// A MadTimeouts watches the hosts of a fabric, and keeps of each the last kMost
// requests that ended without an answer, of messages with RMPP answers as well
// that were not acknowledged or broken off, and where they were lost; if their
// agent ended first, only those that were lost on their way.  A
// request without RMPP that is sent again at once, as libibmad does it, is kept
// once.
class MadTimeouts final : fabric::FabricWatcher, HostTable::Watcher {
 public:
  static constexpr size_t kMost = 32;
  // How many of the packets that were dropped are kept, to find a request or
  // its answer among them.
  static constexpr size_t kMostDrops = 1024;
  // The longest time between a request that ended and the same sent again.
  static constexpr absl::Duration kPause = absl::Seconds(1);

  struct Timeout {
    int port = 0;
    // The first try was sent at `begin`, and the last ended at `end`.
    absl::Time begin{}, end{};
    int tries = 0;
    std::string what{};  // "SM Get(NodeInfo) by the directed route 0,1"
    // Where it or its answer was dropped, if that is known.
    std::string lost{};
    bool all_known = true;  // false: it may have been dropped all the same
    // Whom it was for; nothing: it had a directed route.
    std::optional<wire::Lid> lid{};
    std::optional<mad::RmppProgress> rmpp{};
  };

  // The first three must outlive this, and this all hosts of `hosts`.
  MadTimeouts(Timers& timers, fabric::Fabric& fabric,
              const Diagnosis& diagnosis, HostTable& hosts);
  ~MadTimeouts();
  MadTimeouts(const MadTimeouts&) = delete;
  MadTimeouts& operator=(const MadTimeouts&) = delete;

  // Returns those of a host, the latest last.
  const std::deque<Timeout>& Of(topology::NodeId node) const;
  // Returns what it was, how it went, and why: "SM Get(NodeInfo) to LID 7: 3
  // tries in 2s, none answered: no port has LID 7".
  std::string Describe(const Timeout& timeout) const;

 private:
  // A HostWatch watches one host for its owner.
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
    // Returns true if it went the way of what was sent, rather than back.
    bool SameWay(const mad::Outgoing& sent) const;

    uint64_t tid = 0;
    bool is_answer = false;
    // The ends of its way: a LID, or the text of a directed route.
    wire::Lid slid{}, dlid{};
    std::string route{};
    absl::Time time{};
    fabric::Incident::Drop where{};
  };

  void OnHost(AdapterId adapter, mad::Host& host) override;
  void OnPortChange(fabric::PortId) override {}
  void OnTrap(fabric::PortId, const mad::Notice&, bool) override {}
  void OnDrop(const fabric::DroppedPacket& dropped) override;

  void Add(topology::NodeId node, const mad::UnansweredSend& send);
  // Returns why there was no answer, or no ACK: "no port has LID 7".
  std::string Why(const Timeout& timeout) const;
  // Returns true if the packet was what was sent, or came back for it.
  bool IsOf(const Drop& drop, const mad::Outgoing& sent,
            const fabric::NodePort& sender) const;
  // Returns where it, its answer or an ACK was dropped; empty: it is not known.
  std::string WhereLost(topology::NodeId node,
                        const mad::UnansweredSend& send) const;

  Timers& timers_;
  fabric::Fabric& fabric_;
  const Diagnosis& diagnosis_;
  std::map<topology::NodeId, HostWatch> watches_;
  std::deque<Drop> drops_;  // the latest last
  std::map<topology::NodeId, std::deque<Timeout>> timeouts_;
};

}  // namespace ibemu::daemon

#endif  // IBEMU_DAEMON_WHY_MAD_TIMEOUTS_H_

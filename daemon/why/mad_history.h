// MadHistory: the last MADs of each host: those that were answered, and those
// that were not, with the place where they were lost.
#ifndef IBEMU_DAEMON_WHY_MAD_HISTORY_H_
#define IBEMU_DAEMON_WHY_MAD_HISTORY_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "base/timers.h"
#include "daemon/adapters/host_table.h"
#include "daemon/why/diagnosis.h"
#include "fabric/fabric.h"
#include "fabric/history/incident.h"
#include "fabric/subnet/fabric_watcher.h"
#include "mad/send_watcher.h"
#include "topology/topology.h"

namespace ibemu::daemon {

// A MadHistory watches the hosts of a fabric, and keeps of each the last kMax
// requests that ended without an answer, of messages with RMPP answers as well
// that were not acknowledged or broken off, and where they were lost; if their
// agent ended first, only those that were lost on their way.  A
// request without RMPP that is sent again at once, as libibmad does it, is kept
// once.  Beside these it keeps the last kMax that were answered.
class MadHistory final : fabric::FabricWatcher, HostTable::Watcher {
 public:
  static constexpr size_t kMax = 32;
  // How many of the packets that were dropped or held up are kept, to find a
  // request or its answer among them.
  static constexpr size_t kMaxLost = 1024;
  // The longest time between a request that ended and the same sent again.
  static constexpr absl::Duration kPause = absl::Seconds(1);

  struct Timeout {
    int port = 0;
    uint64_t process = 0;  // whose it was; 0: of none in particular
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

  struct Answer {
    int port = 0;
    uint64_t process = 0;  // whose it was; 0: of none in particular
    // It was sent first at `begin`, and the answer came at `end`.
    absl::Time begin{}, end{};
    int tries = 0;
    mad::MadStatus status{};  // the answer's
    mad::Outgoing request{};
  };

  // The first three must outlive this, and this all hosts of `hosts`.
  MadHistory(Timers& timers, fabric::Fabric& fabric, const Diagnosis& diagnosis,
             HostTable& hosts);
  ~MadHistory();
  MadHistory(const MadHistory&) = delete;
  MadHistory& operator=(const MadHistory&) = delete;

  // Return those of a host, the latest last.
  const std::deque<Timeout>& Of(topology::NodeId node) const;
  std::vector<Answer> AnswersOf(topology::NodeId node) const;
  // Returns "SM Get(NodeInfo) to LID 7: answered in 21us, sent 2 times", and
  // the answer's status unless it is 0.
  static std::string Describe(const Answer& answer);
  // Returns whose it was, what, how it went, and why: "node-1 port 1: SM
  // Get(NodeInfo) to LID 7: 3 tries in 2s, none answered: no port has LID 7".
  std::string Sentence(topology::NodeId node, const Timeout& timeout) const;
  std::string Sentence(topology::NodeId node, const Answer& answer) const;

  // Called with each that is kept, as it is then: if the same was sent again at
  // once, with both as one.
  using TimeoutListener =
      std::function<void(topology::NodeId node, const Timeout& timeout)>;
  // There is at most one; null: none.
  void SetTimeoutListener(TimeoutListener listener) {
    timeout_listener_ = std::move(listener);
  }

 private:
  // A HostWatch watches one host for its owner.
  class HostWatch final : public mad::SendWatcher {
   public:
    HostWatch(MadHistory& owner, topology::NodeId node)
        : owner_(owner), node_(node) {}
    void OnTimeout(const mad::UnansweredSend& send) override {
      owner_.Add(node_, send);
    }
    void OnAnswer(const mad::AnsweredSend& send) override;

    std::vector<Answer> Answers() const;

   private:
    MadHistory& owner_;
    const topology::NodeId node_;
    std::vector<Answer> answers_;  // at most kMax
    size_t oldest_ = 0;            // of them, once there are so many
  };
  // A packet that was dropped, or held up.
  struct LostPacket {
    // Returns true if it went the way of what was sent, rather than back.
    bool SameWay(const mad::Outgoing& sent) const;

    uint64_t tid = 0;
    bool is_answer = false;
    // The ends of its way: a LID, or the text of a directed route.
    wire::Lid slid{}, dlid{};
    std::string route{};
    absl::Time time{};
    std::optional<fabric::Incident::Drop> drop{};
    std::optional<fabric::Incident::Delay> delay{};
  };

  void OnHost(AdapterId adapter, mad::Host& host) override;
  void OnPortChange(fabric::PortId) override {}
  void OnTrap(fabric::PortId, const mad::Notice&, bool) override {}
  void OnDrop(const fabric::DroppedPacket& dropped) override;
  void OnMadDelay(const fabric::Packet& packet, fabric::PortId port,
                  uint32_t fault) override;

  void Add(topology::NodeId node, const mad::UnansweredSend& send);
  std::string SenderText(topology::NodeId node, int port) const;
  std::string Describe(const Timeout& timeout) const;
  // Returns why there was no answer, or no ACK: "no port has LID 7".
  std::string Why(const Timeout& timeout) const;
  // Returns true if the packet was what was sent, or came back for it.
  bool IsOf(const LostPacket& lost, const mad::Outgoing& sent,
            const fabric::NodePort& sender) const;
  // Keeps the packet, and returns what is kept of it.
  LostPacket& Keep(const fabric::Packet& packet);
  // Returns where it, its answer or an ACK was dropped, or else held up; empty:
  // it is not known.
  std::string WhereLost(topology::NodeId node,
                        const mad::UnansweredSend& send) const;

  Timers& timers_;
  fabric::Fabric& fabric_;
  const Diagnosis& diagnosis_;
  std::map<topology::NodeId, HostWatch> watches_;
  std::deque<LostPacket> lost_;  // the latest last
  std::map<topology::NodeId, std::deque<Timeout>> timeouts_;
  TimeoutListener timeout_listener_;  // null: none
};

}  // namespace ibemu::daemon

#endif  // IBEMU_DAEMON_WHY_MAD_HISTORY_H_

// Diagnosis: the reason why a work request of a queue pair failed, in a
// sentence.
#ifndef IBEMU_DAEMON_WHY_DIAGNOSIS_H_
#define IBEMU_DAEMON_WHY_DIAGNOSIS_H_

#include <cstdint>
#include <functional>
#include <string>
#include <utility>

#include "absl/time/time.h"
#include "daemon/why/link_outages.h"
#include "fabric/fabric.h"
#include "fabric/history/queue_pair_history.h"
#include "topology/topology.h"

namespace ibemu::daemon {

// A Diagnosis looks at the history of a queue pair and at that of its peer, and
// names the cause that explains the completion.  It says so where it knows
// none.
class Diagnosis {
 public:
  // Returns the name of the fault with a number, "fault-3"; empty: it is not
  // known any more.
  using NameOfFault = std::function<std::string(uint32_t number)>;

  // Times are told since `start`.  `fabric` and `outages` must outlive this.
  Diagnosis(const fabric::Fabric& fabric, const LinkOutages& outages,
            NameOfFault name_of_fault, absl::Time start)
      : fabric_(fabric),
        outages_(outages),
        name_of_fault_(std::move(name_of_fault)),
        start_(start) {}

  // Returns why the first work request of the queue pair failed: "node-1 queue
  // pair 0x12: work request 77 (SEND) ended with RETRY_EXC_ERR: 32 tries of PSN
  // 0x3a in 536ms, none answered: dropped at leaf-2/4: the link was down
  // from 12.301s on".  Empty: none has failed.
  std::string Explain(topology::NodeId node, uint32_t qpn,
                      const fabric::QueuePairHistory& history) const;

  // Returns what happened to a queue pair of whose work requests none failed:
  // "node-1 queue pair 0x12 sent packets again (5 times): dropped at leaf-2/4:
  // the link was down from 12.301s to 12.8s (9 times)", why it is in error, or
  // what was lost without an error.  Empty: nothing, or one has failed.
  std::string Trouble(topology::NodeId node, uint32_t qpn,
                      const fabric::QueuePairHistory& history) const;

  // Returns where packets were dropped, and why.  REQUIRES: `dropped` has a
  // `drop`.
  std::string DropText(const fabric::Incident& dropped) const;

  // Returns what happened, in words.
  std::string IncidentText(const fabric::Incident& incident) const;

  // The same as DropText() with how often, "(4 times)", unless it was once.
  std::string DropsText(const fabric::Incident& dropped) const;

  // Returns the history of the other end of a connection; null if nothing is
  // known of it.
  const fabric::QueuePairHistory* PeerOf(
      const fabric::QueuePairHistory& history) const;

  // Returns the node that has a LID; nothing: no port has.
  std::optional<topology::NodeId> OwnerOf(wire::Lid lid) const;

  absl::Duration SinceStart(absl::Time time) const { return time - start_; }

 private:
  using History = fabric::QueuePairHistory;
  // The queue pair that is asked about.
  struct OwnEnd;
  // The other end of a connection, as far as it is known.
  struct PeerEnd;

  std::string Cause(const OwnEnd& own) const;
  std::string WhyUnanswered(const OwnEnd& own) const;
  std::string WhereTheyWent(const OwnEnd& own, absl::Time since) const;
  // Return what is different at the other end, and what was lost or not taken
  // though nobody was told; empty: nothing.
  std::string WhichPsn(const OwnEnd& own, const PeerEnd& peer) const;
  std::string SilentLoss(const OwnEnd& own) const;
  std::string WhyNotReady(const History& history) const;
  std::string WhyRefused(const History& history) const;
  static std::string WhyFlushed(const History& history);
  std::string DelayText(const fabric::Incident& delayed) const;
  std::string FaultText(uint32_t number) const;
  std::string OutageText(const LinkOutages::Outage& outage) const;
  PeerEnd FindPeer(const History& history) const;
  std::string QueuePairText(topology::NodeId node, uint32_t qpn) const;

  const fabric::Fabric& fabric_;
  const LinkOutages& outages_;
  const NameOfFault name_of_fault_;
  const absl::Time start_;
};

}  // namespace ibemu::daemon

#endif  // IBEMU_DAEMON_WHY_DIAGNOSIS_H_

// QueuePairHistory: the last things that happened to one queue pair.
#ifndef IBEMU_FABRIC_HISTORY_QUEUE_PAIR_HISTORY_H_
#define IBEMU_FABRIC_HISTORY_QUEUE_PAIR_HISTORY_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "absl/time/time.h"
#include "base/timers.h"
#include "fabric/history/incident.h"
#include "fabric/history/queue_pair_facts.h"
#include "wire/types.h"

namespace ibemu::fabric {

// A QueuePairHistory keeps at most kMax incidents, changes longest,
// and the first work request that failed since the queue pair was last reset:
// the ones after it fail because of it.
class QueuePairHistory {
 public:
  static constexpr size_t kMax = 32;

  // Of a packet; nothing: there is none, or it is a datagram on its way.
  using Psn = std::optional<uint32_t>;

  // A work request that failed.
  struct Failure {
    absl::Time time{};
    uint64_t id = 0;      // its wr_id
    uint32_t status = 0;  // verbs::wc_status
    Psn psn{};            // of its first packet, if it had one
    std::string what{};   // "SEND"
  };
  // The other end of a connection.
  struct Peer {
    wire::Lid lid{};
    uint32_t qpn = 0;
  };

  // Called with each incident that is not another one once more; of the work
  // requests that failed, with the first one, which failure() is then.
  using OnIncident = std::function<void(const QueuePairHistory& history,
                                        const Incident& incident)>;

  // `on_incident` may be null.  `timers` must outlive this.
  // `process`: whose the queue pair is, see verbs::Memory::process().
  explicit QueuePairHistory(Timers& timers, OnIncident on_incident = nullptr,
                            uint64_t process = 0)
      : timers_(timers),
        on_incident_(std::move(on_incident)),
        process_(process) {}

  // Adds an incident, which began `ago` before now; if there is one that
  // differs in its times only (or, of dropped and delayed packets, in the PSN),
  // counts it once more.
  void Note(Incident::Kind kind, Psn psn, std::string text,
            absl::Duration ago = absl::ZeroDuration());
  void NoteDrop(Psn psn, const Incident::Drop& drop);
  void NoteDelay(Psn psn, const Incident::Delay& delay);

  // `deed`: what the fault with this name does, "fails work request 7 (SEND)".
  void NoteFault(Psn psn, std::string_view name, std::string_view deed);

  // A work request failed.  `time` of the argument is not read.
  void NoteFailure(Failure failure);
  // The queue pair entered an error state that its program did not ask for.
  // `change`: "RTS to ERR, as a work request failed".
  void NoteError(std::string change);
  // The queue pair was reset: what happened before is over.
  void Restart() {
    failure_.reset();
    error_.reset();
    restarted_ = timers_.Now();
  }

  void SetPeer(const Peer& peer) { peer_ = peer; }
  // `time` of the argument is not read.
  void SetFacts(const QueuePairFacts& facts);
  // Changes the attributes of the facts, if there are any.  The rest is as it
  // was when the program last changed the queue pair.
  void SetAttributes(const verbs::QpAttributes& attributes) {
    if (facts_) facts_->attributes = attributes;
  }

  uint64_t process() const { return process_; }
  // When it was last reset; the infinite past: never.
  absl::Time restarted() const { return restarted_; }
  // Oldest first.
  const std::deque<Incident>& incidents() const { return incidents_; }
  const std::optional<Failure>& failure() const { return failure_; }
  // What NoteError() was told last, since the queue pair was last reset.
  const std::optional<std::string>& error() const { return error_; }
  const std::optional<Peer>& peer() const { return peer_; }
  // Empty as long as it took no packets.
  const std::optional<QueuePairFacts>& facts() const { return facts_; }

  // Returns the latest incident of this kind that was not over before `since`;
  // null if there is none.
  const Incident* Latest(Incident::Kind kind, absl::Time since) const;
  // Returns the latest one of this kind that has this PSN, since the queue pair
  // was last reset; null if there is none.
  const Incident* LatestOf(Incident::Kind kind, Psn psn) const;

 private:
  struct Kept {
    const Incident& incident;
    bool is_new;
  };

  // Adds the incident, and tells of it if it is new.
  void Add(Incident incident, absl::Duration ago);
  // Adds the incident, or counts the one that it is once more, if that was so
  // since the queue pair was last reset.
  Kept Keep(Incident incident, absl::Duration ago);
  void Tell(const Incident& incident) const {
    if (on_incident_ != nullptr) on_incident_(*this, incident);
  }
  void MakeRoom();
  // Returns the latest of those that are `wanted` and were not over before
  // `since`; null if there is none.
  template <class Wanted>
  const Incident* FindLatest(absl::Time since, Wanted wanted) const;

  Timers& timers_;
  const OnIncident on_incident_;
  const uint64_t process_;
  std::deque<Incident> incidents_;
  std::optional<Failure> failure_;
  std::optional<std::string> error_;
  absl::Time restarted_ = absl::InfinitePast();
  std::optional<Peer> peer_;
  std::optional<QueuePairFacts> facts_;
};

}  // namespace ibemu::fabric

#endif  // IBEMU_FABRIC_HISTORY_QUEUE_PAIR_HISTORY_H_

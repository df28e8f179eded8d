// Traps: traps to the subnet manager, IBA vol 1 §13.4.9 and §14.3.
#ifndef IBEMU_FABRIC_AGENTS_TRAPS_H_
#define IBEMU_FABRIC_AGENTS_TRAPS_H_

#include <cstdint>
#include <deque>
#include <optional>

#include "absl/container/flat_hash_map.h"
#include "base/timers.h"
#include "fabric/subnet/fabric_events.h"
#include "fabric/subnet/mad_sender.h"
#include "fabric/subnet/subnet.h"
#include "mad/wire/notice.h"
#include "wire/layout.h"

namespace ibemu::fabric {

// The sender of notices of end ports (on a switch: port 0).  It sends them to
// the subnet manager that the port knows, and repeats each until it is
// repressed.  A port that has no subnet manager, or is not ACTIVE, sends
// nothing and drops its waiting notices.
class Traps {
 public:
  Traps(Subnet& subnet, FabricEvents& events, MadSender& sender,
        Timers& timers);
  Traps(const Traps&) = delete;
  Traps& operator=(const Traps&) = delete;
  ~Traps();

  // Raises a trap.  If an equal notice is already waiting, the trap is not sent
  // now, but once more after the waiting one is repressed, because the manager
  // may have looked before the new event.
  template <wire::Structure Details>
  void Raise(PortId port, mad::TrapNumber number, mad::NoticeType type,
             const Details& details) {
    mad::Notice notice;
    notice.trap_number = number;
    notice.type = type;
    wire::Encode(details, notice.data_details);
    RaiseNotice(port, notice);
  }

  // Handles a TrapRepress.  Returns false if no waiting trap has this
  // transaction id.
  bool Repress(PortId port, uint64_t tid);

  // Returns the notice that has waited longest, for Get(Notice).
  std::optional<mad::Notice> Oldest(PortId port) const;

 private:
  struct Waiting {
    mad::Notice notice;
    uint64_t tid = 0;
    bool again = false;  // the event has happened again meanwhile
  };
  struct Queue {
    std::deque<Waiting> notices;
    TimerId timer = TimerId::kNone;
  };

  void RaiseNotice(PortId port, mad::Notice notice);
  bool MaySend(PortId port) const;
  void Send(PortId port, const Waiting& waiting, bool repeated);
  // Sends all waiting notices again, and restarts the timer.
  void Repeat(PortId port);
  void StartTimer(PortId port, Queue& queue);

  Subnet& subnet_;
  FabricEvents& events_;
  MadSender& sender_;
  Timers& timers_;
  uint64_t next_tid_ = 1;
  absl::flat_hash_map<PortId, Queue> queues_;
};

}  // namespace ibemu::fabric

#endif  // IBEMU_FABRIC_AGENTS_TRAPS_H_

// SweepHistory: the sweeps of subnet managers.
#ifndef IBEMU_FABRIC_HISTORY_SWEEP_HISTORY_H_
#define IBEMU_FABRIC_HISTORY_SWEEP_HISTORY_H_

#include <cstdint>

#include "absl/container/flat_hash_map.h"
#include "absl/time/time.h"
#include "base/timers.h"
#include "fabric/subnet/subnet.h"
#include "mad/address.h"

namespace ibemu::fabric {

// A SweepHistory keeps the last sweep of each subnet manager, the built-in one
// and those of hosts.  A program does not say when it sweeps: a sweep is
// all that it asks and sets by SMPs until it has been silent for kPause.
class SweepHistory {
 public:
  // opensm asks a node that is silent three times, 200 ms each, before it goes
  // on; a light sweep comes every 10 s.
  static constexpr absl::Duration kPause = absl::Seconds(2);

  struct Sweep {
    absl::Time began, last;       // its first and its last SMP or step
    uint64_t gets = 0, sets = 0;  // SMPs
  };

  // Both must outlive this object.
  SweepHistory(const Subnet& subnet, const Timers& timers)
      : subnet_(subnet), timers_(timers) {}
  SweepHistory(const SweepHistory&) = delete;
  SweepHistory& operator=(const SweepHistory&) = delete;

  // Notes an SMP that a host sends from this port.  A Get or Set counts if the
  // port says that a subnet manager is there (IsSM), but not those of SMInfo:
  // by them managers ask for each other.
  void NoteSmp(PortId port, const mad::MadBytes& smp);

  // Notes that the manager of this port works on the subnet without SMPs.
  void NoteWork(PortId port);

  // Returns the manager's last sweep, or null if it has not swept.
  const Sweep* Last(PortId port) const;
  // Returns how long ago a sweep did its last, and whether more of it may come.
  absl::Duration Since(const Sweep& sweep) const {
    return timers_.Now() - sweep.last;
  }
  bool IsUnderWay(const Sweep& sweep) const { return Since(sweep) < kPause; }

 private:
  Sweep& Now(PortId port);

  const Subnet& subnet_;
  const Timers& timers_;
  absl::flat_hash_map<PortId, Sweep> last_;
};

}  // namespace ibemu::fabric

#endif  // IBEMU_FABRIC_HISTORY_SWEEP_HISTORY_H_

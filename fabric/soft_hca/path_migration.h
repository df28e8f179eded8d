// PathMigration: the state machine by which a connection moves to its alternate
// path.
#ifndef IBEMU_FABRIC_SOFT_HCA_PATH_MIGRATION_H_
#define IBEMU_FABRIC_SOFT_HCA_PATH_MIGRATION_H_

#include <cstdint>

#include "absl/status/status.h"
#include "fabric/packet/packet.h"
#include "verbs/qp_attributes.h"

namespace ibemu::fabric {

// A PathMigration is the state machine of automatic path migration (IBA vol 1
// §17.2.8): a program loads an alternate path and asks for Rearm; once both
// ends have, their packets make it Armed; from there it moves to that path, and
// is Migrated, when its retries are used up, when the program asks for it, or
// when its peer has moved.
class PathMigration {
 public:
  using State = verbs::MigrationState;

  // `attributes`: the queue pair's, in which are state and paths.
  explicit PathMigration(verbs::QpAttributes& attributes)
      : attributes_(attributes) {}

  State state() const { return State{attributes_.path_mig_state}; }

  // Checks that a program may change the queue pair, which enters or keeps the
  // state `to`, to `wanted`.  The rules are those of rvt_modify_qp() of Linux,
  // but that lets a connection without an alternate path be rearmed.
  //
  // Errors: InvalidArgument.
  absl::Status Check(const verbs::QpAttributes& wanted,
                     verbs::QpState to) const;

  // A program has asked for Rearm, which Check() has accepted.
  void Rearm() { Set(State::kRearm); }
  // Makes the alternate path the path.  REQUIRES: it is Armed.
  void Move();

  // Returns true if a packet of the peer that came to port `port`, where its
  // P_Key fits the alternate path's, says that the peer has moved.
  bool PeerHasMoved(const Packet& packet, int port) const;

  // A packet of the peer came by the present path: arms the alternate one if
  // both ends are rearmed.
  void OnPacket(const Packet& packet) {
    if (state() == State::kRearm && !packet.migrated) Set(State::kArmed);
  }

 private:
  void Set(State state) {
    attributes_.path_mig_state = static_cast<uint32_t>(state);
  }

  verbs::QpAttributes& attributes_;
};

}  // namespace ibemu::fabric

#endif  // IBEMU_FABRIC_SOFT_HCA_PATH_MIGRATION_H_

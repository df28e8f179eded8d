#include "fabric/soft_hca/path_migration.h"

#include "absl/strings/str_format.h"

namespace ibemu::fabric {

namespace attribute = verbs::qp_attribute;

using verbs::Names, verbs::QpState;

absl::Status PathMigration::Check(const verbs::QpAttributes& wanted,
                                  QpState to) const {
  if (!Names(wanted, attribute::kMigrationState)) return absl::OkStatus();
  const auto refuse = [](const char* why) {
    return absl::InvalidArgumentError(
        absl::StrFormat("path_mig_state: %s", why));
  };
  switch (State{wanted.path_mig_state}) {
    case State::kRearm:
      if (state() == State::kArmed) return refuse("it is ARMED already");
      if (to != QpState::kReadyToSend) return refuse("REARM is for RTS");
      if (!Names(wanted, attribute::kAlternatePath) &&
          attributes_.alt_port_num == 0) {
        return refuse("REARM needs an alternate path");
      }
      return absl::OkStatus();
    case State::kMigrated:
      if (state() == State::kRearm) return refuse("it is not ARMED yet");
      if (to != QpState::kReadyToSend && to != QpState::kSendQueueDrain) {
        return refuse("MIGRATED is for RTS and SQD");
      }
      return absl::OkStatus();
    default:
      return refuse("a program asks for MIGRATED or REARM");
  }
}

void PathMigration::Move() {
  attributes_.ah_attr = attributes_.alt_ah_attr;
  attributes_.port_num = attributes_.alt_port_num;
  attributes_.pkey_index = attributes_.alt_pkey_index;
  attributes_.timeout = attributes_.alt_timeout;
  Set(State::kMigrated);
}

bool PathMigration::PeerHasMoved(const Packet& packet, int port) const {
  return state() == State::kArmed && packet.migrated &&
         port == attributes_.alt_port_num &&
         packet.slid == wire::Lid{attributes_.alt_ah_attr.dlid};
}

}  // namespace ibemu::fabric

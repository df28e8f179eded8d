// Incident: one thing that happened to a queue pair.
#ifndef IBEMU_FABRIC_HISTORY_INCIDENT_H_
#define IBEMU_FABRIC_HISTORY_INCIDENT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "absl/time/time.h"
#include "fabric/subnet/fabric_watcher.h"

namespace ibemu::fabric {

// An Incident is a change of state, or something that went wrong, once or
// several times.
struct Incident {
  enum class Kind : uint8_t {
    kState,      // the queue pair changed its state
    kSentAgain,  // packets from `psn` on were sent again
    kNotReady,   // an RNR NAK came for `psn`
    kRefused,    // another NAK came for `psn`
    kDropped,    // a packet of the queue pair ended on its way: see `drop`
    kNotTaken,   // a packet came that the queue pair does not take
    kNoReceive,  // a message came, and there was no receive request for it
    kDenied,     // a request of the peer, or of the program, was not allowed
    kKeptBack,   // a fault kept receive requests from a message that came
    kFault,      // a fault acted on a work request that had ended well
    kDelayed,    // a fault held a packet of the queue pair up: see `delay`
    kFailed,     // a work request completed with an error
    kMigrated,   // the connection moved to its alternate path
  };
  // Where and why a packet was dropped.
  struct Drop {
    PortId port;
    DropCause cause;
    uint32_t fault = 0;  // as DroppedPacket's

    bool operator==(const Drop&) const = default;
  };

  // Where a packet was held up, and by which fault.
  struct Delay {
    PortId port;
    uint32_t fault;  // as DroppedPacket's

    bool operator==(const Delay&) const = default;
  };

  Kind kind;
  // The latest; nothing: of no packet, or of a datagram on its way.
  std::optional<uint32_t> psn{};
  std::string text{};
  std::optional<Drop> drop{};
  std::optional<Delay> delay{};
  absl::Time first{}, last{};  // when it began, and when it was last so
  uint32_t count = 1;
};

// Returns true for what changes a queue pair, which is told each time.
constexpr bool IsChange(Incident::Kind kind) {
  return kind == Incident::Kind::kState || kind == Incident::Kind::kMigrated;
}

// Returns a word for people and programs, "sent-again".
constexpr std::string_view NameOf(Incident::Kind kind) {
  constexpr std::string_view kNames[] = {
      "state",     "sent-again", "not-ready", "refused",   "dropped",
      "not-taken", "no-receive", "denied",    "kept-back", "fault",
      "delayed",   "failed",     "migrated"};
  return kNames[static_cast<size_t>(kind)];
}

}  // namespace ibemu::fabric

#endif  // IBEMU_FABRIC_HISTORY_INCIDENT_H_

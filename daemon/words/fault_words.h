// The parser of faults as people write them, in the words of tc-netem(8).
#ifndef IBEMU_DAEMON_WORDS_FAULT_WORDS_H_
#define IBEMU_DAEMON_WORDS_FAULT_WORDS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "daemon/words/port_text.h"
#include "fabric/faults/fault_stage.h"
#include "fabric/faults/link_flap.h"

namespace ibemu::daemon {

enum class FaultDirection {
  kBoth,
  kTransmit,  // packets that leave through the port
  kReceive,   // packets that enter
};

struct FaultRequest {
  enum class Place { kLink, kNode };

  Place place = Place::kLink;
  PortText port;  // for kNode, only its node counts
  fabric::LinkFaults faults;
  std::optional<fabric::FlapPlan> flap;  // only for kLink
  FaultDirection direction = FaultDirection::kBoth;
  std::optional<uint64_t> seed;
};

// Parses words such as {"link", "node-1/1", "loss", "5%", "delay", "10us",
// "2us", "dir", "tx"} or {"node", "node-1", "slow", "50ms"}.
//
// Errors: InvalidArgument.
absl::StatusOr<FaultRequest> ParseFault(const std::vector<std::string>& words);

// Returns the effects of a fault and the packets that it concerns, in words
// that ParseFault() understands: "loss 5% delay 10us 2us attr SA".
std::string FaultText(const FaultRequest& request);

// Returns true if the fault has effects on single packets, and false if it only
// makes the link flap.
bool HasPacketFaults(const FaultRequest& request);

// Returns "both", "tx" or "rx".
std::string_view DirectionName(FaultDirection direction);

}  // namespace ibemu::daemon

#endif  // IBEMU_DAEMON_WORDS_FAULT_WORDS_H_

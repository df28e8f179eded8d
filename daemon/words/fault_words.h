// Faults as people write them, in the words of tc-netem(8).
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
  kTransmit,  // what leaves through the port
  kReceive,   // what enters
};

struct FaultRequest {
  enum class Place { kLink, kNode };

  Place place = Place::kLink;
  PortText port;  // kNode: of which it is all ports
  fabric::LinkFaults faults;
  std::optional<fabric::FlapPlan> flap;  // of kLink
  FaultDirection direction = FaultDirection::kBoth;
  std::optional<uint64_t> seed;
};

// {"link", "node-1/1", "loss", "5%", "delay", "10us", "2us", "dir", "tx"}, or
// {"node", "node-1", "slow", "50ms"}
//
// Errors: InvalidArgument.
absl::StatusOr<FaultRequest> ParseFault(const std::vector<std::string>& words);

// "loss 5% delay 10us 2us attr SA": what goes wrong with which packets, as
// ParseFault() understands it.
std::string FaultText(const FaultRequest& request);

// Whether something goes wrong with single packets: else the link only flaps.
bool HasPacketFaults(const FaultRequest& request);

// "both", "tx", "rx"
std::string_view DirectionName(FaultDirection direction);

}  // namespace ibemu::daemon

#endif  // IBEMU_DAEMON_WORDS_FAULT_WORDS_H_

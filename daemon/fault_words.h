// Faults as people write them, in the words of tc-netem(8).
#ifndef IBEMU_DAEMON_FAULT_WORDS_H_
#define IBEMU_DAEMON_FAULT_WORDS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "daemon/port_text.h"
#include "fabric/fault_stage.h"

namespace ibemu::daemon {

enum class FaultDirection {
  kBoth,
  kTransmit,  // what leaves through the port
  kReceive,   // what enters
};

struct FaultRequest {
  PortText port;
  fabric::LinkFaults faults;
  FaultDirection direction = FaultDirection::kBoth;
  std::optional<uint64_t> seed;
};

// {"link", "node-1/1", "loss", "5%", "delay", "10us", "2us", "dir", "tx"}
//
// Errors: InvalidArgument; Unimplemented for words that are yet to come.
absl::StatusOr<FaultRequest> ParseFault(const std::vector<std::string>& words);

// "loss 5% delay 10us 2us", as ParseFault() understands it.
std::string FaultText(const fabric::LinkFaults& faults);

// "both", "tx", "rx"
std::string_view DirectionName(FaultDirection direction);

}  // namespace ibemu::daemon

#endif  // IBEMU_DAEMON_FAULT_WORDS_H_

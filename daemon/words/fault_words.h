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
#include "fabric/soft_hca/faults/event_faults.h"
#include "fabric/soft_hca/faults/resource_faults.h"
#include "fabric/soft_hca/faults/work_request_faults.h"
#include "verbs/qp_attributes.h"

namespace ibemu::daemon {

// The direction of the packets that a fault concerns, as seen from the port or
// the queue pair that it is of.
enum class FaultDirection {
  kBoth,
  kTransmit,  // packets that leave through the port
  kReceive,   // packets that enter
};

// The act of a fault that is done once, when the fault is added, and is over.
enum class FaultAct {
  kNone,
  kError,           // the queue pair enters the error state
  kSendQueueError,  // the state SQE
  kEvent,           // programs hear of an event
};

// A FaultRequest is a fault that somebody asks for, as values: what it is of,
// and what it does.  Whether that exists, only the fabric knows.
struct FaultRequest {
  enum class Place { kLink, kNode, kQueuePair, kHost, kProcess };

  Place place = Place::kLink;
  PortText port;  // only its node counts, unless at kLink; none of kProcess
  fabric::LinkFaults faults;
  std::optional<fabric::FlapPlan> flap;  // only for kLink
  FaultDirection direction = FaultDirection::kBoth;
  std::optional<uint64_t> seed;

  // Only for kProcess, which may have what kQueuePair and kHost have, but for a
  // number and an event: who, on all nodes.
  uint64_t process = 0;
  // Only for kQueuePair, which may also have packet faults: its number; none:
  // all of the node; and what happens to work requests.
  std::optional<uint32_t> qpn = std::nullopt;
  std::optional<fabric::WorkRequestFault> requests = std::nullopt;
  // Only for kHost: a call that fails, events that come late or never, or an
  // event and its port.
  std::optional<fabric::ResourceFault> resource = std::nullopt;
  std::optional<fabric::EventFault> events = std::nullopt;
  verbs::AsyncEventType event{};
  int event_port = 0;  // 0: of the whole device
  FaultAct act = FaultAct::kNone;
};

// Parses words such as {"link", "node-1/1", "loss", "5%", "delay", "10us",
// "2us", "dir", "tx"}, {"node", "node-1", "slow", "50ms"}, or those of a queue
// pair, a host or a process.
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

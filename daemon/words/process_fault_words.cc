#include "daemon/words/process_fault_words.h"

#include "base/status_macros.h"
#include "daemon/words/host_fault_words.h"
#include "daemon/words/queue_pair_fault_words.h"

namespace ibemu::daemon {
namespace {

constexpr uint32_t kMaxProcesses = 1u << 22;  // PID_MAX_LIMIT of Linux

}  // namespace

absl::StatusOr<FaultRequest> ParseProcessFault(WordReader& words) {
  if (words.empty()) return Wrong("\"process\" needs one: write process PID");
  IBEMU_ASSIGN_OR_RETURN(const uint32_t process,
                         words.ReadNumber("process", 1, kMaxProcesses));
  if (words.next() == "event") {
    return Wrong("an event is one of a host: write host NODE event NAME");
  }
  FaultRequest request;
  IBEMU_ASSIGN_OR_RETURN(request, IsHostEffect(words.next())
                                      ? ParseHostEffects(words)
                                      : ParseQueuePairEffects(words));
  request.place = FaultRequest::Place::kProcess;
  request.process = process;
  return request;
}

std::string ProcessFaultText(const FaultRequest& request) {
  return request.resource || request.events ? HostFaultText(request)
                                            : QueuePairFaultText(request);
}

}  // namespace ibemu::daemon

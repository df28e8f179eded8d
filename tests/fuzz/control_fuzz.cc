// Lines of the control socket, whatever they hold: an answer or silence, and
// the answer is one line of JSON.  Also their words as a fault's.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/absl_text.h"
#include "control/method_table.h"
#include "control/rpc.h"
#include "daemon/adapters/fabric_adapters.h"
#include "daemon/connections/connection_history.h"
#include "daemon/events/fabric_event_log.h"
#include "daemon/resources/resource_methods.h"
#include "daemon/subnet/fault_methods.h"
#include "daemon/subnet/queue_pair_methods.h"
#include "daemon/words/fault_words.h"
#include "nlohmann/json.hpp"
#include "testing/topologies.h"
#include "testing/virtual_timers.h"
#include "tests/daemon/nobody.h"

namespace {

using ibemu::control::Caller;
using ibemu::control::MethodTable;
using ibemu::control::Parameters;
using ibemu::daemon::NobodyInParticular;

MethodTable MakeDispatcher() {
  MethodTable dispatcher;
  dispatcher.Add(
      "echo",
      [](Parameters& parameters, Caller&) -> absl::StatusOr<nlohmann::json> {
        nlohmann::json result = {
            {"text", parameters.Text("text", "")},
            {"texts", parameters.Texts("texts")},
            {"number", parameters.Number("number", 0, -5, 5)},
            {"flag", parameters.Flag("flag", false)}};
        const absl::Status status = parameters.Finish();
        if (!status.ok()) return status;
        return result;
      });
  return dispatcher;
}

void HandleLine(const MethodTable& dispatcher, Caller& caller,
                std::string_view line) {
  const std::string answer = dispatcher.Handle(line, caller);
  if (answer.find('\n') != std::string::npos) std::abort();
  if (!answer.empty() && !nlohmann::json::accept(answer)) std::abort();
  ibemu::control::ReadResponse(line).status().IgnoreError();
}

// Returns a place of the fault's kind.
const char* Place(const ibemu::daemon::FaultRequest& fault) {
  switch (fault.place) {
    case ibemu::daemon::FaultRequest::Place::kLink:
      return "link sw1/1 ";
    case ibemu::daemon::FaultRequest::Place::kNode:
      return "node sw1 ";
    case ibemu::daemon::FaultRequest::Place::kQueuePair:
      return "qp host-1/2 ";
    case ibemu::daemon::FaultRequest::Place::kHost:
      return "host host-1 ";
    case ibemu::daemon::FaultRequest::Place::kProcess:
      return "process 7 ";
  }
  return "";
}

// What is accepted can be written down and is then the same, as far as the
// text goes.
void ParseWords(std::string_view line) {
  using ibemu::daemon::FaultText, ibemu::daemon::ParseFault;
  const auto fault = ParseFault(absl::StrSplit(ibemu::Absl(line), ' '));
  if (!fault.ok()) return;
  const std::string text = FaultText(*fault);
  const auto again =
      ParseFault(absl::StrSplit(absl::StrCat(Place(*fault), text), ' '));
  if (!again.ok() || FaultText(*again) != text) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  ibemu::testing::VirtualTimers timers;
  ibemu::fabric::Fabric fabric(ibemu::testing::Chain(1), timers, {.seed = 1});
  ibemu::daemon::FabricEventLog events(timers, fabric, absl::ZeroDuration());
  // The machine's own processes come and go.
  ibemu::daemon::FaultMethods faults(
      timers, fabric, events, [](uint64_t process) { return process < 5000; });
  MethodTable dispatcher = MakeDispatcher();
  faults.AddTo(dispatcher);
  ibemu::daemon::QueuePairMethods queue_pairs(fabric);
  queue_pairs.AddTo(dispatcher);
  ibemu::daemon::FabricAdapters adapters(fabric);
  const ibemu::cuse::UverbsFiles files;
  ibemu::daemon::ResourceMethods resources(adapters, files);
  resources.AddTo(dispatcher);
  ibemu::daemon::ConnectionHistory failures(adapters);
  failures.AddTo(dispatcher);
  NobodyInParticular caller;

  // Several lines see what those before them did.
  std::string_view rest(reinterpret_cast<const char*>(data), size);
  while (!rest.empty()) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(rest.size(), line.size() + 1));
    HandleLine(dispatcher, caller, line);
    ParseWords(line);
  }
  return 0;
}

// Any text is either refused with its mistakes, or a scenario that the fabric
// refuses or plays.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>

#include "daemon/events/fabric_event_log.h"
#include "daemon/scenario/scenario_player.h"
#include "daemon/scenario/scenario_words.h"
#include "daemon/subnet/fabric_methods.h"
#include "daemon/subnet/fault_methods.h"
#include "nlohmann/json.hpp"
#include "testing/topologies.h"
#include "testing/virtual_timers.h"
#include "tests/daemon/nobody.h"

namespace {

using namespace ibemu::daemon;

// A scenario of a year may have a command each millisecond.
constexpr int kMaxCommands = 1000;

class Stage : public ScenarioPlayer::Stage {
 public:
  explicit Stage(const ibemu::control::MethodTable& dispatcher)
      : dispatcher_(dispatcher) {}

  absl::Status Do(const ScenarioStep& step, absl::Duration time) override {
    if (time < step.at) std::abort();
    if (++done_ > kMaxCommands) return absl::AbortedError("enough");
    const auto call = ParseCommand(step.command);
    if (!call.ok()) std::abort();  // the plan was sound
    if (call->method == "device.set") return absl::OkStatus();
    NobodyInParticular caller;
    dispatcher_.Call(call->method, call->parameters, caller)
        .status()
        .IgnoreError();
    return absl::OkStatus();
  }
  void OnEnd(const ScenarioStep*, const absl::Status&) override {
    if (std::exchange(ended_, true)) std::abort();
  }

 private:
  const ibemu::control::MethodTable& dispatcher_;
  int done_ = 0;
  bool ended_ = false;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  ibemu::topology::FaultList mistakes;
  const ScenarioPlan plan = ParseScenario(
      {reinterpret_cast<const char*>(data), size}, "fuzz.yaml", mistakes);
  if (!mistakes.empty()) {
    if (mistakes.ToStatus().message().empty()) std::abort();
    return 0;
  }
  if (plan.steps.empty()) std::abort();

  ibemu::testing::VirtualTimers timers;
  ibemu::fabric::Fabric fabric(ibemu::testing::Chain(1), timers, {.seed = 1});
  FabricEventLog events(timers, fabric, absl::ZeroDuration());
  FabricMethods changes(timers, fabric);
  FaultMethods faults(timers, fabric, events);
  ibemu::control::MethodTable dispatcher;
  changes.AddTo(dispatcher);
  faults.AddTo(dispatcher);
  Stage stage(dispatcher);
  ScenarioPlayer player(timers, plan, stage);
  player.Start();
  timers.RunFor(absl::Seconds(5));
  return 0;
}

#include "daemon/scenario/scenario_methods.h"

#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/did_you_mean.h"
#include "base/status_macros.h"
#include "daemon/events/event_stream.h"
#include "daemon/scenario/scenario_player.h"
#include "nlohmann/json.hpp"

namespace ibemu::daemon {
namespace {

using nlohmann::json;

// Steps have nobody to answer to.
class StepCaller : public control::Caller {
 public:
  UniqueFd TakeDescriptor() override { return UniqueFd(); }
  int pid() const override { return 0; }
  void Keep(std::shared_ptr<void> /*thing*/) override {}
};

absl::StatusOr<ScenarioStep> ReadStep(const json& object) {
  const int64_t latest = absl::ToInt64Nanoseconds(kLatestScenarioTime);
  control::Parameters parameters(object);
  ScenarioStep step;
  step.line = static_cast<int>(
      parameters.Number("line", 0, 0, std::numeric_limits<int>::max()));
  step.at = absl::Nanoseconds(parameters.Number("at_ns", 0, 0, latest));
  step.every = absl::Nanoseconds(parameters.Number("every_ns", 0, 0, latest));
  step.times = parameters.Number("times", 1, 0, ScenarioStep::kForever);
  if (step.times == 0) step.times = ScenarioStep::kForever;
  step.command = parameters.Text("do", "");
  IBEMU_RETURN_IF_ERROR(parameters.Finish());
  if (step.times != 1 && step.every < kShortestScenarioPeriod) {
    return absl::InvalidArgumentError(absl::StrCat(
        "parameter \"every_ns\" of what happens more than once must be at "
        "least ",
        absl::ToInt64Nanoseconds(kShortestScenarioPeriod)));
  }
  return step;
}

}  // namespace

json DescribePlan(const ScenarioPlan& plan) {
  json steps = json::array();
  for (const ScenarioStep& step : plan.steps) {
    const bool forever = step.times == ScenarioStep::kForever;
    steps.push_back({{"line", step.line},
                     {"at_ns", absl::ToInt64Nanoseconds(step.at)},
                     {"every_ns", absl::ToInt64Nanoseconds(step.every)},
                     {"times", forever ? 0 : step.times},
                     {"do", step.command}});
  }
  json description = {{"file", plan.file}, {"steps", std::move(steps)}};
  if (plan.seed) description["seed"] = *plan.seed;
  return description;
}

// One scenario that is played, and tells of it.
class ScenarioMethods::Performance final : public ScenarioPlayer::Stage {
 public:
  Performance(const ScenarioMethods& owner, ScenarioPlan plan, UniqueFd socket)
      : events_(owner.events_),
        dispatcher_(owner.dispatcher_),
        stream_(owner.loop_, owner.events_, std::move(socket), {"scenario"}),
        player_(owner.loop_, std::move(plan), *this) {}

  ~Performance() {
    if (!ended_) Tell({{"state", "stopped"}});
  }

  absl::Status Start() {
    IBEMU_RETURN_IF_ERROR(stream_.Start());
    Tell({{"state", "started"}});
    player_.Start();
    return absl::OkStatus();
  }

  bool ended() const { return ended_; }

  absl::Status Do(const ScenarioStep& step, absl::Duration time) override {
    Tell({{"state", "step"},
          {"line", step.line},
          {"at_ns", absl::ToInt64Nanoseconds(time)},
          {"do", step.command}});
    IBEMU_ASSIGN_OR_RETURN(ScenarioCall call, ParseCommand(step.command));
    const std::optional<int64_t> seed = player_.plan().seed;
    if (seed && call.method == "fault.add") call.parameters["seed"] = *seed;
    StepCaller caller;
    return dispatcher_.Call(call.method, call.parameters, caller).status();
  }

  void OnEnd(const ScenarioStep* failed, const absl::Status& status) override {
    ended_ = true;
    if (failed == nullptr) {
      Tell({{"state", "ended"}});
    } else {
      Tell({{"state", "failed"},
            {"line", failed->line},
            {"error", std::string(status.message())}});
    }
    stream_.Finish();
  }

 private:
  void Tell(json event) {
    event["file"] = player_.plan().file;
    events_.Tell("scenario", event);
  }

  EventLog& events_;
  const control::MethodTable& dispatcher_;
  EventStream stream_;
  ScenarioPlayer player_;
  bool ended_ = false;
};

ScenarioMethods::ScenarioMethods(Loop& loop, fabric::Fabric& fabric,
                                 const FaultMethods& faults, EventLog& events,
                                 const control::MethodTable& dispatcher)
    : loop_(loop),
      fabric_(fabric),
      faults_(faults),
      events_(events),
      dispatcher_(dispatcher) {}

void ScenarioMethods::AddTo(control::MethodTable& dispatcher) {
  dispatcher.Add("scenario.check",
                 [this](control::Parameters& parameters, control::Caller&) {
                   return Check(parameters);
                 });
  dispatcher.Add("scenario.run", [this](control::Parameters& parameters,
                                        control::Caller& caller) {
    return Run(parameters, caller);
  });
}

absl::StatusOr<ScenarioPlan> ScenarioMethods::ReadPlan(
    control::Parameters& parameters) const {
  ScenarioPlan plan;
  plan.file = parameters.Text("file", "");
  const int64_t seed =
      parameters.Number("seed", -1, -1, std::numeric_limits<int64_t>::max());
  const std::vector<json> steps = parameters.Objects("steps");
  IBEMU_RETURN_IF_ERROR(parameters.Finish());
  if (seed >= 0) plan.seed = seed;
  if (steps.size() > kMaxScenarioSteps) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "a scenario has at most %d commands", kMaxScenarioSteps));
  }
  for (const json& object : steps) {
    IBEMU_ASSIGN_OR_RETURN(ScenarioStep step, ReadStep(object));
    plan.steps.push_back(std::move(step));
  }
  return plan;
}

absl::Status ScenarioMethods::CheckCall(const ScenarioCall& call) const {
  const json& parameters = call.parameters;
  if (call.method == "fault.add") {
    return faults_.Check(parameters.value("name", "fault-1"),
                         parameters.at("words"));
  }
  if (!parameters.contains("node")) return absl::OkStatus();
  IBEMU_ASSIGN_OR_RETURN(
      const topology::NodeId node,
      fabric_.Find(parameters.at("node").get<std::string>()));
  if (call.method == "counter.set") {
    return fabric_.FindPort(node, parameters.at("port")).status();
  }
  if (call.method != "link.set") return absl::OkStatus();
  return fabric_.FindCable(node, parameters.at("port")).status();
}

// Checks that the fault exists, or may exist when its time comes.
absl::Status ScenarioMethods::CheckFaultName(const std::string& name,
                                             const ScenarioPlan& plan) const {
  if (faults_.Has(name)) return absl::OkStatus();
  std::vector<std::string> added;
  for (const ScenarioStep& step : plan.steps) {
    const absl::StatusOr<ScenarioCall> call = ParseCommand(step.command);
    if (!call.ok() || call->method != "fault.add") continue;
    const bool named = call->parameters.contains("name");
    if (!named && name.starts_with("fault-")) return absl::OkStatus();
    if (named) added.push_back(call->parameters["name"]);
  }
  DidYouMean guess(name);
  for (const std::string& known : added) {
    if (known == name) return absl::OkStatus();
    guess.Offer(known);
  }
  return absl::NotFoundError(
      absl::StrFormat("no fault \"%s\"%s", name, guess.Question()));
}

std::vector<ScenarioMethods::Mistake> ScenarioMethods::FindMistakes(
    const ScenarioPlan& plan) const {
  std::vector<Mistake> mistakes;
  for (const ScenarioStep& step : plan.steps) {
    const absl::StatusOr<ScenarioCall> call = ParseCommand(step.command);
    absl::Status status = call.status();
    if (status.ok()) status = CheckCall(*call);
    if (status.ok() && call->method == "fault.remove") {
      status = CheckFaultName(call->parameters["name"], plan);
    }
    if (!status.ok()) {
      mistakes.push_back({step.line, std::string(status.message())});
    }
  }
  return mistakes;
}

absl::StatusOr<json> ScenarioMethods::Check(
    control::Parameters& parameters) const {
  IBEMU_ASSIGN_OR_RETURN(const ScenarioPlan plan, ReadPlan(parameters));
  json faults = json::array();
  for (const Mistake& mistake : FindMistakes(plan)) {
    faults.push_back({{"line", mistake.line}, {"what", mistake.what}});
  }
  return json{{"faults", std::move(faults)}};
}

absl::StatusOr<json> ScenarioMethods::Run(control::Parameters& parameters,
                                          control::Caller& caller) {
  IBEMU_ASSIGN_OR_RETURN(ScenarioPlan plan, ReadPlan(parameters));
  UniqueFd socket = caller.TakeDescriptor();
  IBEMU_RETURN_IF_ERROR(
      control::CheckStreamSocket(socket.get(), "scenario.run"));
  if (plan.steps.empty()) {
    return absl::InvalidArgumentError("a scenario has a step at least");
  }
  const std::vector<Mistake> mistakes = FindMistakes(plan);
  if (!mistakes.empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat(plan.file, ":", mistakes[0].line, ": ", mistakes[0].what));
  }
  const std::shared_ptr<Performance> running = running_.lock();
  if (running != nullptr && !running->ended()) {
    return absl::FailedPreconditionError(
        "the fabric plays a scenario already: end that one first");
  }
  const auto performance =
      std::make_shared<Performance>(*this, std::move(plan), std::move(socket));
  IBEMU_RETURN_IF_ERROR(performance->Start());
  running_ = performance;
  caller.Keep(performance);
  return json::object();
}

}  // namespace ibemu::daemon

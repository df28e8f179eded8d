#include "daemon/scenario/scenario_plan.h"

#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/node/impl.h>
#include <yaml-cpp/node/iterator.h>
#include <yaml-cpp/node/node.h>
#include <yaml-cpp/node/parse.h>

#include <algorithm>
#include <initializer_list>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_format.h"
#include "base/did_you_mean.h"
#include "daemon/scenario/scenario_words.h"

namespace ibemu::daemon {
namespace {

class ScenarioParser {
 public:
  ScenarioParser(std::string_view file, topology::FaultList& faults)
      : faults_(faults), file_(faults.AddFile(file)) {
    plan_.file = file;
  }

  ScenarioPlan Parse(std::string_view text) {
    try {
      ReadFile(YAML::Load(std::string(text)));
    } catch (const YAML::Exception& wrong) {
      Fault(std::max(wrong.mark.line, 0) + 1, wrong.msg);
    }
    return std::move(plan_);
  }

 private:
  static int LineOf(const YAML::Node& node) {
    return std::max(node.Mark().line, 0) + 1;
  }

  void Fault(int line, std::string what) {
    faults_.Add({.file = file_, .line = line}, std::move(what));
  }

  // Calls take(key, value) for each key of `map`, which has `known` ones, none
  // twice.
  template <class Take>
  void ReadMap(const YAML::Node& map,
               std::initializer_list<std::string_view> known, Take&& take) {
    std::vector<std::string> seen;
    for (const auto& entry : map) {
      const int line = LineOf(entry.first);
      if (!entry.first.IsScalar()) {
        Fault(line, "a key must be a word");
        continue;
      }
      const std::string& key = entry.first.Scalar();
      if (std::ranges::find(known, key) == known.end()) {
        Fault(line, absl::StrFormat("there is no \"%s\" here%s", key,
                                    DidYouMean(key, known).Question()));
      } else if (std::ranges::find(seen, key) != seen.end()) {
        Fault(line, absl::StrFormat("\"%s\" is there twice", key));
      } else {
        seen.push_back(key);
        take(key, entry.second);
      }
    }
  }

  void ReadFile(const YAML::Node& file) {
    if (file.IsSequence()) return ReadSteps(file);
    if (!file.IsMap()) {
      return Fault(LineOf(file),
                   "a scenario is a list of steps, as in \"- {at: 2s, do: link "
                   "node-1/1 down}\"");
    }
    bool has_steps = false;
    ReadMap(file, {"seed", "steps"},
            [&](const std::string& key, const YAML::Node& value) {
              if (key == "seed") return ReadSeed(value);
              has_steps = true;
              ReadSteps(value);
            });
    if (!has_steps) Fault(LineOf(file), "there are no \"steps\"");
  }

  void ReadSeed(const YAML::Node& node) {
    int64_t seed = 0;
    if (!node.IsScalar() || !absl::SimpleAtoi(node.Scalar(), &seed) ||
        seed < 0) {
      return Fault(LineOf(node), "seed: write a whole number below 2^63");
    }
    plan_.seed = seed;
  }

  void ReadSteps(const YAML::Node& steps) {
    if (!steps.IsSequence()) {
      return Fault(LineOf(steps), "steps: write a list, each with at and do");
    }
    if (steps.size() == 0) Fault(LineOf(steps), "there are no steps");
    for (const YAML::Node& step : steps) {
      if (step.IsMap()) {
        ReadStep(step);
      } else {
        Fault(LineOf(step), "a step has at and do, as in \"at: 2s\"");
      }
    }
  }

  // A step as it is written; the line of a key is 0 if the key is missing.
  struct Raw {
    std::optional<absl::Duration> at, every, until;
    std::optional<int64_t> repeat;
    bool has_at = false, has_do = false;
    std::vector<std::pair<int, std::string>> commands;  // and their lines
  };

  void ReadStep(const YAML::Node& node) {
    Raw raw;
    ReadMap(node, {"at", "do", "every", "until", "repeat"},
            [&](const std::string& key, const YAML::Node& value) {
              if (key == "do") {
                raw.has_do = true;
                ReadCommands(value, raw);
              } else if (key == "repeat") {
                raw.repeat = ReadCount(value);
              } else if (key == "at") {
                raw.has_at = true;
                raw.at = ReadTime(key, value, absl::ZeroDuration());
              } else if (key == "every") {
                raw.every = ReadTime(key, value, kShortestScenarioPeriod);
              } else {
                raw.until = ReadTime(key, value, absl::ZeroDuration());
              }
            });
    const int line = LineOf(node);
    if (!raw.has_at) Fault(line, "the step does not say when: add at");
    if (!raw.has_do) Fault(line, "the step does not say what: add do");
    AddSteps(line, raw);
  }

  void AddSteps(int line, const Raw& raw) {
    ScenarioStep step;
    if (raw.until && raw.repeat) {
      Fault(line, "until and repeat both say how often: leave one out");
    }
    if ((raw.until || raw.repeat) && !raw.every) {
      Fault(line, "until and repeat need every");
    }
    if (!raw.at) return;
    step.at = *raw.at;
    if (raw.every) {
      step.every = *raw.every;
      step.times = raw.repeat.value_or(ScenarioStep::kForever);
    }
    if (raw.every && raw.until) {
      if (*raw.until < *raw.at) return Fault(line, "until is before at");
      step.times = (*raw.until - *raw.at) / *raw.every + 1;
    }
    for (const auto& [command_line, command] : raw.commands) {
      if (plan_.steps.size() == kMaxScenarioSteps) {
        return Fault(command_line,
                     absl::StrFormat("a scenario has at most %d commands",
                                     kMaxScenarioSteps));
      }
      step.line = command_line;
      step.command = command;
      plan_.steps.push_back(step);
    }
  }

  void ReadCommands(const YAML::Node& node, Raw& raw) {
    if (!node.IsSequence()) return ReadCommand(node, raw);
    for (const YAML::Node& one : node) ReadCommand(one, raw);
  }

  void ReadCommand(const YAML::Node& node, Raw& raw) {
    const int line = LineOf(node);
    if (!node.IsScalar()) {
      return Fault(line, "do: write a command, as in link node-1/1 down");
    }
    const absl::Status status = ParseCommand(node.Scalar()).status();
    if (!status.ok()) return Fault(line, std::string(status.message()));
    raw.commands.emplace_back(line, node.Scalar());
  }

  std::optional<absl::Duration> ReadTime(const std::string& key,
                                         const YAML::Node& node,
                                         absl::Duration least) {
    const std::string text = node.IsScalar() ? node.Scalar() : "";
    absl::Duration time;
    if (!absl::ParseDuration(text, &time)) {
      Fault(LineOf(node),
            absl::StrFormat("%s \"%s\": write a time, as in 2s or 500ms", key,
                            text));
      return std::nullopt;
    }
    if (time < least || time > kLatestScenarioTime) {
      Fault(LineOf(node),
            absl::StrFormat("%s %s: a time is from %s to %s", key, text,
                            absl::FormatDuration(least),
                            absl::FormatDuration(kLatestScenarioTime)));
      return std::nullopt;
    }
    return time;
  }

  std::optional<int64_t> ReadCount(const YAML::Node& node) {
    int64_t count = 0;
    if (node.IsScalar() && absl::SimpleAtoi(node.Scalar(), &count) &&
        count >= 1) {
      return count;
    }
    Fault(LineOf(node), "repeat: write a number from 1 on");
    return std::nullopt;
  }

  topology::FaultList& faults_;
  const int file_;
  ScenarioPlan plan_;
};

}  // namespace

ScenarioPlan ParseScenario(std::string_view text, std::string_view file,
                           topology::FaultList& faults) {
  return ScenarioParser(file, faults).Parse(text);
}

}  // namespace ibemu::daemon

#include "daemon/scenario/scenario_words.h"

#include <optional>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_format.h"
#include "base/did_you_mean.h"
#include "base/status_macros.h"
#include "daemon/subnet/counter_methods.h"
#include "daemon/words/change_words.h"
#include "daemon/words/fault_words.h"

namespace ibemu::daemon {
namespace {

using nlohmann::json;
using Words = std::vector<std::string>;

absl::Status Refused(std::string_view what) {
  return absl::InvalidArgumentError(std::string(what));
}

// Takes the option "--name=..." out of `words`.
std::optional<std::string> TakeOption(std::string_view name, Words& words) {
  const std::string prefix = absl::StrFormat("--%s=", name);
  for (auto word = words.begin(); word != words.end(); ++word) {
    if (!word->starts_with(prefix)) continue;
    std::string value = word->substr(prefix.size());
    words.erase(word);
    return value;
  }
  return std::nullopt;
}

absl::StatusOr<ScenarioCall> Link(Words words) {
  const std::optional<std::string> duration = TakeOption("for", words);
  if (words.size() != 2) {
    return Refused("write link NODE/PORT up|down [--for=TIME]");
  }
  IBEMU_ASSIGN_OR_RETURN(json parameters,
                         LinkChange(words[0], words[1], duration.value_or("")));
  return ScenarioCall{"link.set", std::move(parameters)};
}

absl::StatusOr<ScenarioCall> Node(const Words& words) {
  if (words.size() != 2) return Refused("write node NODE up|down");
  IBEMU_ASSIGN_OR_RETURN(json parameters, NodeChange(words[0], words[1]));
  return ScenarioCall{"node.set", std::move(parameters)};
}

absl::StatusOr<ScenarioCall> Device(const Words& words) {
  if (words.size() != 2) return Refused("write device NODE add|remove");
  IBEMU_ASSIGN_OR_RETURN(json parameters, PresenceChange(words[0], words[1]));
  return ScenarioCall{"device.set", std::move(parameters)};
}

absl::StatusOr<ScenarioCall> Counter(Words words) {
  if (words.size() < 2) {
    return Refused("write counter NODE/PORT NAME=VALUE...|clear");
  }
  const std::string port = words.front();
  words.erase(words.begin());
  IBEMU_ASSIGN_OR_RETURN(json parameters, CounterChange(port, words));
  for (const json& setting : parameters["set"]) {
    IBEMU_RETURN_IF_ERROR(CheckCounterSetting(setting.get<std::string>()));
  }
  return ScenarioCall{"counter.set", std::move(parameters)};
}

absl::StatusOr<ScenarioCall> Fault(Words words) {
  const std::string part = words.empty() ? "" : words.front();
  if (!words.empty()) words.erase(words.begin());
  if (part == "add") {
    const std::optional<std::string> name = TakeOption("name", words);
    IBEMU_RETURN_IF_ERROR(ParseFault(words).status());
    json parameters = {{"words", words}};
    if (name) parameters["name"] = *name;
    return ScenarioCall{"fault.add", std::move(parameters)};
  }
  if (part == "rm" && words.size() == 1) {
    return ScenarioCall{"fault.remove", {{"name", words[0]}}};
  }
  if (part == "reset" && words.empty()) {
    return ScenarioCall{"fault.reset", json::object()};
  }
  return Refused(
      absl::StrFormat("write fault add [--name=NAME] "
                      "link|node|qp|host|process ..., fault rm NAME or fault "
                      "reset%s",
                      DidYouMean(part, {"add", "rm", "reset"}).Question()));
}

}  // namespace

absl::StatusOr<Words> SplitWords(std::string_view text) {
  Words words;
  std::string word;
  bool begun = false;
  char quote = 0;
  for (const char c : text) {
    if (quote != 0) {
      if (c == quote) {
        quote = 0;
      } else {
        word += c;
      }
    } else if (c == '"' || c == '\'') {
      quote = c;
      begun = true;
    } else if (!absl::ascii_isspace(static_cast<unsigned char>(c))) {
      word += c;
      begun = true;
    } else if (begun) {
      words.push_back(std::move(word));
      word.clear();
      begun = false;
    }
  }
  if (quote != 0) {
    return Refused(absl::StrFormat("a quote (%c) has no end", quote));
  }
  if (begun) words.push_back(std::move(word));
  return words;
}

absl::StatusOr<ScenarioCall> ParseCommand(std::string_view command) {
  IBEMU_ASSIGN_OR_RETURN(Words words, SplitWords(command));
  if (words.empty()) return Refused("the command is empty");
  const std::string name = words.front();
  words.erase(words.begin());
  if (name == "link") return Link(std::move(words));
  if (name == "node") return Node(words);
  if (name == "device") return Device(words);
  if (name == "counter") return Counter(std::move(words));
  if (name == "fault") return Fault(std::move(words));
  return Refused(absl::StrFormat(
      "\"%s\" is no command of a scenario, which has link, node, device, "
      "counter and fault%s",
      name,
      DidYouMean(name, {"link", "node", "device", "counter", "fault"})
          .Question()));
}

}  // namespace ibemu::daemon

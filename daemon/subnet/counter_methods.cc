#include "daemon/subnet/counter_methods.h"

#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/absl_text.h"
#include "base/did_you_mean.h"
#include "base/status_macros.h"
#include "fabric/agents/pma_counters.h"
#include "fabric/subnet/subnet.h"
#include "nlohmann/json.hpp"

namespace ibemu::daemon {
namespace {

using fabric::NamedCounter;
using nlohmann::json;

absl::StatusOr<fabric::NodePort*> FindPort(fabric::Fabric& fabric,
                                           control::Parameters& parameters) {
  const std::string node = parameters.Text("node", "");
  const auto number =
      static_cast<int>(parameters.Number("port", 0, 0, topology::kMaxPorts));
  IBEMU_RETURN_IF_ERROR(parameters.Finish());
  IBEMU_ASSIGN_OR_RETURN(const topology::NodeId id, fabric.Find(node));
  IBEMU_ASSIGN_OR_RETURN(const fabric::PortId port,
                         fabric.FindPort(id, number));
  return &fabric.subnet().port(port);
}

// Returns which counter was meant: one of a similar name, or those that begin
// so, or all.
std::string CounterQuestion(const std::string& wrong) {
  DidYouMean guess(wrong);
  std::vector<std::string_view> begin, all;
  for (const NamedCounter& each : fabric::NamedCounters()) {
    guess.Offer(each.name);
    all.push_back(each.name);
    if (!wrong.empty() && absl::StartsWithIgnoreCase(Absl(each.name), wrong)) {
      begin.push_back(each.name);
    }
  }
  if (std::string question = guess.Question(); !question.empty()) {
    return question;
  }
  const auto append = [](std::string* text, std::string_view name) {
    text->append(name);
  };
  return begin.empty()
             ? absl::StrCat(": there are ", absl::StrJoin(all, ", ", append))
             : absl::StrCat(": did you mean ",
                            absl::StrJoin(begin, ", ", append), "?");
}

struct Setting {
  fabric::Counter counter;
  uint64_t value;
};

// "PortXmitData=5"
absl::StatusOr<Setting> ParseSetting(const std::string& text) {
  const size_t equals = text.find('=');
  const std::string name = text.substr(0, equals);
  const NamedCounter* const named = fabric::FindCounter(name);
  if (named == nullptr) {
    return absl::NotFoundError(
        absl::StrCat("no counter \"", name, "\"", CounterQuestion(name)));
  }
  Setting setting{.counter = named->counter, .value = 0};
  const char* const end = text.data() + text.size();
  const char* const begin =
      equals == std::string::npos ? end : text.data() + equals + 1;
  const auto read = std::from_chars(begin, end, setting.value);
  if (read.ec != std::errc() || read.ptr != end) {
    return absl::InvalidArgumentError(absl::StrCat(
        text, ": write NAME=VALUE, a value from 0 to 18446744073709551615"));
  }
  return setting;
}

}  // namespace

absl::Status CheckCounterSetting(const std::string& text) {
  return ParseSetting(text).status();
}

void CounterMethods::AddTo(control::MethodTable& dispatcher) {
  dispatcher.Add("counter.get",
                 [this](control::Parameters& parameters, control::Caller&) {
                   return Get(parameters);
                 });
  dispatcher.Add("counter.set",
                 [this](control::Parameters& parameters, control::Caller&) {
                   return Set(parameters);
                 });
}

absl::StatusOr<json> CounterMethods::Get(
    control::Parameters& parameters) const {
  IBEMU_ASSIGN_OR_RETURN(const fabric::NodePort* const port,
                         FindPort(fabric_, parameters));
  json counters = json::array();
  for (const NamedCounter& named : fabric::NamedCounters()) {
    counters.push_back({{"name", named.name},
                        {"value", fabric::ReadCounter(*port, named.counter)}});
  }
  return json{{"counters", std::move(counters)}};
}

// Makes all of the changes, or none.
absl::StatusOr<json> CounterMethods::Set(control::Parameters& parameters) {
  const bool clear = parameters.Flag("clear", false);
  const std::vector<std::string> texts = parameters.Texts("set");
  IBEMU_ASSIGN_OR_RETURN(fabric::NodePort* const port,
                         FindPort(fabric_, parameters));
  std::vector<Setting> settings;
  for (const std::string& text : texts) {
    IBEMU_ASSIGN_OR_RETURN(settings.emplace_back(), ParseSetting(text));
  }
  if (clear) fabric::ClearCounters(*port);
  for (const Setting& setting : settings) {
    fabric::WriteCounter(*port, setting.counter, setting.value);
  }
  return json::object();
}

}  // namespace ibemu::daemon

#include "control/parameters.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/did_you_mean.h"
#include "nlohmann/json.hpp"

namespace ibemu::control {

using nlohmann::json;

Parameters::Parameters(const json& object) : object_(object) {}

const json* Parameters::Find(std::string_view name) {
  known_.emplace_back(name);
  if (!object_.is_object()) return nullptr;
  const auto found = object_.find(name);
  return found == object_.end() ? nullptr : &*found;
}

void Parameters::Fail(std::string_view name, std::string_view rule) {
  if (!status_.ok()) return;
  status_ = absl::InvalidArgumentError(
      absl::StrFormat("parameter \"%s\" must be %s", name, rule));
}

std::string Parameters::Text(std::string_view name,
                             std::string_view otherwise) {
  const json* value = Find(name);
  if (value == nullptr) return std::string(otherwise);
  if (value->is_string()) return value->get<std::string>();
  Fail(name, "a string");
  return std::string(otherwise);
}

std::vector<std::string> Parameters::Texts(std::string_view name) {
  const json* value = Find(name);
  if (value == nullptr) return {};
  const bool fits =
      value->is_array() &&
      std::all_of(value->begin(), value->end(),
                  [](const json& item) { return item.is_string(); });
  if (fits) return value->get<std::vector<std::string>>();
  Fail(name, "an array of strings");
  return {};
}

int64_t Parameters::Number(std::string_view name, int64_t otherwise,
                           int64_t least, int64_t most) {
  const json* value = Find(name);
  if (value == nullptr) return otherwise;
  // An unsigned number beyond int64_t reads as a negative one.
  if (value->is_number_integer()) {
    const auto number = value->get<int64_t>();
    if (number >= least && number <= most) return number;
  }
  Fail(name, absl::StrFormat("a whole number from %d to %d", least, most));
  return otherwise;
}

bool Parameters::Flag(std::string_view name, bool otherwise) {
  const json* value = Find(name);
  if (value == nullptr) return otherwise;
  if (value->is_boolean()) return value->get<bool>();
  Fail(name, "true or false");
  return otherwise;
}

std::vector<json> Parameters::Objects(std::string_view name) {
  const json* value = Find(name);
  if (value == nullptr) return {};
  const bool fits =
      value->is_array() &&
      std::all_of(value->begin(), value->end(),
                  [](const json& item) { return item.is_object(); });
  if (fits) return value->get<std::vector<json>>();
  Fail(name, "an array of objects");
  return {};
}

absl::Status Parameters::Finish() const {
  if (!status_.ok() || !object_.is_object()) return status_;
  for (const auto& [name, value] : object_.items()) {
    if (std::find(known_.begin(), known_.end(), name) != known_.end()) continue;
    DidYouMean guess(name);
    for (const std::string& known : known_) guess.Offer(known);
    return absl::InvalidArgumentError(
        absl::StrCat("there is no parameter \"", name, "\"", guess.Question()));
  }
  return absl::OkStatus();
}

}  // namespace ibemu::control

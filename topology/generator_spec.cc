#include "topology/generator_spec.h"

#include <algorithm>

#include "absl/strings/numbers.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "base/absl_text.h"
#include "base/did_you_mean.h"
#include "topology/rate_text.h"

namespace ibemu::topology {
namespace {

// Returns the part of `text` before the first `separator`, and removes both
// from `text`.
std::string_view CutAt(char separator, std::string_view& text) {
  const std::string_view part = text.substr(0, text.find(separator));
  text.remove_prefix(std::min(text.size(), part.size() + 1));
  return part;
}

template <typename Names>
std::string Join(const Names& names) {
  return absl::StrJoin(
      names, ", ",
      [](std::string* out, std::string_view name) { out->append(name); });
}

}  // namespace

GeneratorSpec::GeneratorSpec(std::string_view spec) : spec_(spec) {
  std::string_view rest = spec;
  name_ = CutAt(':', rest);
  while (!rest.empty()) {
    std::string_view value = CutAt(',', rest);
    const bool has_key = value.find('=') != std::string_view::npos;
    const std::string_view key = has_key ? CutAt('=', value) : "";
    parameters_.push_back({key, value});
  }
}

GeneratorSpec::Parameter* GeneratorSpec::Take(std::string_view key) {
  if (!key.empty()) known_.push_back(key);
  Parameter* found = nullptr;
  for (Parameter& parameter : parameters_) {
    if (parameter.key != key || parameter.used) continue;
    if (found != nullptr && !key.empty()) {
      Fail(absl::StrFormat("%s is given twice", key));
    }
    if (found == nullptr) found = &parameter;
    if (!key.empty()) parameter.used = true;
  }
  if (found != nullptr) found->used = true;
  return found;
}

std::string_view GeneratorSpec::Bare() {
  const Parameter* parameter = Take("");
  return parameter == nullptr ? std::string_view() : parameter->value;
}

int GeneratorSpec::Number(std::string_view key, int low, int high, int fallback,
                          std::string_view remedy) {
  return OptionalNumber(key, low, high, remedy).value_or(fallback);
}

std::optional<int> GeneratorSpec::OptionalNumber(std::string_view key, int low,
                                                 int high,
                                                 std::string_view remedy) {
  const Parameter* parameter = Take(key);
  if (parameter == nullptr || !status_.ok()) return std::nullopt;
  int number = 0;
  if (!absl::SimpleAtoi(Absl(parameter->value), &number) || number < low ||
      number > high) {
    Fail(absl::StrFormat("%s=%s is not a number from %d to %d%s", key,
                         parameter->value, low, high, remedy));
    return std::nullopt;
  }
  return number;
}

LinkRate GeneratorSpec::Rate() {
  LinkRate rate = DefaultLinkRate();
  if (const Parameter* speed = Take("speed");
      speed != nullptr && !ParseLinkSpeed(speed->value, rate)) {
    Fail(absl::StrFormat("speed=%s is none of %s", speed->value,
                         Join(kLinkSpeedNames)));
  }
  if (const Parameter* width = Take("width"); width != nullptr) {
    rate.width = ParseLinkWidth(width->value);
    if (rate.width == 0) {
      Fail(absl::StrFormat("width=%s is none of 1x, 2x, 4x, 8x, 12x",
                           width->value));
    }
  }
  return rate;
}

void GeneratorSpec::Fail(std::string_view what) {
  if (!status_.ok()) return;
  status_ = absl::InvalidArgumentError(
      absl::StrFormat("topology \"%s\": %s", spec_, what));
}

absl::Status GeneratorSpec::Finish() {
  for (const Parameter& parameter : parameters_) {
    if (parameter.used || !status_.ok()) continue;
    if (parameter.key.empty()) {
      Fail(
          absl::StrFormat("\"%s\" is no parameter: they are written KEY=VALUE, "
                          "with KEY one of %s",
                          parameter.value, Join(known_)));
      continue;
    }
    DidYouMean names(parameter.key);
    for (std::string_view key : known_) names.Offer(key);
    Fail(absl::StrFormat("%s has no parameter \"%s\" but %s%s", name_,
                         parameter.key, Join(known_), names.Question()));
  }
  return status_;
}

absl::Status GeneratorSpec::FinishWith(int64_t nodes) {
  if (nodes > kMaxGeneratedNodes) {
    Fail(absl::StrFormat("%d nodes are too many: the limit is %d", nodes,
                         kMaxGeneratedNodes));
  }
  return Finish();
}

}  // namespace ibemu::topology

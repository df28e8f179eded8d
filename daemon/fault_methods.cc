#include "daemon/fault_methods.h"

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/did_you_mean.h"
#include "base/status_macros.h"
#include "fabric/subnet.h"
#include "nlohmann/json.hpp"

namespace ibemu::daemon {
namespace {

using fabric::Fabric;
using fabric::FaultCounts;
using fabric::FaultId;
using nlohmann::json;

constexpr size_t kLongestName = 64;

absl::Status CheckName(const std::string& name) {
  const bool good =
      !name.empty() && name.size() <= kLongestName &&
      std::all_of(name.begin(), name.end(), [](char c) {
        return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '-' ||
               c == '_' || c == '.';
      });
  if (good) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrFormat(
      "\"%s\" is no name of a fault: it has 1 to %d letters, digits, \"-\", "
      "\"_\" or \".\"",
      name, kLongestName));
}

json DescribeCounts(const FaultCounts& counts) {
  return {{"packets", counts.packets},     {"lost", counts.lost},
          {"corrupted", counts.corrupted}, {"duplicated", counts.duplicated},
          {"reordered", counts.reordered}, {"delayed", counts.delayed}};
}

}  // namespace

void FaultMethods::AddTo(Dispatcher& dispatcher) {
  dispatcher.Add("fault.add", [this](Parameters& parameters, Caller&) {
    return Add(parameters);
  });
  dispatcher.Add("fault.list", [this](Parameters& parameters, Caller&) {
    return List(parameters);
  });
  dispatcher.Add("fault.remove", [this](Parameters& parameters, Caller&) {
    return Remove(parameters);
  });
  dispatcher.Add("fault.reset", [this](Parameters& parameters, Caller&) {
    return Reset(parameters);
  });
}

absl::StatusOr<json> FaultMethods::Add(Parameters& parameters) {
  std::string name = parameters.Text("name", FreeName());
  const std::vector<std::string> words = parameters.Texts("words");
  IBEMU_RETURN_IF_ERROR(parameters.Finish());
  IBEMU_RETURN_IF_ERROR(CheckName(name));
  if (faults_.contains(name)) {
    return absl::AlreadyExistsError(absl::StrFormat(
        "there is a fault \"%s\" already: remove it, or take another name",
        name));
  }
  if (faults_.size() == kMostFaults) {
    return absl::ResourceExhaustedError(
        absl::StrFormat("a fabric has at most %d faults", kMostFaults));
  }
  Fault fault;
  IBEMU_ASSIGN_OR_RETURN(fault.request, ParseFault(words));
  const FaultRequest& request = fault.request;
  IBEMU_ASSIGN_OR_RETURN(fault.node, fabric_.Find(request.port.node));

  // Whoever gives a seed wants the same again, whatever the name.
  const std::string stream = request.seed ? "" : absl::StrCat(" ", name);
  const fabric::FaultChance chance{.seed = request.seed, .stream = stream};
  const auto install = [&](Fabric::Direction direction,
                           std::optional<FaultId>& id) -> absl::Status {
    IBEMU_ASSIGN_OR_RETURN(
        id, fabric_.AddFault(fault.node, request.port.port, direction,
                             request.faults, chance));
    return absl::OkStatus();
  };
  // One port has both directions or none: nothing is left half done.
  if (request.direction != FaultDirection::kReceive) {
    IBEMU_RETURN_IF_ERROR(
        install(Fabric::Direction::kTransmit, fault.transmit));
  }
  if (request.direction != FaultDirection::kTransmit) {
    IBEMU_RETURN_IF_ERROR(install(Fabric::Direction::kReceive, fault.receive));
  }
  json result = {{"name", name}};
  faults_.emplace(std::move(name), std::move(fault));
  return result;
}

absl::StatusOr<json> FaultMethods::List(Parameters& parameters) const {
  IBEMU_RETURN_IF_ERROR(parameters.Finish());
  json faults = json::array();
  for (const auto& [name, fault] : faults_) {
    faults.push_back(Describe(name, fault));
  }
  return json{{"faults", std::move(faults)}};
}

absl::StatusOr<json> FaultMethods::Remove(Parameters& parameters) {
  const std::string name = parameters.Text("name", "");
  IBEMU_RETURN_IF_ERROR(parameters.Finish());
  const auto found = faults_.find(name);
  if (found == faults_.end()) {
    DidYouMean guess(name);
    for (const auto& [known, fault] : faults_) guess.Offer(known);
    return absl::NotFoundError(
        absl::StrFormat("no fault \"%s\"%s", name, guess.Question()));
  }
  TakeOut(found->second);
  faults_.erase(found);
  return json::object();
}

absl::StatusOr<json> FaultMethods::Reset(Parameters& parameters) {
  IBEMU_RETURN_IF_ERROR(parameters.Finish());
  for (const auto& [name, fault] : faults_) TakeOut(fault);
  const size_t removed = faults_.size();
  faults_.clear();
  return json{{"removed", removed}};
}

// The lowest that is free: the same commands give the same names and so the
// same luck.
std::string FaultMethods::FreeName() const {
  for (int number = 1;; ++number) {
    std::string name = absl::StrCat("fault-", number);
    if (!faults_.contains(name)) return name;
  }
}

json FaultMethods::Describe(std::string_view name, const Fault& fault) const {
  const FaultRequest& request = fault.request;
  json description = {{"name", name},
                      {"node", fabric_.subnet().node(fault.node).description},
                      {"port", request.port.port},
                      {"dir", DirectionName(request.direction)},
                      {"what", FaultText(request.faults)},
                      {"seed", request.seed ? json(*request.seed) : json()}};
  if (fault.transmit) {
    description["tx"] = DescribeCounts(fabric_.CountsOf(*fault.transmit));
  }
  if (fault.receive) {
    description["rx"] = DescribeCounts(fabric_.CountsOf(*fault.receive));
  }
  return description;
}

void FaultMethods::TakeOut(const Fault& fault) {
  if (fault.transmit) fabric_.RemoveFault(*fault.transmit);
  if (fault.receive) fabric_.RemoveFault(*fault.receive);
}

}  // namespace ibemu::daemon

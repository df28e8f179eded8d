#include "daemon/subnet/fault_methods.h"

#include <signal.h>

#include <algorithm>
#include <cerrno>
#include <limits>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/absl_text.h"
#include "base/did_you_mean.h"
#include "base/status_macros.h"
#include "daemon/subnet/fabric_methods.h"
#include "daemon/words/fault_counts.h"
#include "daemon/words/port_text.h"
#include "daemon/words/queue_pair_fault_words.h"
#include "fabric/subnet/subnet.h"
#include "nlohmann/json.hpp"

namespace ibemu::daemon {
namespace {

using fabric::Fabric;
using fabric::FaultId;
using nlohmann::json;
using topology::NodeId;
using Place = FaultRequest::Place;

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

// "link node-1/1", "node node-1", "qp node-1/0x12", "host node-1"
std::string PlaceText(const FaultRequest& request) {
  const std::string& node = request.port.node;
  switch (request.place) {
    case Place::kLink:
      return absl::StrCat("link ", node, "/", request.port.port);
    case Place::kNode:
      return absl::StrCat("node ", node);
    case Place::kQueuePair:
      return absl::StrCat("qp ", node, "/", QpnText(request.qpn));
    case Place::kHost:
      return absl::StrCat("host ", node);
    case Place::kProcess:
      return absl::StrCat("process ", request.process);
  }
  return "";
}

bool IsOfAdapter(const FaultRequest& request) {
  return request.place == Place::kQueuePair || request.place == Place::kHost ||
         request.place == Place::kProcess;
}

// Faults of a direction are those of a link, and of packets and completions.
bool HasDirection(const FaultRequest& request) {
  if (request.resource || request.events) return false;
  if (request.place == Place::kQueuePair || request.place == Place::kProcess) {
    return !request.requests || !request.requests->not_ready;
  }
  return request.place == Place::kLink;
}

// Whose fault it is; 0: no process's.
uint64_t ProcessOf(const FaultRequest& request) {
  return request.place == Place::kProcess ? request.process : 0;
}

json ActedFault(const std::string& name, const FaultRequest& request,
                uint64_t acts, bool removed) {
  return {{"name", name},
          {"what", FaultText(request)},
          {"acts", acts},
          {"removed", removed}};
}

bool ExistsNow(uint64_t process) {
  return kill(static_cast<pid_t>(process), 0) == 0 || errno != ESRCH;
}

}  // namespace

FaultMethods::FaultMethods(Timers& timers, Fabric& fabric,
                           FabricEventLog& events, ProcessExists exists)
    : timers_(timers),
      fabric_(fabric),
      events_(events),
      exists_(exists ? std::move(exists) : ExistsNow) {
  events_.NameFaultsBy([this](uint32_t number) { return names_.Of(number); });
}

FaultMethods::~FaultMethods() { events_.NameFaultsBy(nullptr); }

void FaultMethods::AddTo(control::MethodTable& dispatcher) {
  dispatcher.Add("fault.add",
                 [this](control::Parameters& parameters, control::Caller&) {
                   return Add(parameters);
                 });
  dispatcher.Add("fault.list",
                 [this](control::Parameters& parameters, control::Caller&) {
                   return List(parameters);
                 });
  dispatcher.Add("fault.remove",
                 [this](control::Parameters& parameters, control::Caller&) {
                   return Remove(parameters);
                 });
  dispatcher.Add("fault.reset",
                 [this](control::Parameters& parameters, control::Caller&) {
                   return Reset(parameters);
                 });
}

absl::StatusOr<json> FaultMethods::Add(control::Parameters& parameters) {
  const std::string name = parameters.Text("name", FreeName());
  const std::vector<std::string> words = parameters.Texts("words");
  const int64_t seed =
      parameters.Number("seed", -1, -1, std::numeric_limits<int64_t>::max());
  IBEMU_RETURN_IF_ERROR(parameters.Finish());
  IBEMU_RETURN_IF_ERROR(CheckFree(name));
  Fault fault;
  fault.words = words;
  if (seed >= 0) fault.seed = static_cast<uint64_t>(seed);
  IBEMU_ASSIGN_OR_RETURN(fault.request, ParseFault(words));
  IBEMU_ASSIGN_OR_RETURN(fault.node, FindPlace(fault.request));
  if (fault.request.act != FaultAct::kNone) return Act(name, fault);
  IBEMU_RETURN_IF_ERROR(Begin(name, std::move(fault)));
  return json{{"name", name}};
}

absl::Status FaultMethods::CheckFree(const std::string& name) const {
  IBEMU_RETURN_IF_ERROR(CheckName(name));
  if (faults_.contains(name)) {
    return absl::AlreadyExistsError(absl::StrFormat(
        "there is a fault \"%s\" already: remove it, or take another name",
        name));
  }
  if (faults_.size() < kMaxFaults) return absl::OkStatus();
  return absl::ResourceExhaustedError(
      absl::StrFormat("a fabric has at most %d faults", kMaxFaults));
}

absl::Status FaultMethods::Begin(const std::string& name, Fault fault) {
  // A fault with a seed of its own behaves alike each time, whatever its name.
  const std::optional<uint64_t> own = fault.request.seed;
  const std::string stream = own ? "" : absl::StrCat(" ", name);
  IBEMU_RETURN_IF_ERROR(
      Install(name, fault, {.seed = own ? own : fault.seed, .stream = stream}));
  for (const uint32_t number : NumbersOf(fault)) names_.Add(number, name);
  Tell(name, fault, "added");
  fault.added = ++version_;
  faults_.emplace(name, std::move(fault));
  return absl::OkStatus();
}

std::vector<StoredFault> FaultMethods::Stored() const {
  std::map<uint64_t, StoredFault> in_order;
  for (const auto& [name, fault] : faults_) {
    const FaultRequest& request = fault.request;
    if (request.place == Place::kProcess || request.qpn) continue;
    in_order[fault.added] = {.name = name,
                             .words = fault.words,
                             .seed = fault.seed,
                             .node = fault.node};
  }
  std::vector<StoredFault> all;
  all.reserve(in_order.size());
  for (auto& [added, stored] : in_order) all.push_back(std::move(stored));
  return all;
}

absl::Status FaultMethods::Restore(const StoredFault& stored) {
  IBEMU_RETURN_IF_ERROR(CheckFree(stored.name));
  Fault fault;
  fault.words = stored.words;
  fault.seed = stored.seed;
  fault.node = stored.node;
  IBEMU_ASSIGN_OR_RETURN(fault.request, ParseFault(stored.words));
  if (fault.request.place == Place::kProcess || fault.request.qpn ||
      fault.request.act != FaultAct::kNone ||
      static_cast<size_t>(stored.node) >= fabric_.node_count()) {
    return absl::InvalidArgumentError("it does not outlive its daemon");
  }
  IBEMU_RETURN_IF_ERROR(CheckPlace(fault.node, fault.request));
  return Begin(stored.name, std::move(fault));
}

absl::Status FaultMethods::Check(const std::string& name,
                                 const std::vector<std::string>& words) const {
  IBEMU_RETURN_IF_ERROR(CheckName(name));
  IBEMU_ASSIGN_OR_RETURN(const FaultRequest request, ParseFault(words));
  return FindPlace(request).status();
}

absl::StatusOr<NodeId> FaultMethods::FindPlace(
    const FaultRequest& request) const {
  if (request.place == Place::kProcess) {
    if (exists_(request.process)) return NodeId{};
    return absl::NotFoundError(
        absl::StrFormat("there is no process %d", request.process));
  }
  IBEMU_ASSIGN_OR_RETURN(const NodeId node, fabric_.Find(request.port.node));
  IBEMU_RETURN_IF_ERROR(CheckPlace(node, request));
  return node;
}

absl::Status FaultMethods::CheckPlace(NodeId node,
                                      const FaultRequest& request) const {
  if (IsOfAdapter(request)) {
    return AdapterFault::CheckNode(fabric_, node, request);
  }
  if (request.place == Place::kLink) {
    return fabric_.FindCable(node, request.port.port).status();
  }
  return absl::OkStatus();
}

absl::StatusOr<json> FaultMethods::Act(const std::string& name,
                                       const Fault& fault) {
  IBEMU_RETURN_IF_ERROR(
      AdapterFault::CheckQueuePair(fabric_, fault.node, fault.request));
  IBEMU_RETURN_IF_ERROR(
      AdapterFault::Act(fabric_, fault.node, fault.request, name));
  Tell(name, fault, "done");
  // What else is done once is in the histories of queue pairs.
  if (fault.request.act == FaultAct::kEvent) Keep(name, fault, 1, false);
  return json{{"name", name}, {"done", true}};
}

absl::Status FaultMethods::Install(std::string_view name, Fault& fault,
                                   const fabric::FaultChance& chance) {
  const FaultRequest& request = fault.request;
  if (IsOfAdapter(request)) {
    IBEMU_RETURN_IF_ERROR(
        AdapterFault::CheckQueuePair(fabric_, fault.node, request));
    fault.adapter = std::make_unique<AdapterFault>(fabric_, fault.node, request,
                                                   name, chance);
    return absl::OkStatus();
  }
  if (request.place == Place::kNode) {
    if (const fabric::Node& node = fabric_.subnet().node(fault.node);
        node.remote) {
      return absl::FailedPreconditionError(absl::StrCat(
          "\"", node.description,
          "\" has its adapter elsewhere, and what is there sends its answers: "
          "for a joined host, add the fault to its daemon"));
    }
    fault.answers = fabric_.AddAgentFault(fault.node, request.faults, chance);
    return absl::OkStatus();
  }
  return InstallOnLink(fault, chance);
}

absl::Status FaultMethods::InstallOnLink(Fault& fault,
                                         const fabric::FaultChance& chance) {
  const FaultRequest& request = fault.request;
  if (request.flap && IsJoined(fault.node, request.port.port)) {
    return absl::FailedPreconditionError(
        "the link of a joined host comes and goes where the subnet is: add the "
        "fault to that daemon");
  }
  const auto install = [&](Fabric::Direction direction,
                           std::optional<FaultId>& id) -> absl::Status {
    IBEMU_ASSIGN_OR_RETURN(
        id, fabric_.AddFault(fault.node, request.port.port, direction,
                             request.faults, chance));
    return absl::OkStatus();
  };
  if (HasPacketFaults(request)) {
    // Installing succeeds for both directions of a port or for neither, so
    // nothing is left half done.
    if (request.direction != FaultDirection::kReceive) {
      IBEMU_RETURN_IF_ERROR(
          install(Fabric::Direction::kTransmit, fault.transmit));
    }
    if (request.direction != FaultDirection::kTransmit) {
      IBEMU_RETURN_IF_ERROR(
          install(Fabric::Direction::kReceive, fault.receive));
    }
  }
  if (request.flap) {
    fault.flap_number = fabric_.NewFaultNumber();
    fault.flap = Flap(fault, chance);
  }
  return absl::OkStatus();
}

bool FaultMethods::IsJoined(NodeId node, int port) const {
  const fabric::Subnet& subnet = fabric_.subnet();
  const fabric::PortId peer = subnet.port(subnet.port_id(node, port)).peer;
  return peer != fabric::kNoPort && subnet.NodeOf(peer).is_beyond;
}

std::unique_ptr<fabric::LinkFlap> FaultMethods::Flap(
    const Fault& fault, const fabric::FaultChance& chance) {
  const NodeId node = fault.node;
  const int port = fault.request.port.port;
  const fabric::Subnet& subnet = fabric_.subnet();
  const Random random = Random::ForStream(
      chance.seed.value_or(fabric_.seed()),
      absl::StrCat("flap ", subnet.PortName(subnet.port_id(node, port)),
                   Absl(chance.stream)));
  const auto set = [this, node, port, number = fault.flap_number](bool up) {
    const fabric::Subnet& now = fabric_.subnet();
    const bool change = now.port(now.port_id(node, port)).cable_up != up;
    return change && fabric_.SetLink(node, port, up, number).ok();
  };
  return std::make_unique<fabric::LinkFlap>(timers_, *fault.request.flap,
                                            random, set);
}

absl::StatusOr<json> FaultMethods::List(control::Parameters& parameters) const {
  IBEMU_RETURN_IF_ERROR(parameters.Finish());
  json faults = json::array();
  for (const auto& [name, fault] : faults_) {
    faults.push_back(Describe(name, fault));
  }
  return json{{"faults", std::move(faults)}};
}

absl::StatusOr<json> FaultMethods::Remove(control::Parameters& parameters) {
  const std::string name = parameters.Text("name", "");
  IBEMU_RETURN_IF_ERROR(parameters.Finish());
  const auto found = faults_.find(name);
  if (found == faults_.end()) {
    DidYouMean guess(name);
    for (const auto& [known, fault] : faults_) guess.Offer(known);
    return absl::NotFoundError(
        absl::StrFormat("no fault \"%s\"%s", name, guess.Question()));
  }
  TakeOut(name, found->second);
  faults_.erase(found);
  return json::object();
}

absl::StatusOr<json> FaultMethods::Reset(control::Parameters& parameters) {
  IBEMU_RETURN_IF_ERROR(parameters.Finish());
  for (const auto& [name, fault] : faults_) TakeOut(name, fault);
  const size_t removed = faults_.size();
  faults_.clear();
  return json{{"removed", removed}};
}

// Returns the name with the lowest free number, so that the same commands give
// the same names, and with them the same random decisions.
std::string FaultMethods::FreeName() const {
  for (int number = 1;; ++number) {
    std::string name = absl::StrCat("fault-", number);
    if (!faults_.contains(name)) return name;
  }
}

std::vector<uint32_t> FaultMethods::NumbersOf(const Fault& fault) {
  std::vector<uint32_t> numbers;
  if (fault.transmit) numbers.push_back(fault.transmit->number);
  if (fault.receive) numbers.push_back(fault.receive->number);
  if (fault.answers) numbers.push_back(fault.answers->number);
  if (fault.flap) numbers.push_back(fault.flap_number);
  if (fault.adapter != nullptr) fault.adapter->AddNumbers(numbers);
  return numbers;
}

void FaultMethods::Tell(const std::string& name, const Fault& fault,
                        const char* state) {
  if (!events_.Listened()) return;
  events_.Tell("fault", {{"name", name},
                         {"state", state},
                         {"place", PlaceText(fault.request)},
                         {"what", FaultText(fault.request)}});
}

json FaultMethods::Describe(std::string_view name, const Fault& fault) const {
  const FaultRequest& request = fault.request;
  const bool at_link = request.place == Place::kLink;
  const bool of_process = request.place == Place::kProcess;
  const fabric::Node& node = fabric_.subnet().node(fault.node);
  json description = {
      {"name", name},
      {"node", of_process ? json() : json(node.description)},
      {"guid", of_process ? json() : json(GuidText(node.node_guid))},
      {"port", at_link ? json(request.port.port) : json()},
      {"dir",
       HasDirection(request) ? json(DirectionName(request.direction)) : json()},
      {"what", FaultText(request)},
      {"seed", request.seed ? json(*request.seed) : json()}};
  if (fault.transmit) {
    description["tx"] = DescribeFaultCounts(fabric_.CountsOf(*fault.transmit));
  }
  if (fault.receive) {
    description["rx"] = DescribeFaultCounts(fabric_.CountsOf(*fault.receive));
  }
  if (fault.answers) {
    description["tx"] = DescribeFaultCounts(fabric_.CountsOf(*fault.answers));
  }
  if (fault.flap) description["cuts"] = fault.flap->cuts();
  if (request.place == Place::kQueuePair) {
    description["qpn"] = QpnText(request.qpn);
  }
  if (of_process) description["pid"] = request.process;
  if (fault.adapter) fault.adapter->DescribeCounts(description);
  return description;
}

void FaultMethods::TakeOut(const std::string& name, const Fault& fault) {
  ++version_;
  const uint64_t acts = FaultActs(Describe(name, fault));
  if (acts != 0) Keep(name, fault, acts, true);
  if (fault.transmit) fabric_.RemoveFault(*fault.transmit);
  if (fault.receive) fabric_.RemoveFault(*fault.receive);
  if (fault.answers) fabric_.RemoveFault(*fault.answers);
  for (const uint32_t number : NumbersOf(fault)) names_.Remove(number);
  Tell(name, fault, "removed");
}

void FaultMethods::Keep(const std::string& name, const Fault& fault,
                        uint64_t acts, bool removed) {
  past_.push_back({.node = fault.node,
                   .process = ProcessOf(fault.request),
                   .acted = ActedFault(name, fault.request, acts, removed)});
  if (past_.size() > kMaxPast) past_.erase(past_.begin());
}

json FaultMethods::Acted(const std::vector<NodeId>& nodes,
                         uint64_t process) const {
  json all = json::array();
  const auto add = [&](NodeId node, uint64_t of_process, const json& acted) {
    const bool asked = of_process == 0
                           ? std::ranges::find(nodes, node) != nodes.end()
                           : of_process == process;
    if (asked) all.push_back(acted);
  };
  for (const Past& past : past_) add(past.node, past.process, past.acted);
  for (const auto& [name, fault] : faults_) {
    const uint64_t acts = FaultActs(Describe(name, fault));
    if (acts == 0) continue;
    add(fault.node, ProcessOf(fault.request),
        ActedFault(name, fault.request, acts, false));
  }
  return all;
}

}  // namespace ibemu::daemon

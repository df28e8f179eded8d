#include "cli/console/console.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/absl_text.h"
#include "base/status_macros.h"
#include "cli/console/node_dump.h"
#include "mad/attribute_names.h"
#include "nlohmann/json.hpp"

namespace ibemu::cli {
namespace {

using nlohmann::json;

constexpr int kMaxFiles = 8;  // nested in one another
constexpr int64_t kPageNodes = 1000;
constexpr int kMaxLids = 128;  // that a port can have: LMC 7

absl::StatusOr<int> Number(const std::string& text, const char* what, int least,
                           int most) {
  int number = 0;
  const bool hex = absl::StartsWithIgnoreCase(text, "0x");
  if (!(hex ? absl::SimpleHexAtoi(text, &number)
            : absl::SimpleAtoi(text, &number)) ||
      number < least || number > most) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "%s \"%s\": write a number from %d to %d", what, text, least, most));
  }
  return number;
}

std::vector<int> Cabled(const json& node) {
  std::vector<int> ports;
  for (const json& port : node["ports"]) {
    if (!port["peer"].is_null()) ports.push_back(port["port"]);
  }
  return ports;
}

bool Owns(const json& port, int lid) {
  const int base = port["lid"];
  const int size = 1 << port["lmc"].get<int>();
  return base != 0 && lid >= base && lid < base + size;
}

// Returns the name of the fault that "Error" puts on a port.
std::string FaultName(const json& node, int port) {
  return absl::StrCat("console-", node["guid"].get<std::string>().substr(2),
                      "-", port);
}

// Returns OK if the path arrives, else the reason in ibsim's words.
absl::Status CheckArrival(const json& path) {
  if (path["end"].is_null()) return absl::OkStatus();
  const std::string end = path["end"];
  const std::string text = path["text"];
  if (end == "no-route") {
    return absl::NotFoundError(absl::StrFormat(
        "Bad forwarding table entry found at: node \"%s\" lid entry %d",
        path["hops"].back()["name"].get<std::string>(),
        path["lid"].get<int>()));
  }
  const bool is_state =
      end == "link-down" || end == "port-inactive" || end == "node-down";
  return absl::NotFoundError(absl::StrCat(
      is_state ? "Bad port state found: " : "no route found: ", text));
}

// Returns the usual name of a counter that ibsim spells in its own way.
std::string_view CounterName(std::string_view field) {
  if (absl::EqualsIgnoreCase(Absl(field), "PortMalformedPacketErrors")) {
    return "PortMalformedPktErrors";
  }
  return field;
}

}  // namespace

Console::Console(Call call, Sleep sleep, std::ostream& out)
    : call_(std::move(call)), sleep_(std::move(sleep)), out_(out) {}

bool Console::Do(std::string_view text, int depth) {
  const absl::StatusOr<ConsoleLine> line = ParseConsoleLine(text);
  const absl::Status status =
      line.ok() ? CarryOut(*line, depth) : line.status();
  if (!status.ok()) {
    ++failures_;
    out_ << "# " << status.message() << '\n';
  }
  out_.flush();
  return !leave_;
}

absl::Status Console::CarryOut(const ConsoleLine& line, int depth) {
  switch (line.verb) {
    case Verb::kNothing:
    case Verb::kStart:
    case Verb::kVerbose:
      return absl::OkStatus();
    case Verb::kFile:
      return DoFile(line.words[0], depth);
    case Verb::kAttached:
      return Attached();
    case Verb::kBaselid:
      return Baselid(line);
    case Verb::kClear:
      return Clear(line.places[0]);
    case Verb::kDisconnect:
      return absl::UnimplementedError(
          "a client is a process: \"Attached\" says which, kill(1) ends it");
    case Verb::kDump:
      return Dump(line);
    case Verb::kError:
      return Error(line);
    case Verb::kGuid:
      return Guid(line);
    case Verb::kHelp:
      out_ << ConsoleHelp();
      return absl::OkStatus();
    case Verb::kLink:
      return Link(line);
    case Verb::kPerformanceSet:
      return PerformanceSet(line);
    case Verb::kQuit:
      leave_ = true;
      return absl::OkStatus();
    case Verb::kRelink:
      return SetLinks(line.places[0], true);
    case Verb::kRoute:
      return Route(line);
    case Verb::kUnlink:
      return SetLinks(line.places[0], false);
    case Verb::kWait:
      return Wait(line);
  }
  return absl::OkStatus();
}

absl::Status Console::DoFile(const std::string& name, int depth) {
  if (depth == kMaxFiles) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "%s: files are in files deeper than %d", name, kMaxFiles));
  }
  std::ifstream file(name);
  if (!file) {
    return absl::NotFoundError(absl::StrCat(name, ": ", std::strerror(errno)));
  }
  for (std::string text; !leave_ && std::getline(file, text);) {
    Do(text, depth + 1);
  }
  return absl::OkStatus();
}

absl::Status Console::Attached() {
  IBEMU_ASSIGN_OR_RETURN(const json status, call_("status", json::object()));
  int number = 0;
  for (const json& view : status["views"]) {
    for (const json& device : view["devices"]) {
      out_ << absl::StrFormat("Client %d: pid %d connected at \"%s\" guid %s\n",
                              number++, view["pid"].get<int>(),
                              device["node"].get<std::string>(),
                              device["node_guid"].get<std::string>());
    }
  }
  return absl::OkStatus();
}

absl::Status Console::Baselid(const ConsoleLine& line) {
  constexpr int kLastLid = 0xbfff, kMaxLmc = 7;
  IBEMU_ASSIGN_OR_RETURN(const int lid,
                         Number(line.words[0], "LID", 1, kLastLid));
  json change = {{"node", line.places[0].node},
                 {"port", *line.places[0].port},
                 {"lid", lid}};
  if (line.words.size() == 2) {
    IBEMU_ASSIGN_OR_RETURN(const int lmc,
                           Number(line.words[1], "LMC", 0, kMaxLmc));
    change["lmc"] = lmc;
  }
  return call_("lid.set", change).status();
}

absl::Status Console::Dump(const ConsoleLine& line) {
  if (!line.places.empty()) {
    IBEMU_ASSIGN_OR_RETURN(const json node, Show(line.places[0].node));
    out_ << DumpNode(node) << "#  dumped 1 nodes\n";
    return absl::OkStatus();
  }
  int count = 0;
  IBEMU_RETURN_IF_ERROR(ForEachNode([&](const json& listed) {
    const absl::StatusOr<json> node = Show(listed["name"]);
    if (!node.ok()) return node.status();
    out_ << DumpNode(*node);
    ++count;
    return absl::OkStatus();
  }));
  out_ << "#  dumped " << count << " nodes\n";
  return absl::OkStatus();
}

absl::Status Console::Error(const ConsoleLine& line) {
  IBEMU_ASSIGN_OR_RETURN(const int percent,
                         Number(line.words[0], "error rate", 0, 100));
  std::string attribute;
  if (line.words.size() == 2) {
    IBEMU_ASSIGN_OR_RETURN(const int id,
                           Number(line.words[1], "attribute", 0, 0xffff));
    attribute = std::string(mad::NameOf(mad::MgmtClass::kSubnetLidRouted,
                                        static_cast<mad::AttributeId>(id)));
    if (id != 0 && attribute.empty()) {
      return absl::NotFoundError(absl::StrFormat(
          "attribute %d: subnet management has none of this number", id));
    }
  }
  const Place& place = line.places[0];
  IBEMU_ASSIGN_OR_RETURN(const json node, Show(place.node));
  const std::vector<int> ports =
      place.port ? std::vector<int>{*place.port} : Cabled(node);
  for (const int port : ports) {
    IBEMU_RETURN_IF_ERROR(SetLoss(node, port, percent, attribute));
  }
  return absl::OkStatus();
}

absl::Status Console::SetLoss(const json& node, int port, int percent,
                              const std::string& attribute) {
  const std::string name = FaultName(node, port);
  absl::Status removed = call_("fault.remove", {{"name", name}}).status();
  if (!removed.ok() && !absl::IsNotFound(removed)) return removed;
  if (percent == 0) return absl::OkStatus();
  std::vector<std::string> words = {
      "link", absl::StrCat(node["name"].get<std::string>(), "/", port),
      "loss", absl::StrCat(percent, "%"),
      "dir",  "rx"};
  if (!attribute.empty()) {
    words.emplace_back("attr");
    words.push_back(attribute);
  }
  return call_("fault.add", {{"name", name}, {"words", words}}).status();
}

absl::Status Console::Guid(const ConsoleLine& line) {
  json change = {{"node", line.places[0].node}, {"guid", line.words[0]}};
  if (line.places[0].port) change["port"] = *line.places[0].port;
  return call_("guid.set", change).status();
}

absl::Status Console::Link(const ConsoleLine& line) {
  return call_("cable.set", {{"node", line.places[0].node},
                             {"port", *line.places[0].port},
                             {"peer", line.places[1].node},
                             {"peer_port", *line.places[1].port}})
      .status();
}

absl::Status Console::SetLinks(const Place& place, bool up) {
  if (place.port) {
    return call_("link.set",
                 {{"node", place.node}, {"port", *place.port}, {"up", up}})
        .status();
  }
  IBEMU_ASSIGN_OR_RETURN(const json node, Show(place.node));
  for (const int port : Cabled(node)) {
    IBEMU_RETURN_IF_ERROR(
        call_("link.set", {{"node", place.node}, {"port", port}, {"up", up}})
            .status());
  }
  return absl::OkStatus();
}

absl::Status Console::Clear(const Place& place) {
  IBEMU_ASSIGN_OR_RETURN(const json node, Show(place.node));
  std::vector<int> ports = Cabled(node);
  if (place.port) {
    const bool cabled = std::count(ports.begin(), ports.end(), *place.port) > 0;
    if (cabled) IBEMU_RETURN_IF_ERROR(SetLinks(place, false));
    ports = {*place.port};
  } else {
    IBEMU_RETURN_IF_ERROR(SetLinks(place, false));
  }
  for (const int port : ports) {
    IBEMU_RETURN_IF_ERROR(SetLoss(node, port, 0, ""));
    IBEMU_RETURN_IF_ERROR(
        call_("counter.set",
              {{"node", place.node}, {"port", port}, {"clear", true}})
            .status());
  }
  return absl::OkStatus();
}

absl::Status Console::PerformanceSet(const ConsoleLine& line) {
  const std::string& word = line.words[0];
  const size_t dot = word.find('.');
  const size_t equals = word.find('=');
  if (dot == std::string::npos || equals == std::string::npos || equals < dot) {
    return absl::InvalidArgumentError(
        absl::StrCat("\"", word, "\": write ATTRIBUTE.FIELD=VALUE"));
  }
  const std::string_view field =
      CounterName(std::string_view(word).substr(dot + 1, equals - dot - 1));
  const json place = {{"node", line.places[0].node},
                      {"port", *line.places[0].port}};
  IBEMU_ASSIGN_OR_RETURN(const json known, call_("counter.get", place));
  for (const json& counter : known["counters"]) {
    const std::string name = counter["name"];
    if (!absl::EqualsIgnoreCase(name, Absl(field))) continue;
    json change = place;
    change["set"] = {absl::StrCat(name, word.substr(equals))};
    IBEMU_RETURN_IF_ERROR(call_("counter.set", change).status());
    out_ << absl::StrFormat("%s[%d] %s has been set to %s\n",
                            line.places[0].node, *line.places[0].port,
                            word.substr(0, equals), word.substr(equals + 1));
    return absl::OkStatus();
  }
  return absl::NotFoundError(absl::StrFormat(
      "field %s cannot be found in attribute %s", field, word.substr(0, dot)));
}

absl::Status Console::Route(const ConsoleLine& line) {
  constexpr int kLastLid = 0xbfff;
  IBEMU_ASSIGN_OR_RETURN(const int from,
                         Number(line.words[0], "LID", 1, kLastLid));
  IBEMU_ASSIGN_OR_RETURN(const int to,
                         Number(line.words[1], "LID", 1, kLastLid));
  IBEMU_ASSIGN_OR_RETURN(const Place source, FindLid(from));
  IBEMU_ASSIGN_OR_RETURN(const Place target, FindLid(to));
  IBEMU_ASSIGN_OR_RETURN(const json path,
                         call_("path.trace", {{"from", source.node},
                                              {"from_port", *source.port},
                                              {"to", target.node},
                                              {"to_port", *target.port},
                                              {"lid", to}}));
  out_ << DumpPath(path, from);
  return CheckArrival(path);
}

absl::Status Console::Wait(const ConsoleLine& line) {
  constexpr int kLongest = 24 * 3600;
  IBEMU_ASSIGN_OR_RETURN(const int seconds,
                         Number(line.words[0], "seconds", 1, kLongest));
  sleep_(absl::Seconds(seconds));
  return absl::OkStatus();
}

absl::StatusOr<Console::Place> Console::FindLid(int lid) {
  std::optional<Place> found;
  const auto may_own = [&](const json& port) {
    const int base = port["lid"];
    return base != 0 && lid >= base && lid < base + kMaxLids;
  };
  IBEMU_RETURN_IF_ERROR(ForEachNode([&](const json& listed) {
    const json& near = listed["ports"];
    if (found || std::none_of(near.begin(), near.end(), may_own)) {
      return absl::OkStatus();
    }
    const absl::StatusOr<json> node = Show(listed["name"]);
    if (!node.ok()) return node.status();
    for (const json& port : (*node)["ports"]) {
      if (Owns(port, lid)) found = Place{(*node)["name"], port["port"]};
    }
    return absl::OkStatus();
  }));
  if (found) return *std::move(found);
  return absl::NotFoundError(absl::StrFormat("no port has LID %d", lid));
}

absl::StatusOr<json> Console::Show(const std::string& node) {
  return call_("node.show", {{"node", node}});
}

absl::Status Console::ForEachNode(
    const std::function<absl::Status(const json& node)>& use) {
  for (int64_t from = 0;;) {
    IBEMU_ASSIGN_OR_RETURN(
        const json page,
        call_("nodes", {{"from", from}, {"limit", kPageNodes}}));
    for (const json& node : page["nodes"]) {
      IBEMU_RETURN_IF_ERROR(use(node));
    }
    from += static_cast<int64_t>(page["nodes"].size());
    if (page["nodes"].empty() || from >= page["total"].get<int64_t>()) break;
  }
  return absl::OkStatus();
}

}  // namespace ibemu::cli

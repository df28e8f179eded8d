#include "cli/lab/lab_parser.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "base/absl_text.h"
#include "base/did_you_mean.h"
#include "cli/lab/host_list.h"
#include "control/socket_path.h"
#include "topology/formats/spec/spec_checks.h"
#include "topology/formats/spec/spec_value.h"

namespace ibemu::cli {
namespace {

using topology::Place;
using topology::SpecEntry;
using topology::SpecValue;
using Kind = SpecValue::Kind;

constexpr std::array<std::string_view, 11> kLabKeys = {
    "name", "topology", "sm",    "seed",    "addresses", "listen",
    "join", "certs",    "hosts", "timeout", "scenario"};
// What is said where the subnet is.
constexpr std::array<std::string_view, 6> kSubnetKeys = {
    "topology", "sm", "seed", "addresses", "listen", "scenario"};
constexpr std::array<std::string_view, 12> kProgramKeys = {
    "run",  "after",   "ready",   "service",  "environment", "net",
    "lint", "explain", "profile", "hostname", "state",       "outside"};
constexpr std::array<std::string_view, 2> kScenarioKeys = {"file", "after"};
// All of a program's group is told to end.  A shell that ended before what it
// has started would take the devices away from that.
constexpr char kShellWaits[] = "trap 'exit 143' TERM\n";
// A text of some megabytes could have billions.
constexpr size_t kMaxAwaited = 100'000;
constexpr char kScenarioLabel[] = "scenario";

class LabParser {
 public:
  LabParser(std::string_view file, topology::FaultList& faults)
      : faults_(faults), checks_(faults), file_(faults.AddFile(file)) {
    plan_.file = file;
    plan_.name = std::filesystem::path(file).stem();
  }

  LabPlan Parse(std::string_view text) {
    const SpecValue root = topology::ParseSpecValue(text, file_, faults_);
    if (!faults_.empty()) return std::move(plan_);
    if (root.kind != Kind::kMap) {
      checks_.Fault({.file = file_, .line = 1},
                    "a lab is a map, as in \"hosts: {node-1: ibstat}\"");
      return std::move(plan_);
    }
    checks_.CheckKeys(root, "a lab", kLabKeys);
    ReadFabric(root);
    ReadHosts(root);
    if (const SpecEntry* scenario = root.Find("scenario")) {
      ReadScenario(*scenario);
    }
    ResolveAfter();
    FindCycles();
    CheckWaits();
    return std::move(plan_);
  }

 private:
  void ReadFabric(const SpecValue& root) {
    if (const SpecEntry* name = root.Find("name")) {
      plan_.name = checks_.Text(root, "name").value_or(plan_.name);
      CheckName(name->value.at);
    } else {
      CheckName({.file = file_, .line = 1});
    }
    plan_.topology = checks_.Text(root, "topology").value_or("");
    plan_.sm = checks_.Text(root, "sm");
    plan_.addresses = checks_.Text(root, "addresses");
    ReadMachines(root);
    if (const SpecEntry* seed = root.Find("seed")) {
      uint64_t number = 0;
      if (absl::SimpleAtoi(seed->value.text, &number)) {
        plan_.seed = number;
      } else {
        checks_.BadValue(*seed, "it is a whole number below 2^64");
      }
    }
    if (const SpecEntry* timeout = root.Find("timeout")) {
      if (!absl::ParseDuration(timeout->value.text, &plan_.timeout) ||
          plan_.timeout <= absl::ZeroDuration()) {
        checks_.BadValue(*timeout, "it is a time above 0, as in 90s or 5m");
      }
    }
  }

  void ReadMachines(const SpecValue& root) {
    plan_.listen = checks_.Text(root, "listen");
    plan_.join = checks_.Text(root, "join").value_or("");
    plan_.certificates = checks_.Text(root, "certs").value_or("");
    const SpecEntry* join = root.Find("join");
    const SpecEntry* certificates = root.Find("certs");
    if (const SpecEntry* listen = root.Find("listen")) {
      plan_.listen_line = listen->at.line;
      if (plan_.listen && plan_.listen->empty()) {
        checks_.BadValue(*listen, "it is an address, a port, or ADDRESS:PORT");
      }
    }
    if (join == nullptr) {
      if (certificates == nullptr || root.Find("listen") != nullptr) return;
      return checks_.Fault(certificates->at,
                           "certs: they go together with \"join\" or "
                           "\"listen\", and there is neither");
    }
    plan_.join_line = join->at.line;
    if (join->value.kind == Kind::kScalar && plan_.join.empty()) {
      checks_.BadValue(*join,
                       "it is another machine, as in head:7471, or a fabric "
                       "of this one");
    }
    for (const std::string_view key : kSubnetKeys) {
      if (const SpecEntry* entry = root.Find(key)) {
        checks_.Fault(entry->at,
                      absl::StrFormat("%s: it belongs to the fabric that "
                                      "\"join\" names: say it there",
                                      key));
      }
    }
  }

  void CheckName(Place at) {
    const bool is_path = plan_.name.find('/') != std::string::npos;
    if (!plan_.name.empty() && !is_path &&
        control::SocketPath(plan_.name).ok()) {
      return;
    }
    checks_.Fault(
        at, absl::StrFormat("name: \"%s\": the name of a fabric has letters, "
                            "digits, dots, hyphens and underscores",
                            plan_.name));
  }

  void ReadHosts(const SpecValue& root) {
    const SpecEntry* hosts = root.Find("hosts");
    if (hosts == nullptr) {
      return checks_.Fault({.file = file_, .line = 1},
                           "the lab has no \"hosts\", so nothing to run");
    }
    if (hosts->value.kind != Kind::kMap || hosts->value.entries.empty()) {
      return checks_.BadValue(
          *hosts, "it is a map of commands, as in \"node-1: ibstat\"");
    }
    for (const SpecEntry& host : hosts->value.entries) {
      for (const std::string& name : HostsOf(host.key, host.at)) {
        ReadHost(name, host);
        if (plan_.programs.size() <= kMaxLabPrograms) continue;
        return checks_.Fault(
            hosts->at,
            absl::StrFormat("a lab has at most %d programs", kMaxLabPrograms));
      }
    }
  }

  std::vector<std::string> HostsOf(const std::string& list, Place at) {
    absl::StatusOr<std::vector<std::string>> names =
        ExpandHostList(list, kMaxLabPrograms);
    if (names.ok()) return *std::move(names);
    checks_.Fault(at, std::string(names.status().message()));
    return {};
  }

  void ReadHost(const std::string& name, const SpecEntry& host) {
    if (host.value.kind != Kind::kList) return ReadProgram(name, host.value);
    if (host.value.items.empty()) {
      checks_.BadValue(host, "the list has no command");
    }
    for (const SpecValue& program : host.value.items) {
      ReadProgram(name, program);
    }
  }

  LabProgram& AddProgram(std::string label, int line) {
    LabProgram& program = plan_.programs.emplace_back();
    program.label = std::move(label);
    program.line = line;
    return program;
  }

  void ReadProgram(const std::string& host, const SpecValue& value) {
    LabProgram& program = AddProgram(host, value.at.line);
    program.arguments = {"run", "--host=" + host};
    if (Flag(value, "explain", true))
      program.arguments.emplace_back("--explain");
    program.environment = {{"PYTHONUNBUFFERED", "1"}};
    if (value.kind == Kind::kMap) return ReadKeys(value, program);
    SetCommand(value, value.at, program);
  }

  void ReadKeys(const SpecValue& map, LabProgram& program) {
    checks_.CheckKeys(map, "a program", kProgramKeys);
    if (Flag(map, "service", false)) program.kind = LabProgram::Kind::kService;
    ReadNet(map, program);
    if (Flag(map, "lint", false)) program.arguments.emplace_back("--lint");
    for (const char* key : {"profile", "hostname", "state", "outside"}) {
      if (const auto value = checks_.Text(map, key)) {
        program.arguments.push_back(absl::StrCat(Option(key), "=", *value));
      }
    }
    program.ready = checks_.Text(map, "ready");
    if (program.ready && program.ready->empty()) {
      checks_.BadValue(*map.Find("ready"), "every line has no text in it");
    }
    ReadEnvironment(map, program);
    ReadAfter(map, plan_.programs.size() - 1);
    const SpecEntry* run = map.Find("run");
    SetCommand(run == nullptr ? SpecValue() : run->value,
               run == nullptr ? map.at : run->at, program);
  }

  static std::string Option(const char* name) {
    return absl::StrCat("--", name);
  }

  // true, false, or P_Keys, switches and the mode, of which `ibemu run` knows
  // what they may be.
  void ReadNet(const SpecValue& map, LabProgram& program) {
    const SpecEntry* entry = map.Find("net");
    if (entry == nullptr || entry->value.text == "false") return;
    const std::string& text = entry->value.text;
    if (text == "true") {
      program.arguments.emplace_back("--net");
      return;
    }
    constexpr std::string_view kOfPKeys = "0123456789abcdefABCDEFx";
    for (const absl::string_view word : absl::StrSplit(text, ',')) {
      const bool is_pkey =
          !word.empty() &&
          word.find_first_not_of(Absl(kOfPKeys)) == absl::string_view::npos;
      if (!is_pkey && word != "connected" &&
          !absl::StartsWith(word, "ether:")) {
        checks_.BadValue(*entry,
                         "it is true, false, or P_Keys, switches and "
                         "connected, as in 8001,ether:blue,connected");
        break;
      }
    }
    program.arguments.push_back("--net=" + text);
  }

  // `usual`: what the key stands for where it is not written.
  bool Flag(const SpecValue& map, std::string_view key, bool usual) {
    const SpecEntry* entry = map.Find(key);
    if (entry == nullptr) return usual;
    const std::string& text = entry->value.text;
    if (text != "true" && text != "false") {
      checks_.BadValue(*entry, "it is true or false");
    }
    return text == "true";
  }

  void SetCommand(const SpecValue& value, Place at, LabProgram& program) {
    std::vector<std::string> words;
    if (value.kind == Kind::kScalar && !value.text.empty()) {
      words = {"sh", "-c", absl::StrCat(kShellWaits, value.text)};
    }
    for (const SpecValue& item : value.items) {
      if (item.kind == Kind::kScalar) words.push_back(item.text);
    }
    if (words.empty() || words.size() < value.items.size()) {
      checks_.Fault(at, absl::StrFormat(
                            "%s: what it is to run is missing: \"run\" is a "
                            "command for sh, or the list of a program and its "
                            "arguments",
                            program.label));
    }
    // Without a terminal most programs print when their buffer is full.
    for (const char* word : {"--", "stdbuf", "-oL"}) {
      program.arguments.emplace_back(word);
    }
    program.arguments.insert(program.arguments.end(), words.begin(),
                             words.end());
  }

  void ReadEnvironment(const SpecValue& map, LabProgram& program) {
    const SpecEntry* environment = map.Find("environment");
    if (environment == nullptr) return;
    if (environment->value.kind != Kind::kMap) {
      return checks_.BadValue(*environment,
                              "it is a map, as in \"UCX_TLS: rc_v\"");
    }
    for (const SpecEntry& variable : environment->value.entries) {
      if (variable.value.kind != Kind::kScalar) {
        checks_.BadValue(variable, "the value of a variable is a text");
      } else if (variable.key.find('=') != std::string::npos) {
        checks_.Fault(variable.at, absl::StrFormat("\"%s\": the name of a "
                                                   "variable has no \"=\"",
                                                   variable.key));
      }
      program.environment.emplace_back(variable.key, variable.value.text);
    }
  }

  void ReadAfter(const SpecValue& map, size_t program) {
    const SpecEntry* after = map.Find("after");
    if (after == nullptr) return;
    std::span<const SpecValue> lists(&after->value, 1);
    if (after->value.kind == Kind::kList) lists = after->value.items;
    for (const SpecValue& hosts : lists) {
      if (awaited_.size() >= kMaxAwaited) {
        return checks_.Fault(hosts.at, "after: too many hosts are waited for");
      }
      if (hosts.kind != Kind::kScalar) {
        checks_.BadValue(*after, "it is a host, or a list of hosts");
        continue;
      }
      for (std::string& name : HostsOf(hosts.text, hosts.at)) {
        awaited_.try_emplace({program, std::move(name)}, hosts.at);
      }
    }
  }

  void ReadScenario(const SpecEntry& scenario) {
    LabProgram& program = AddProgram(kScenarioLabel, scenario.at.line);
    program.kind = LabProgram::Kind::kScenario;
    const SpecValue& value = scenario.value;
    if (value.kind == Kind::kScalar) {
      program.arguments = {"scenario", value.text};
      return;
    }
    checks_.CheckKeys(value, "a scenario", kScenarioKeys);
    const std::optional<std::string> file = checks_.Text(value, "file");
    if (value.kind != Kind::kMap || !file) {
      return checks_.BadValue(scenario, "it is the name of a file");
    }
    program.arguments = {"scenario", *file};
    ReadAfter(value, plan_.programs.size() - 1);
  }

  void ResolveAfter() {
    absl::flat_hash_map<std::string, std::vector<size_t>> by_host;
    for (size_t i = 0; i < plan_.programs.size(); ++i) {
      const LabProgram& program = plan_.programs[i];
      if (program.kind != LabProgram::Kind::kScenario) {
        by_host[program.label].push_back(i);
      }
    }
    for (const auto& [who, at] : awaited_) {
      const auto& [waiting, host] = who;
      LabProgram& program = plan_.programs[waiting];
      const size_t before = program.after.size();
      for (const size_t other : by_host[host]) {
        if (other != waiting) program.after.push_back(other);
      }
      if (program.after.size() > before || !faults_.Listens()) continue;
      if (host == program.label) {
        checks_.Fault(at, absl::StrFormat("after: %s would wait for itself",
                                          program.label));
        continue;
      }
      DidYouMean names(host);
      for (const LabProgram& each : plan_.programs) names.Offer(each.label);
      checks_.Fault(
          at, absl::StrFormat("after: \"%s\" runs nothing in this lab%s", host,
                              names.Question()));
    }
  }

  // Programs that wait for each other would wait for ever.  What can start in
  // some order is taken away; cycles, and what waits for them, remain.
  void FindCycles() {
    std::vector<bool> starts(plan_.programs.size());
    for (bool progress = true; progress;) {
      progress = false;
      for (size_t i = 0; i < starts.size(); ++i) {
        if (starts[i] ||
            !std::ranges::all_of(plan_.programs[i].after,
                                 [&](size_t other) { return starts[other]; })) {
          continue;
        }
        starts[i] = progress = true;
      }
    }
    for (size_t i = 0; i < starts.size(); ++i) {
      const LabProgram& program = plan_.programs[i];
      if (starts[i]) continue;
      checks_.Fault({.file = file_, .line = program.line},
                    absl::StrFormat("%s never starts: it waits, by way of "
                                    "others, for itself or for such a cycle",
                                    program.label));
    }
  }

  // A service does not end, so it has to say when it is ready.
  void CheckWaits() {
    for (const LabProgram& program : plan_.programs) {
      for (const size_t other : program.after) {
        const LabProgram& awaited = plan_.programs[other];
        if (awaited.kind != LabProgram::Kind::kService || awaited.ready) {
          continue;
        }
        checks_.Fault(
            {.file = file_, .line = awaited.line},
            absl::StrFormat("%s waits for this service of %s: it needs "
                            "\"ready\", a text that it prints then",
                            program.label, awaited.label));
      }
    }
  }

  topology::FaultList& faults_;
  topology::SpecChecks checks_;
  const int file_;
  LabPlan plan_;
  // The hosts that programs wait for, before all programs are known.
  std::map<std::pair<size_t, std::string>, Place> awaited_;
};

}  // namespace

LabPlan ParseLab(std::string_view text, std::string_view file,
                 topology::FaultList& faults) {
  return LabParser(file, faults).Parse(text);
}

}  // namespace ibemu::cli

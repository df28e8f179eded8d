#include "cli/commands/topology_command.h"

#include <CLI/App.hpp>
#include <algorithm>
#include <cstdio>
#include <iterator>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/did_you_mean.h"
#include "base/standard_output.h"
#include "base/status_macros.h"
#include "control/client.h"
#include "nlohmann/json.hpp"
#include "topology/formats/formats.h"
#include "topology/formats/load_topology.h"
#include "topology/formats/progress_line.h"
#include "topology/rate_text.h"
#include "topology/topology.h"

namespace ibemu::cli {
namespace {

using nlohmann::json;
using topology::Topology;

constexpr char kTopologyHelp[] = R"(Usage: ibemu topology generate SPEC
  or:  ibemu topology from FILE
  or:  ibemu topology check FILE
  or:  ibemu topology show FILE
Write, verify or sum up the description of a subnet.

  generate   write what a generator makes, in ibnetdiscover format: back-to-back,
             single-switch:hosts=8, fat-tree:radix=36,levels=2, torus:4x4x4,
             dragonfly:...
  from       write what a file of any format has, as FILE.clab.yml of
             containerlab, in ibnetdiscover format
  check      print every fault of a file; the exit status is 0 without faults
  show       print how many nodes and links of which kind there are

"ibemu export FILE" writes it in other formats, too.

Example:
  ibemu topology generate fat-tree:radix=8,levels=2 > lab.net
)";

constexpr char kExportHelp[] =
    R"(Usage: ibemu export [--format=ibnetdiscover|dot|json|yaml|slurm] [SPEC]
  or:  ibemu export [--format=ibnetdiscover|dot|json|yaml|slurm] [--fabric=NAME]
Write the topology of a running fabric as it is now, without cut links and
switched-off nodes; or that of SPEC, a file or a generator.

  --format=ibnetdiscover|dot|json|yaml|slurm
                  as ibnetdiscover prints it; for Graphviz; a spec in JSON or
                  YAML; Slurm's topology.conf (default: ibnetdiscover)
  --fabric=NAME   a name, or the path of a socket (default: IBEMU_FABRIC, else
                  "default")

Example:
  ibemu export --format=slurm fat-tree:radix=36,levels=2
)";

struct Format {
  std::string_view name;
  std::string (*write)(const Topology&);
};
constexpr Format kFormats[] = {
    {"ibnetdiscover", topology::FormatIbnetdiscover},
    {"dot", topology::FormatDot},
    {"json", topology::FormatSpecJson},
    {"yaml", topology::FormatSpecYaml},
    {"slurm", topology::FormatSlurm},
};

absl::StatusOr<Topology> Load(const std::string& spec) {
  topology::ProgressLine progress;
  return topology::LoadTopology(
      spec, [&](std::string_view phase, size_t done, size_t total) {
        progress.Show(phase, done, total);
      });
}

absl::Status Generate(const std::string& spec) {
  IBEMU_ASSIGN_OR_RETURN(const Topology topology,
                         topology::GenerateTopology(spec));
  Print(topology::FormatIbnetdiscover(topology));
  return absl::OkStatus();
}

absl::Status From(const std::string& file) {
  IBEMU_ASSIGN_OR_RETURN(const Topology topology, Load(file));
  Print(topology::FormatIbnetdiscover(topology));
  return absl::OkStatus();
}

absl::Status Check(const std::string& file) {
  IBEMU_ASSIGN_OR_RETURN(const Topology topology, Load(file));
  Print(absl::StrFormat("%s: no faults: %d nodes, %d links\n", file,
                        topology.nodes.size(), topology.links.size()));
  return absl::OkStatus();
}

absl::Status Show(const std::string& file) {
  IBEMU_ASSIGN_OR_RETURN(const Topology topology, Load(file));
  std::map<std::string, int> nodes;
  for (const topology::NodeSpec& node : topology.nodes) {
    const char* kind = node.type == mad::NodeType::kSwitch   ? "switch"
                       : node.type == mad::NodeType::kRouter ? "router"
                                                             : "adapter";
    ++nodes[absl::StrCat(node.port_count, "-port ", kind)];
  }
  std::map<std::string, int> links;
  for (const topology::LinkSpec& link : topology.links) {
    ++links[absl::StrCat(topology::LinkRateName(link.rate), " link")];
  }
  for (const auto* counts : {&nodes, &links}) {
    for (const auto& [kind, count] : *counts) {
      Print(absl::StrFormat("%8d  %s\n", count, kind));
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<Topology> RunningTopology(const std::string& fabric) {
  IBEMU_ASSIGN_OR_RETURN(control::Client client,
                         control::Client::Connect(fabric));
  IBEMU_ASSIGN_OR_RETURN(const json result,
                         client.Call("topology.text", json::object()));
  return topology::ParseIbnetdiscover(result.value("text", ""), "the fabric");
}

absl::Status Export(const std::string& format, const std::string& fabric,
                    const std::string& spec) {
  const auto* known = std::ranges::find(kFormats, format, &Format::name);
  if (known == std::end(kFormats)) {
    DidYouMean names(format);
    for (const Format& each : kFormats) names.Offer(each.name);
    return absl::InvalidArgumentError(
        absl::StrCat("--format=", format,
                     ": there are ibnetdiscover, dot, "
                     "json, yaml and slurm",
                     names.Question()));
  }
  if (!fabric.empty() && !spec.empty()) {
    return absl::InvalidArgumentError(
        "--fabric is a running fabric, SPEC is one that does not run: give "
        "one of them");
  }
  IBEMU_ASSIGN_OR_RETURN(const Topology topology,
                         spec.empty() ? RunningTopology(fabric) : Load(spec));
  Print(known->write(topology));
  return absl::OkStatus();
}

void AddPart(CLI::App& topology, Action& action, const char* name,
             absl::Status (*part)(const std::string&)) {
  CLI::App* command = topology.add_subcommand(name);
  SetHelp(*command, kTopologyHelp);
  const auto file = std::make_shared<std::string>();
  command->add_option("file", *file)->required();
  command->callback([file, &action, part] {
    action = [file, part] {
      const absl::Status status = part(*file);
      if (status.ok()) return 0;
      // Printed without the program's name, as each line begins with a file's.
      std::fprintf(stderr, "%s\n", std::string(status.message()).c_str());
      return 1;
    };
  });
}

}  // namespace

void AddTopology(CLI::App& app, Action& action) {
  CLI::App* topology = app.add_subcommand("topology");
  SetHelp(*topology, kTopologyHelp);
  AddPart(*topology, action, "generate", Generate);
  AddPart(*topology, action, "from", From);
  AddPart(*topology, action, "check", Check);
  AddPart(*topology, action, "show", Show);

  CLI::App* command = app.add_subcommand("export");
  SetHelp(*command, kExportHelp);
  struct TopologyFlags {
    std::string format = "ibnetdiscover";
    std::string fabric;
    std::string spec;
  };
  const auto flags = std::make_shared<TopologyFlags>();
  command->add_option("--format", flags->format);
  command->add_option("--fabric", flags->fabric);
  command->add_option("spec", flags->spec);
  OnUse(*command, action, "export",
        [flags] { return Export(flags->format, flags->fabric, flags->spec); });
}

}  // namespace ibemu::cli

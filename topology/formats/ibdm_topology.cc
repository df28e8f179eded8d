#include "topology/formats/ibdm_topology.h"

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "base/absl_text.h"
#include "base/did_you_mean.h"
#include "topology/formats/ibnl_parser.h"
#include "topology/formats/system_library.h"
#include "topology/formats/text/draft_builder.h"
#include "topology/formats/text/ibdm_arrow.h"
#include "topology/formats/text/lines.h"

namespace ibemu::topology {
namespace {

using mad::NodeType;

constexpr uint32_t kMellanox = 0x2c9;
constexpr size_t kMaxNodes = size_t{1} << 20;

class IbdmTopologyReader {
 public:
  explicit IbdmTopologyReader(SystemLibrary& library)
      : library_(library), builder_(faults_) {}

  absl::StatusOr<Topology> Read(std::string_view text, std::string_view file,
                                Progress progress) {
    ForEachLine(text, faults_.AddFile(file), file, progress,
                [this](Place at, std::string_view line) {
                  at_ = at;
                  ReadLine(line);
                });
    for (const std::string& name : order_) AddSystem(systems_.at(name), name);
    for (const Cable& cable : cables_) AddCable(cable);
    return builder_.Finish(progress);
  }

 private:
  struct System {
    std::string type;
    Place at;
    bool has_section = false;
    Modifiers modifiers;
    std::optional<ExpandedSystem> parts;  // empty if it is faulty
    std::vector<NodeId> chips;
  };
  struct CableEnd {
    std::string system, port;
  };
  struct Cable {
    Place at;
    CableEnd a, b;
    ArrowRate rate;
  };

  void ReadLine(std::string_view line) {
    const std::string_view words = TrimSpace(line);
    if (words.starts_with('#')) return;
    if (words.empty()) {
      current_ = nullptr;
      in_faulty_section_ = false;
    } else if (HasArrow(words)) {
      ReadCable(words);
    } else {
      ReadSystem(words);
    }
  }

  void ReadSystem(std::string_view line) {
    current_ = nullptr;
    in_faulty_section_ = true;
    std::string_view config = line;
    const bool has_config = line.find("CFG:") != line.npos;
    const std::vector<std::string_view> words =
        SplitWords(CutBefore("CFG:", config));
    if (words.size() != 2) {
      return Fault(
          "a system is its type and its name, as in MTS2400 sw-1; "
          "its cables follow");
    }
    System* system = Mention(words[0], words[1]);
    if (system == nullptr) return;
    if (system->has_section) {
      return Fault(absl::StrFormat("\"%s\" is defined twice: first on %s",
                                   words[1], faults_.Refer(at_, system->at)));
    }
    system->has_section = true;
    system->at = at_;
    if (has_config && !ParseModifiers(config, system->modifiers)) {
      Fault("CFG: takes BOARD=VARIANT, as in CFG: leaf1=12x,spine2=R");
    }
    current_ = system;
    current_name_ = words[1];
    in_faulty_section_ = false;
  }

  // Returns the system of that name, which may be new, or nullptr if it has
  // another type.
  System* Mention(std::string_view type, std::string_view name) {
    const auto [found, is_new] = systems_.try_emplace(std::string(name));
    System& system = found->second;
    if (is_new) {
      system.type = type;
      system.at = at_;
      order_.emplace_back(name);
    } else if (!library_.AreSame(system.type, type)) {
      Fault(absl::StrFormat("\"%s\" is of type %s here, but %s on %s", name,
                            type, system.type, faults_.Refer(at_, system.at)));
      return nullptr;
    }
    return &system;
  }

  void ReadCable(std::string_view line) {
    if (in_faulty_section_) return;
    if (current_ == nullptr) {
      return Fault(
          "this cable belongs to no system: a line with a type and a "
          "name stands above the cables");
    }
    const absl::StatusOr<Arrow> arrow = ParseArrow(line);
    if (!arrow.ok()) return Fault(std::string(arrow.status().message()));
    if (arrow->words.size() != 3) {
      return Fault(
          "a cable leads to the type of a system, its name and a "
          "port, as in P1 -4X-> MT23108 H-1 P1");
    }
    if (Mention(arrow->words[0], arrow->words[1]) == nullptr) return;
    cables_.push_back(
        {at_,
         {current_name_, std::string(arrow->port)},
         {std::string(arrow->words[1]), std::string(arrow->words[2])},
         arrow->rate});
  }

  void Expand(System& system) {
    absl::StatusOr<ExpandedSystem> parts =
        library_.Expand(system.type, system.modifiers);
    if (parts.ok()) {
      system.parts = *std::move(parts);
      return;
    }
    for (const absl::string_view fault :
         absl::StrSplit(parts.status().message(), '\n')) {
      faults_.Add(system.at, std::string(fault));
    }
  }

  void AddSystem(System& system, const std::string& name) {
    Expand(system);
    if (!system.parts) return;
    if (builder_.node_count() + system.parts->chips.size() > kMaxNodes) {
      faults_.Add(system.at,
                  absl::StrFormat("there are more than %d nodes", kMaxNodes));
      system.parts.reset();
      return;
    }
    const bool is_single = system.parts->chips.size() == 1;
    for (const ExpandedSystem::Chip& chip : system.parts->chips) {
      NodeSpec node;
      node.type = chip.type;
      node.name = is_single ? name : absl::StrCat(name, "/", chip.path);
      node.port_count = chip.port_count;
      SetDefaultIds(node);
      SetDevice(chip.device, node);
      const std::optional<NodeId> id =
          builder_.AddNode(system.at, std::move(node));
      if (!id) {
        system.parts.reset();
        return;
      }
      system.chips.push_back(*id);
    }
    for (const ExpandedSystem::Connection& connection :
         system.parts->connections) {
      LinkSpec link;
      link.rate = RateOfCable({connection.a.rate.Within(connection.rate),
                               connection.b.rate.Within(connection.rate)});
      builder_.Connect(system.at, EndOf(system, connection.a),
                       EndOf(system, connection.b), link);
    }
  }

  // Mellanox's device IDs are the numbers of the names: MT47396 is 0xb924.
  static void SetDevice(std::string_view device, NodeSpec& node) {
    const size_t digits = device.find_first_of("0123456789");
    uint32_t number = 0;
    if (!device.starts_with('M') || digits == device.npos ||
        !absl::SimpleAtoi(Absl(device.substr(digits)), &number) ||
        number > 0xffff) {
      return;
    }
    node.vendor_id = kMellanox;
    node.device_id = static_cast<uint16_t>(number);
  }

  static DraftBuilder::End EndOf(const System& system,
                                 const ExpandedSystem::ChipPort& port) {
    return {system.chips[port.chip], port.port, {}};
  }

  const ExpandedSystem::ChipPort* FindPort(const Cable& cable,
                                           const CableEnd& end) {
    const System& system = systems_.at(end.system);
    if (!system.parts) return nullptr;  // reported already
    const auto port = system.parts->panel.find(end.port);
    if (port != system.parts->panel.end()) return &port->second;
    DidYouMean names(end.port);
    for (const auto& [name, place] : system.parts->panel) names.Offer(name);
    faults_.Add(
        cable.at,
        absl::StrFormat("\"%s\", of type %s, has no port \"%s\"%s", end.system,
                        system.type, end.port, names.Question()));
    return nullptr;
  }

  void AddCable(const Cable& cable) {
    const ExpandedSystem::ChipPort* a = FindPort(cable, cable.a);
    const ExpandedSystem::ChipPort* b = FindPort(cable, cable.b);
    if (a == nullptr || b == nullptr) return;
    LinkSpec link;
    link.rate =
        RateOfCable({a->rate.Within(cable.rate), b->rate.Within(cable.rate)});
    builder_.Connect(cable.at, EndOf(systems_.at(cable.a.system), *a),
                     EndOf(systems_.at(cable.b.system), *b), link);
  }

  void Fault(std::string what) { faults_.Add(at_, std::move(what)); }

  SystemLibrary& library_;
  FaultList faults_;
  DraftBuilder builder_;
  Place at_;
  std::map<std::string, System> systems_;
  std::vector<std::string> order_;
  std::vector<Cable> cables_;
  System* current_ = nullptr;
  std::string current_name_;
  bool in_faulty_section_ = false;
};

}  // namespace

absl::StatusOr<Topology> ParseIbdmTopology(std::string_view text,
                                           std::string_view file,
                                           SystemLibrary& systems,
                                           Progress progress) {
  return IbdmTopologyReader(systems).Read(text, file, progress);
}

}  // namespace ibemu::topology

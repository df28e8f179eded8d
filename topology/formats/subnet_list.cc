#include "topology/formats/subnet_list.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_format.h"
#include "topology/formats/text/draft_builder.h"
#include "topology/formats/text/lane_speed.h"
#include "topology/formats/text/lines.h"
#include "topology/rate_text.h"
#include "topology/topology_builder.h"

namespace ibemu::topology {
namespace {

using mad::NodeType;

// One end of a cable, as a line describes it.
struct ListedEnd {
  NodeSpec node;  // without a name
  int port = 0;
  wire::Guid port_guid{};
};

// A cable, as a line describes it.
struct ListedCable {
  Place at;
  uint64_t nodes[2] = {};
  int ports[2] = {};
  wire::Guid port_guids[2] = {};
  LinkSpec link;  // without its ends
};

// A node as its first line describes it, with the port GUIDs from all lines.
struct ListedNode {
  NodeSpec spec;
  Place at;
  std::map<int, wire::Guid> port_guids;
};

// The error of a line, or nothing.
using Fault = std::optional<std::string>;

class SubnetListReader {
 public:
  absl::StatusOr<Topology> Read(std::string_view text, std::string_view file,
                                Progress progress) {
    ForEachLine(text, faults_.AddFile(file), file, progress,
                [this](Place at, std::string_view line) {
                  line = TrimSpace(line);
                  if (line.empty() || line.front() == '#') return;
                  if (Fault fault = ReadLine(at, line)) {
                    faults_.Add(at, *std::move(fault));
                  }
                });
    DraftBuilder builder(faults_);
    std::map<uint64_t, NodeId> ids;
    for (const uint64_t guid : order_) {
      ListedNode& node = nodes_.at(guid);
      CompleteType(node);
      if (const auto id = builder.AddNode(node.at, std::move(node.spec))) {
        ids[guid] = *id;
      }
    }
    for (const ListedCable& cable : cables_) {
      const auto a = ids.find(cable.nodes[0]);
      const auto b = ids.find(cable.nodes[1]);
      if (a == ids.end() || b == ids.end()) continue;  // reported already
      builder.Connect(
          cable.at, {a->second, cable.ports[0], cable.port_guids[0]},
          {b->second, cable.ports[1], cable.port_guids[1]}, cable.link);
    }
    return builder.Finish(progress);
  }

 private:
  Fault ReadLine(Place at, std::string_view line) {
    ListedEnd ends[2];
    for (ListedEnd& end : ends) {
      if (Fault fault = ReadEnd(line, end)) return fault;
    }
    ListedCable cable;
    cable.at = at;
    cable.link.rate = DefaultLinkRate();
    if (Fault fault = ReadLink(line, cable.link.rate)) return fault;

    for (int i = 0; i < 2; ++i) {
      cable.nodes[i] = static_cast<uint64_t>(ends[i].node.node_guid);
      cable.ports[i] = ends[i].port;
      cable.port_guids[i] = ends[i].port_guid;
      if (Fault fault = AddNode(at, ends[i])) return fault;
    }
    cables_.push_back(cable);
    return std::nullopt;
  }

  // Parses "{ CA-SM Ports:01 ... {node-1} LID:0001 PN:01 }".
  static Fault ReadEnd(std::string_view& line, ListedEnd& end) {
    line = TrimSpace(line);
    if (!line.starts_with('{')) {
      return "a line is two ends of a cable, each in braces: "
             "{ CA Ports:01 ... PN:01 } { SW ... } PHY=4x LOG=ACT SPD=10";
    }
    line = TrimSpace(line.substr(1));
    const std::string_view type = CutBefore(" ", line);
    if (type == "SW" || type == "SW-SM") {
      end.node.type = NodeType::kSwitch;
    } else if (type == "CA" || type == "CA-SM") {
      end.node.type = NodeType::kChannelAdapter;
    } else if (type == "Rt" || type == "RT") {
      end.node.type = NodeType::kRouter;
    } else {
      return absl::StrFormat("\"%s\" is no type of a node: it is CA, SW or Rt",
                             type);
    }
    // The description may contain anything but the words that follow it.
    std::string_view head = CutBefore("{", line);
    const std::string_view description = CutBefore("} LID:", line);
    std::string_view tail = CutBefore("}", line);
    uint64_t ports = 0;
    uint64_t system = 0;
    uint64_t node = 0;
    uint64_t port_guid = 0;
    uint64_t vendor = 0;
    uint64_t device = 0;
    uint64_t number = 0;
    CutBefore("PN:", tail);
    if (!Hex("Ports:", head, ports) || !Hex("SystemGUID:", head, system) ||
        !Hex("NodeGUID:", head, node) || !Hex("PortGUID:", head, port_guid) ||
        !Hex("VenID:", head, vendor) || !Hex("DevID:", head, device) ||
        !HexNumber(TrimSpace(tail), number) || node == 0) {
      return "an end has Ports:, SystemGUID:, NodeGUID:, PortGUID:, VenID:, "
             "DevID:, Rev:, its description in braces, LID: and PN:, "
             "all in hexadecimal";
    }
    end.node.description = description;
    end.node.port_count = static_cast<int>(std::min<uint64_t>(ports, 1000));
    end.node.node_guid = wire::Guid{node};
    end.node.system_image_guid = wire::Guid{system};
    end.node.vendor_id = static_cast<uint32_t>(vendor & 0xffffff);
    // Some versions print 32 bits, of which the first 16 are the ID.
    end.node.device_id =
        static_cast<uint16_t>(device > 0xffff ? device >> 16 : device);
    end.port = static_cast<int>(std::min<uint64_t>(number, 1000));
    end.port_guid = wire::Guid{port_guid};
    return std::nullopt;
  }

  static bool Hex(std::string_view key, std::string_view& text,
                  uint64_t& value) {
    CutBefore(key, text);
    return HexNumber(text.substr(0, text.find(' ')), value);
  }

  static bool HexNumber(std::string_view digits, uint64_t& value) {
    const char* end = digits.data() + digits.size();
    const auto done = std::from_chars(digits.data(), end, value, 16);
    return done.ec == std::errc() && done.ptr == end && !digits.empty();
  }

  // Parses "PHY=4x LOG=ACT SPD=10": the width, and the speed in Gbit/s per
  // lane, which is 2.5 if it is missing.
  static Fault ReadLink(std::string_view line, LinkRate& rate) {
    bool has_speed = false;
    for (line = TrimSpace(line); !line.empty(); line = TrimSpace(line)) {
      const std::string_view word = CutBefore(" ", line);
      std::string_view value = word;
      const std::string_view key = CutBefore("=", value);
      if (key == "PHY") {
        rate.width = ParseLinkWidth(value);
        if (rate.width == 0) {
          return absl::StrFormat("\"%s\" is no width: it is from 1x to 12x",
                                 word);
        }
      } else if (key == "SPD") {
        has_speed = true;
        if (!ParseLaneSpeed(value, rate)) {
          return absl::StrFormat(
              "\"%s\" is no speed of a lane: it is one of "
              "%s",
              word, kLaneSpeeds);
        }
      } else if (key != "LOG") {
        return absl::StrFormat(
            "\"%s\" says nothing of a cable: PHY=, LOG= and "
            "SPD= do",
            word);
      }
    }
    if (!has_speed) ParseLaneSpeed("2.5", rate);
    return std::nullopt;
  }

  Fault AddNode(Place at, ListedEnd& end) {
    const auto guid = static_cast<uint64_t>(end.node.node_guid);
    const auto [found, is_new] = nodes_.try_emplace(guid);
    ListedNode& known = found->second;
    if (is_new) {
      known.spec = std::move(end.node);
      known.at = at;
      order_.push_back(guid);
    } else if (known.spec.type != end.node.type ||
               known.spec.port_count != end.node.port_count) {
      return absl::StrFormat(
          "node 0x%x has another type or number of ports "
          "here than on %s",
          guid, faults_.Refer(at, known.at));
    } else if (known.spec.device_id == 0) {
      known.spec.device_id = end.node.device_id;
    }
    known.port_guids[end.port] = end.port_guid;
    return std::nullopt;
  }

  // ibdm's simulator lists switches as CAs.  But two ports of a CA never have
  // the same GUID, and those of a switch always do.
  static void CompleteType(ListedNode& node) {
    const auto is_own = [&node](const auto& port) {
      return port.second == node.spec.node_guid;
    };
    if (node.port_guids.size() > 1 &&
        std::ranges::all_of(node.port_guids, is_own)) {
      node.spec.type = NodeType::kSwitch;
    }
    if (node.spec.type == NodeType::kSwitch) {
      node.spec.port_guids = {node.port_guids.begin()->second};
    }
    node.spec.name = CanonicalName(node.spec.type, node.spec.node_guid);
  }

  FaultList faults_;
  std::map<uint64_t, ListedNode> nodes_;
  std::vector<uint64_t> order_;
  std::vector<ListedCable> cables_;
};

}  // namespace

absl::StatusOr<Topology> ParseSubnetList(std::string_view text,
                                         std::string_view file,
                                         Progress progress) {
  return SubnetListReader().Read(text, file, progress);
}

}  // namespace ibemu::topology

#include "topology/formats/text/ibstat_text.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_format.h"
#include "topology/fault_list.h"
#include "topology/formats/text/attributes.h"
#include "topology/formats/text/draft_builder.h"
#include "topology/formats/text/lines.h"
#include "topology/topology_builder.h"

namespace ibemu::topology {
namespace {

class IbstatReader {
 public:
  absl::StatusOr<std::vector<IbstatAdapter>> Read(std::string_view text,
                                                  std::string_view file) {
    ForEachLine(text, faults_.AddFile(file), file, NoProgress,
                [this](Place at, std::string_view line) {
                  line = TrimSpace(line);
                  if (!line.empty()) ReadLine(at, line);
                });
    Close();
    if (adapters_.empty() && faults_.empty()) {
      faults_.Add({0, 1},
                  "ibstat's output tells no adapter: it begins with "
                  "CA 'mlx5_0'");
    }
    absl::Status status = faults_.ToStatus();
    if (!status.ok()) return status;
    return std::move(adapters_);
  }

 private:
  void ReadLine(Place at, std::string_view line) {
    if (line.starts_with("CA '")) {
      Close();
      adapter_.emplace();
      begun_ = at;
      std::string_view rest = line.substr(4);
      adapter_->name = CutBefore("'", rest);
      port_ = 0;
      links_ = ethernet_ = 0;
      return;
    }
    std::string_view value = line;
    const std::string_view key = CutBefore(":", value);
    value = TrimSpace(value);
    if (!adapter_) {
      faults_.Add(at,
                  "this belongs to no adapter: no line CA 'mlx5_0' stands "
                  "above it");
    } else if (key == "CA type") {
      SetText(at, value, adapter_->label.hca_type);
    } else if (key == "Firmware version") {
      SetText(at, value, adapter_->label.firmware);
    } else if (key == "Hardware version") {
      SetText(at, value, adapter_->label.hardware);
    } else if (key == "Number of ports") {
      adapter_->port_count =
          static_cast<int>(Number(at, key, value, 1, kMaxPorts));
    } else if (key == "Node GUID") {
      adapter_->node_guid = wire::Guid{Number(at, key, value, 1, ~uint64_t{0})};
    } else if (key == "System image GUID") {
      adapter_->system_image_guid =
          wire::Guid{Number(at, key, value, 0, ~uint64_t{0})};
    } else if (key.starts_with("Port ") && key != "Port GUID") {
      port_ = static_cast<int>(Number(at, "Port", key.substr(5), 0, kMaxPorts));
    } else if (key == "Port GUID") {
      adapter_->port_guids[port_] =
          wire::Guid{Number(at, key, value, 1, ~uint64_t{0})};
    } else if (key == "Link layer") {
      ++links_;
      if (value == "Ethernet") ++ethernet_;
    }  // other values change at any time
  }

  void Close() {
    if (!adapter_) return;
    adapter_->is_ethernet = links_ > 0 && links_ == ethernet_;
    if (adapter_->node_guid == wire::Guid{} || adapter_->port_count == 0) {
      faults_.Add(begun_,
                  absl::StrFormat("\"%s\" has no \"Node GUID\" or no \"Number "
                                  "of ports\" other than 0",
                                  adapter_->name));
    }
    adapters_.push_back(*std::move(adapter_));
    adapter_.reset();
  }

  uint64_t Number(Place at, std::string_view key, std::string_view text,
                  uint64_t low, uint64_t high) {
    const std::optional<uint64_t> number = ParseNumber(text);
    if (number && *number >= low && *number <= high) return *number;
    faults_.Add(at, absl::StrFormat("%s: \"%s\": it is a number from %d to "
                                    "0x%x",
                                    key, text, low, high));
    return low;
  }

  // Checks the text by the rules of specs, where it will end up.
  void SetText(Place at, std::string_view text, std::string& field) {
    NodeSpec node;
    std::string rule;
    if (SetNodeKey("firmware", text, node, rule) == Setting::kDone) {
      field = text;
    } else {
      faults_.Add(at, absl::StrFormat("\"%s\": %s", text, rule));
    }
  }

  FaultList faults_;
  std::vector<IbstatAdapter> adapters_;
  std::optional<IbstatAdapter> adapter_;  // the one being read
  Place begun_;
  int port_ = 0, links_ = 0, ethernet_ = 0;
};

NodeSpec NodeOf(const IbstatAdapter& adapter) {
  NodeSpec node;
  SetDefaultIds(node);
  node.node_guid = adapter.node_guid;
  node.system_image_guid = adapter.system_image_guid;
  node.name = CanonicalName(node.type, node.node_guid);
  node.description = adapter.name.substr(0, 64);
  node.port_count = adapter.port_count;
  auto guid = static_cast<uint64_t>(node.node_guid);
  for (int port = 1; port <= node.port_count; ++port) {
    const auto told = adapter.port_guids.find(port);
    node.port_guids.push_back(
        told == adapter.port_guids.end()
            ? wire::Guid{guid + static_cast<uint64_t>(port)}
            : told->second);
  }
  return node;
}

}  // namespace

absl::StatusOr<std::vector<IbstatAdapter>> ParseIbstat(std::string_view text,
                                                       std::string_view file) {
  return IbstatReader().Read(text, file);
}

void AddAdapters(const std::vector<IbstatAdapter>& adapters,
                 Topology& topology) {
  absl::flat_hash_map<uint64_t, size_t> nodes;
  for (size_t i = 0; i < topology.nodes.size(); ++i) {
    nodes[static_cast<uint64_t>(topology.nodes[i].node_guid)] = i;
  }
  for (const IbstatAdapter& adapter : adapters) {
    if (adapter.is_ethernet) continue;
    const auto [found, is_new] = nodes.try_emplace(
        static_cast<uint64_t>(adapter.node_guid), topology.nodes.size());
    if (is_new) topology.nodes.push_back(NodeOf(adapter));
    topology.nodes[found->second].label =
        std::make_shared<const mad::DeviceLabel>(adapter.label);
  }
}

}  // namespace ibemu::topology

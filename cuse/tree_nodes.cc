#include "cuse/tree_nodes.h"

#include <algorithm>
#include <utility>

#include "cuse/issm_file.h"
#include "cuse/umad_file.h"

namespace ibemu::cuse {

std::unique_ptr<File> DeviceNode::NewFile() const {
  if (is_issm) return std::make_unique<IssmFile>(host, port);
  return std::make_unique<UmadFile>(host, port);
}

TreeNodes::TreeNodes(const sysfs::View& view) : sysfs_(BuildTree(view)) {
  TreeNode root;
  root.parent = kRoot;
  Add(std::move(root));
  AddDevices(view);
  AddEntry(kRoot, "sys", *sysfs_);
  for (TreeNode& node : nodes_) {
    std::sort(node.children.begin(), node.children.end(),
              [this](uint64_t a, uint64_t b) {
                return nodes_[a - 1].name < nodes_[b - 1].name;
              });
  }
}

uint64_t TreeNodes::Add(TreeNode node) {
  node.number = nodes_.size() + 1;
  const uint64_t parent = node.parent;
  nodes_.push_back(std::move(node));
  const uint64_t number = nodes_.size();
  if (number != kRoot) nodes_[parent - 1].children.push_back(number);
  return number;
}

void TreeNodes::AddDevices(const sysfs::View& view) {
  TreeNode directory;
  directory.name = "dev";
  directory.parent = kRoot;
  const uint64_t parent = Add(std::move(directory));

  for (const sysfs::ViewDevice& shown : view.devices) {
    const mad::Device& device = shown.host->device();
    const int first = device.first_port();
    for (int port = first; port <= device.last_port(); ++port) {
      const std::string number =
          std::to_string(shown.first_umad + port - first);
      for (const bool is_issm : {false, true}) {
        TreeNode node;
        node.kind = TreeNode::Kind::kDevice;
        node.name = (is_issm ? "issm" : "umad") + number;
        node.parent = parent;
        node.device = {shown.host, port, is_issm};
        Add(std::move(node));
      }
    }
  }
}

void TreeNodes::AddEntry(uint64_t parent, std::string name,
                         const sysfs::Entry& entry) {
  TreeNode node;
  switch (entry.kind) {
    case sysfs::Entry::Kind::kDirectory:
      node.kind = TreeNode::Kind::kDirectory;
      break;
    case sysfs::Entry::Kind::kText:
      node.kind = TreeNode::Kind::kText;
      break;
    case sysfs::Entry::Kind::kLink:
      node.kind = TreeNode::Kind::kLink;
      break;
  }
  node.name = std::move(name);
  node.parent = parent;
  node.entry = &entry;
  const uint64_t number = Add(std::move(node));
  for (const auto& [child_name, child] : entry.children) {
    AddEntry(number, child_name, *child);
  }
}

const TreeNode* TreeNodes::Find(uint64_t id) const {
  if (const auto it = remembered_.find(id); it != remembered_.end()) {
    id = it->second;
  }
  return id >= 1 && id <= nodes_.size() ? &nodes_[id - 1] : nullptr;
}

const TreeNode* TreeNodes::Child(uint64_t directory,
                                 std::string_view name) const {
  const TreeNode* const parent = Find(directory);
  if (parent == nullptr) return nullptr;
  const auto it =
      std::lower_bound(parent->children.begin(), parent->children.end(), name,
                       [this](uint64_t child, std::string_view wanted) {
                         return nodes_[child - 1].name < wanted;
                       });
  if (it == parent->children.end()) return nullptr;
  const TreeNode& child = nodes_[*it - 1];
  return child.name == name && !child.gone() ? &child : nullptr;
}

uint64_t TreeNodes::Remember(const TreeNode& node) {
  if (node.kind != TreeNode::Kind::kDevice) return node.number;
  remembered_.emplace(++last_id_, node.number);
  return last_id_;
}

void TreeNodes::Forget(uint64_t id) { remembered_.erase(id); }

}  // namespace ibemu::cuse

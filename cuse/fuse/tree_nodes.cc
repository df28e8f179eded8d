#include "cuse/fuse/tree_nodes.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
namespace ibemu::cuse {
namespace {

using sysfs::ViewDevice;

TreeNode::Kind KindOf(const sysfs::Entry& entry) {
  switch (entry.kind) {
    case sysfs::Entry::Kind::kText:
      return TreeNode::Kind::kText;
    case sysfs::Entry::Kind::kLink:
      return TreeNode::Kind::kLink;
    case sysfs::Entry::Kind::kDirectory:
      break;
  }
  return TreeNode::Kind::kDirectory;
}

bool Shows(const std::vector<ViewDevice>& devices, const ViewDevice& wanted) {
  return std::any_of(
      devices.begin(), devices.end(),
      [&](const ViewDevice& device) { return device.host == wanted.host; });
}

const std::shared_ptr<TreeNode>* FindChild(const TreeNode& directory,
                                           std::string_view name) {
  const auto& children = directory.children;
  const auto child =
      std::find_if(children.begin(), children.end(),
                   [name](const auto& node) { return node->name == name; });
  return child == children.end() ? nullptr : &*child;
}

}  // namespace

TreeNodes::TreeNodes(const sysfs::View& view)
    : sysfs_(BuildTree(view)), shown_(view.devices) {
  TreeNode& root = Add(nullptr, "", TreeNode::Kind::kDirectory);
  dev_ = &Add(&root, "dev", TreeNode::Kind::kDirectory);
  dev_->changes = true;
  for (const ViewDevice& device : shown_) AddDeviceFiles(device);
  if (view.rdma_cm) {
    AddCharacter(sysfs::kRdmaCmNode, sysfs::kRdmaCm,
                 {nullptr, DeviceNode::Kind::kRdmaCm, 0, 0});
  }
  AddEntry(root, "sys", sysfs_);
  sys_ = root.children.back().get();
}

void TreeNodes::Update(const sysfs::View& view) {
  for (const ViewDevice& device : shown_) {
    if (Shows(view.devices, device)) continue;
    RemoveDevice(*sysfs_, view, device);
    RemoveChildren(*dev_, [&](const TreeNode& file) {
      return file.device.host == device.host;
    });
  }
  for (const ViewDevice& device : view.devices) {
    if (Shows(shown_, device)) continue;
    AddDevice(*sysfs_, view, device);
    AddDeviceFiles(device);
  }
  shown_ = view.devices;
  Follow(*sys_);
}

TreeNode& TreeNodes::Add(TreeNode* parent, std::string name,
                         TreeNode::Kind kind) {
  auto node = std::make_shared<TreeNode>();
  node->kind = kind;
  node->name = std::move(name);
  node->number = ++last_number_;
  node->parent = parent == nullptr ? node->number : parent->number;
  nodes_.emplace(node->number, node);
  if (parent != nullptr) parent->children.push_back(node);
  return *node;
}

void TreeNodes::AddDeviceFiles(const ViewDevice& device) {
  for (const sysfs::MadNode& file : MadNodesOf(device)) {
    Add(dev_, file.name, TreeNode::Kind::kDevice).device = {
        device.host,
        file.is_issm ? DeviceNode::Kind::kIssm : DeviceNode::Kind::kUmad,
        file.port, device.slot};
  }
  if (device.uverbs) {
    AddCharacter(absl::StrCat("uverbs", *device.uverbs),
                 {sysfs::kMajor, sysfs::kFirstUverbs + *device.uverbs},
                 {device.host, DeviceNode::Kind::kUverbs, 0, device.slot});
  }
}

void TreeNodes::AddCharacter(const std::string& name,
                             sysfs::DeviceNumber number,
                             const DeviceNode& device) {
  TreeNode& shown = Add(dev_, name, TreeNode::Kind::kCharacter);
  shown.device = device;
  shown.device_number = number;
  TreeNode& file = Add(dev_, absl::StrCat(".", name), TreeNode::Kind::kDevice);
  file.device = device;
  file.hidden = true;
}

void TreeNodes::AddEntry(TreeNode& parent, const std::string& name,
                         std::shared_ptr<const sysfs::Entry> entry) {
  TreeNode& node = Add(&parent, name, KindOf(*entry));
  node.changes = entry->changes;
  for (const auto& [child_name, child] : entry->children) {
    AddEntry(node, child_name, child);
  }
  node.entry = std::move(entry);
}

void TreeNodes::Follow(TreeNode& directory) {
  if (!directory.changes) {
    for (const auto& child : directory.children) {
      if (child->kind == TreeNode::Kind::kDirectory) Follow(*child);
    }
    return;
  }
  const auto& entries = directory.entry->children;
  RemoveChildren(directory, [&](const TreeNode& child) {
    const auto entry = entries.find(child.name);
    return entry == entries.end() || entry->second != child.entry;
  });
  for (const auto& [name, entry] : entries) {
    if (FindChild(directory, name) != nullptr) continue;
    AddEntry(directory, name, entry);
  }
}

template <class Condition>
void TreeNodes::RemoveChildren(TreeNode& directory, Condition which) {
  std::erase_if(directory.children, [&](const auto& child) {
    if (!which(*child)) return false;
    Lose(*child);
    return true;
  });
}

void TreeNodes::Lose(TreeNode& node) {
  node.gone = true;
  for (const auto& child : std::exchange(node.children, {})) Lose(*child);
  nodes_.erase(node.number);
}

TreeNodes::NodePtr TreeNodes::Find(uint64_t id) const {
  if (const auto it = nodes_.find(id); it != nodes_.end()) return it->second;
  const auto it = remembered_.find(id);
  return it == remembered_.end() ? nullptr : it->second.node;
}

TreeNodes::NodePtr TreeNodes::Child(uint64_t directory,
                                    std::string_view name) const {
  const NodePtr parent = Find(directory);
  if (parent == nullptr) return nullptr;
  const auto* child = FindChild(*parent, name);
  return child == nullptr ? nullptr : *child;
}

uint64_t TreeNodes::Remember(const NodePtr& node) {
  const bool device = node->kind == TreeNode::Kind::kDevice;
  const uint64_t id = device ? ++last_id_ : node->number;
  Remembered& remembered = remembered_[id];
  remembered.node = node;
  ++remembered.times;
  return id;
}

void TreeNodes::Forget(uint64_t id, uint64_t times) {
  const auto it = remembered_.find(id);
  if (it == remembered_.end()) return;
  it->second.times -= std::min(times, it->second.times);
  if (it->second.times == 0) remembered_.erase(it);
}

}  // namespace ibemu::cuse

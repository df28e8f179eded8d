// The inodes of a FuseTree.
#ifndef IBEMU_CUSE_TREE_NODES_H_
#define IBEMU_CUSE_TREE_NODES_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "cuse/file.h"
#include "sysfs/tree.h"

namespace ibemu::cuse {

// A device file in `dev/`.
struct DeviceNode {
  std::shared_ptr<mad::Host> host;
  int port = 0;
  bool is_issm = false;

  std::unique_ptr<File> NewFile() const;
};

struct TreeNode {
  enum class Kind { kDirectory, kText, kLink, kDevice };

  bool gone() const { return kind == Kind::kDevice && device.host->removed(); }

  Kind kind = Kind::kDirectory;
  std::string name;
  uint64_t number = 0;                  // what ls -i shows
  uint64_t parent = 0;                  // of a directory
  const sysfs::Entry* entry = nullptr;  // of what comes from sysfs
  DeviceNode device;                    // of kDevice
  std::vector<uint64_t> children;       // of a directory, by name
};

// The shape is fixed.  But each look-up of a device file gives it a node id of
// its own, since the kernel serialises the writers of an inode: programs must
// not wait for each other.
class TreeNodes {
 public:
  static constexpr uint64_t kRoot = 1;

  // `view` must outlive it.
  explicit TreeNodes(const sysfs::View& view);

  // Null when there is none.
  const TreeNode* Find(uint64_t id) const;

  // Null when `directory` is none or has no such child, or that is gone.
  const TreeNode* Child(uint64_t directory, std::string_view name) const;

  // The id to give the kernel for a node that it looked up; Forget() as often
  // as it does.
  uint64_t Remember(const TreeNode& node);
  void Forget(uint64_t id);

  // Ids of device nodes that the kernel knows.
  size_t remembered() const { return remembered_.size(); }

 private:
  uint64_t Add(TreeNode node);
  void AddDevices(const sysfs::View& view);
  void AddEntry(uint64_t parent, std::string name, const sysfs::Entry& entry);

  std::unique_ptr<sysfs::Entry> sysfs_;
  std::vector<TreeNode> nodes_;  // by number - 1
  uint64_t last_id_ = uint64_t{1} << 32;
  absl::flat_hash_map<uint64_t, uint64_t> remembered_;  // id to number
};

}  // namespace ibemu::cuse

#endif  // IBEMU_CUSE_TREE_NODES_H_

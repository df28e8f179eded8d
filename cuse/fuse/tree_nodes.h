// TreeNodes: the inodes of a FuseTree.
#ifndef IBEMU_CUSE_FUSE_TREE_NODES_H_
#define IBEMU_CUSE_FUSE_TREE_NODES_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "sysfs/tree.h"

namespace ibemu::cuse {

// A device file in `dev/`.
struct DeviceNode {
  std::shared_ptr<mad::Host> host;  // null: kRdmaCm, which serves all
  enum class Kind { kUmad, kIssm, kUverbs, kRdmaCm };
  Kind kind = Kind::kUmad;
  int port = 0;  // of kUmad and kIssm
  int slot = 0;  // of kUverbs: sysfs::ViewDevice's
};

// An inode.
struct TreeNode {
  // kCharacter looks like a character device to stat().  The kernel opens no
  // such file on a user's mount.  A client that may open it is given the
  // kDevice of the same name with a dot before it, which is not listed.
  enum class Kind { kDirectory, kText, kLink, kDevice, kCharacter };

  bool listed() const { return !hidden && (entry == nullptr || entry->listed); }

  Kind kind = Kind::kDirectory;
  std::string name;
  uint64_t number = 0;                              // what ls -i shows
  uint64_t parent = 0;                              // of the directory above
  std::shared_ptr<const sysfs::Entry> entry;        // of nodes from sysfs
  DeviceNode device;                                // of kDevice and kCharacter
  sysfs::DeviceNumber device_number;                // of kCharacter
  std::vector<std::shared_ptr<TreeNode>> children;  // in the order of numbers
  bool changes = false;  // devices come and go among the children
  bool hidden = false;
  bool gone = false;  // removed, though clients may still use it
};

// The inodes of a view, which follow its changes.  A removed node is remembered
// as long as the kernel knows its id.  Numbers are not reused, so the kernel
// never takes a new node for an old one.
//
// Each look-up of a device file gives it a node id of its own, because the
// kernel may let one writer of an inode wait for another
// (FuseTreeOperations::HasParallelWrites()), and programs must not wait for
// each other.
class TreeNodes {
 public:
  using NodePtr = std::shared_ptr<const TreeNode>;

  static constexpr uint64_t kRoot = 1;

  explicit TreeNodes(const sysfs::View& view);

  // Updates the nodes after the devices of `view`, always the same one, have
  // changed.
  void Update(const sysfs::View& view);

  // Returns null if there is none.
  NodePtr Find(uint64_t id) const;

  // Returns null if `directory` is not a directory or has no such child.
  NodePtr Child(uint64_t directory, std::string_view name) const;

  // Returns the id to give to the kernel for a node that it looked up.
  // Forget() is to be called whenever the kernel forgets look-ups of that id.
  uint64_t Remember(const NodePtr& node);
  void Forget(uint64_t id, uint64_t times);

 private:
  struct Remembered {
    NodePtr node;
    uint64_t times = 0;
  };

  TreeNode& Add(TreeNode* parent, std::string name, TreeNode::Kind kind);
  void AddEntry(TreeNode& parent, const std::string& name,
                std::shared_ptr<const sysfs::Entry> entry);
  void AddDeviceFiles(const sysfs::ViewDevice& device);
  // Adds a kCharacter and the kDevice behind it.
  void AddCharacter(const std::string& name, sysfs::DeviceNumber number,
                    const DeviceNode& device);
  // Updates the nodes below `directory` to those of its entry.
  void Follow(TreeNode& directory);
  template <class Condition>
  void RemoveChildren(TreeNode& directory, Condition which);
  void Lose(TreeNode& node);

  std::shared_ptr<sysfs::Entry> sysfs_;
  std::vector<sysfs::ViewDevice> shown_;
  uint64_t last_number_ = 0;
  uint64_t last_id_ = uint64_t{1} << 32;
  absl::flat_hash_map<uint64_t, NodePtr> nodes_;          // by number
  absl::flat_hash_map<uint64_t, Remembered> remembered_;  // by id
  TreeNode* dev_ = nullptr;
  TreeNode* sys_ = nullptr;
};

}  // namespace ibemu::cuse

#endif  // IBEMU_CUSE_FUSE_TREE_NODES_H_

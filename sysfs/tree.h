// A pure tree of directories, texts and links: what sysfs would show.
#ifndef IBEMU_SYSFS_TREE_H_
#define IBEMU_SYSFS_TREE_H_

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "sysfs/view.h"

namespace ibemu::sysfs {

// An Entry is a directory, text or link in the tree.  Texts are made when they
// are read.
struct Entry {
  enum class Kind { kDirectory, kText, kLink };
  Kind kind = Kind::kDirectory;
  int mode = 0555;
  int64_t size =
      4096;  // st_size of kText: as any text, but 256 for PCI's config
  // kDirectory.  An entry may be kept by others beyond its time in the tree.
  std::map<std::string, std::shared_ptr<Entry>> children;
  bool changes = false;  // kDirectory: devices come and go among the children
  // kText.  Returns the bytes, newline included; PCI's config is binary.
  // Errors: Unavailable if the device is gone, InvalidArgument where Linux has
  // EINVAL.
  std::function<absl::StatusOr<std::string>()> read;
  std::function<absl::Status(std::string_view)> write;  // empty: read-only
  std::string target;                                   // kLink, relative
  bool listed = true;  // false: a listing leaves it out
};

// Returns the tree of `view`, as it is under /sys: "class/infiniband",
// "class/infiniband_mad", "class/infiniband_verbs", "devices/pci1bed:00",
// "bus/pci", and, for rdma_cm, "class/misc" and "devices/virtual/misc", and,
// where devices have networks, "class/net".  The
// PCI domain 1bed is ibemu's own, so that the tree can be laid over a real
// machine's.  The device in slot N is PCI function 1bed:00:N.0.
std::unique_ptr<Entry> BuildTree(const View& view);

// Change the tree when a device has been added to the view, or is being removed
// from it (it may be in the view still).  Only children of directories with
// `changes` change.
void AddDevice(Entry& root, const View& view, const ViewDevice& device);
void RemoveDevice(Entry& root, const View& view, const ViewDevice& device);

}  // namespace ibemu::sysfs

#endif  // IBEMU_SYSFS_TREE_H_

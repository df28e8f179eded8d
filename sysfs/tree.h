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

// One entry.  Its shape is fixed for a view; texts are made when they are read.
struct Entry {
  enum class Kind { kDirectory, kText, kLink };
  Kind kind = Kind::kDirectory;
  int mode = 0555;
  int64_t size =
      4096;  // st_size of kText; PCI's config says 256, or it is text
  std::map<std::string, std::unique_ptr<Entry>> children;  // kDirectory
  // kText.  Bytes, newline included; config is binary.  Errors: Unavailable
  // when the device is gone, InvalidArgument where Linux says EINVAL.
  std::function<absl::StatusOr<std::string>()> read;
  std::function<absl::Status(std::string_view)> write;  // empty: read-only
  std::string target;                                   // kLink, relative
};

// The tree of `view`, as under /sys: "class/infiniband",
// "class/infiniband_mad", "class/infiniband_verbs", "devices/pci1bed:00",
// "bus/pci".  The PCI domain 1bed is ibemu's own, so that the tree can be laid
// over a real machine's.  Names and links are fixed; device N of the view is
// PCI function 1bed:00:N.0.  The view must outlive the tree.
std::unique_ptr<Entry> BuildTree(const View& view);

}  // namespace ibemu::sysfs

#endif  // IBEMU_SYSFS_TREE_H_

// A pure tree of directories, texts and links: what sysfs would show.
#ifndef IBEMU_SYSFS_TREE_H_
#define IBEMU_SYSFS_TREE_H_

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
  std::map<std::string, std::unique_ptr<Entry>> children;  // kDirectory
  // kText.  Errors become errno in cuse/errno.cc.
  std::function<absl::StatusOr<std::string>()> read;
  std::function<absl::Status(std::string_view)> write;  // empty: read-only
  std::string target;                                   // kLink
};

// The tree of `view`: "class/infiniband", "class/infiniband_mad",
// "class/infiniband_verbs", "class/misc/...", "devices/pci...", "bus/pci/...".
// The view must outlive it.
std::unique_ptr<Entry> BuildTree(const View& view);

}  // namespace ibemu::sysfs

#endif  // IBEMU_SYSFS_TREE_H_

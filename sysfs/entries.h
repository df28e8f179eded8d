// Functions that build the tree.
#ifndef IBEMU_SYSFS_ENTRIES_H_
#define IBEMU_SYSFS_ENTRIES_H_

#include <functional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "sysfs/tree.h"

namespace ibemu::sysfs {

// Returns the bytes of a file; called at each read.
using Reader = std::function<absl::StatusOr<std::string>()>;

// Returns the directory at `path` below `root`.  Creates it, and those above
// it, if they are missing.
Entry& Directory(Entry& root, std::string_view path);

// Adds a file that always contains `line` and a newline.
Entry& AddLine(Entry& directory, std::string_view name, std::string line);

// Adds a file whose bytes come from `read`, at each read.
Entry& AddText(Entry& directory, std::string_view name, Reader read);

// Adds a link at `path` to `target`, both as seen from `root`.  The text of the
// link is relative, as in sysfs.
void AddLink(Entry& root, std::string_view path, std::string_view target);

// Removes the entry at `path`, which must be there.
void Remove(Entry& root, std::string_view path);

}  // namespace ibemu::sysfs

#endif  // IBEMU_SYSFS_ENTRIES_H_

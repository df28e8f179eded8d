// The verbs with which the tree is built.
#ifndef IBEMU_SYSFS_ENTRIES_H_
#define IBEMU_SYSFS_ENTRIES_H_

#include <functional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "sysfs/tree.h"

namespace ibemu::sysfs {

using Reader = std::function<absl::StatusOr<std::string>()>;

// The directory at `path` below `root`; makes it, and those above it, if need
// be.
Entry& Directory(Entry& root, std::string_view path);

// A file that always says `line` and a newline.
Entry& AddLine(Entry& directory, std::string_view name, std::string line);

// A file whose bytes are made at each read.
Entry& AddText(Entry& directory, std::string_view name, Reader read);

// A link at `path` to `target`, both seen from `root`; the text of the link is
// relative, as in sysfs.
void AddLink(Entry& root, std::string_view path, std::string_view target);

// Takes away what is at `path`, which must be there.
void Remove(Entry& root, std::string_view path);

}  // namespace ibemu::sysfs

#endif  // IBEMU_SYSFS_ENTRIES_H_

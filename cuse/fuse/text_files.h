// TextFiles: the open sysfs files.
#ifndef IBEMU_CUSE_FUSE_TEXT_FILES_H_
#define IBEMU_CUSE_FUSE_TEXT_FILES_H_

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cuse/fuse/slot_table.h"
#include "cuse/fuse/tree_nodes.h"

namespace ibemu::cuse {

// The open texts.  As in Linux's sysfs, a text is made when a read starts at
// its beginning, and stays the same for reads further on.
class TextFiles {
 public:
  // Returns the number of the new open file.  REQUIRES: `node` is of kind
  // kText.
  uint64_t Open(std::shared_ptr<const TreeNode> node);

  // Returns at most `size` bytes from `offset` on, valid until the next call.
  //
  // Errors: the entry's; NotFound if `file` is not open, Unavailable if the
  // node is gone, PermissionDenied if the text is write-only.
  absl::StatusOr<std::string_view> Read(uint64_t file, uint64_t offset,
                                        size_t size);
  // Writes a text.  The offset of a write has no meaning.  Errors: as of
  // Read(), with PermissionDenied if the text is read-only.
  absl::Status Write(uint64_t file, std::string_view text);
  void Release(uint64_t file);

 private:
  struct OpenText {
    std::shared_ptr<const TreeNode> node;
    std::string text;
    bool made = false;
  };
  SlotTable<OpenText> open_;
};

}  // namespace ibemu::cuse

#endif  // IBEMU_CUSE_FUSE_TEXT_FILES_H_

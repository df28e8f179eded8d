#include "cuse/fuse/text_files.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "base/status_macros.h"

namespace ibemu::cuse {

namespace {

absl::Status CheckPresent(const TreeNode& node) {
  if (!node.gone) return absl::OkStatus();
  return absl::UnavailableError("the device is gone");
}

}  // namespace

uint64_t TextFiles::Open(std::shared_ptr<const TreeNode> node) {
  return open_.Add(std::make_unique<OpenText>(
      OpenText{std::move(node), std::string(), false}));
}

absl::StatusOr<std::string_view> TextFiles::Read(uint64_t file, uint64_t offset,
                                                 size_t size) {
  OpenText* const open = open_.Find(file);
  if (open == nullptr) return absl::NotFoundError("not an open file");
  IBEMU_RETURN_IF_ERROR(CheckPresent(*open->node));
  const sysfs::Entry& entry = *open->node->entry;
  if (!entry.read) return absl::PermissionDeniedError("write-only");
  if (offset == 0 || !open->made) {
    IBEMU_ASSIGN_OR_RETURN(open->text, entry.read());
    open->made = true;
  }
  const std::string_view text = open->text;
  return text.substr(std::min<uint64_t>(offset, text.size()), size);
}

absl::Status TextFiles::Write(uint64_t file, std::string_view text) {
  OpenText* const open = open_.Find(file);
  if (open == nullptr) return absl::NotFoundError("not an open file");
  IBEMU_RETURN_IF_ERROR(CheckPresent(*open->node));
  const sysfs::Entry& entry = *open->node->entry;
  if (!entry.write) return absl::PermissionDeniedError("read-only");
  return entry.write(text);
}

void TextFiles::Release(uint64_t file) { open_.Remove(file); }

}  // namespace ibemu::cuse

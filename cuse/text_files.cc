#include "cuse/text_files.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "base/status_macros.h"

namespace ibemu::cuse {

uint64_t TextFiles::Open(const sysfs::Entry& entry) {
  return open_.Add(
      std::make_unique<OpenText>(OpenText{&entry, std::string(), false}));
}

absl::StatusOr<std::string_view> TextFiles::Read(uint64_t file, uint64_t offset,
                                                 size_t size) {
  OpenText* const open = open_.Find(file);
  if (open == nullptr) return absl::NotFoundError("not an open file");
  if (!open->entry->read) return absl::PermissionDeniedError("write-only");
  if (offset == 0 || !open->made) {
    IBEMU_ASSIGN_OR_RETURN(open->text, open->entry->read());
    open->made = true;
  }
  const std::string_view text = open->text;
  return text.substr(std::min<uint64_t>(offset, text.size()), size);
}

absl::Status TextFiles::Write(uint64_t file, std::string_view text) {
  OpenText* const open = open_.Find(file);
  if (open == nullptr) return absl::NotFoundError("not an open file");
  if (!open->entry->write) return absl::PermissionDeniedError("read-only");
  return open->entry->write(text);
}

void TextFiles::Release(uint64_t file) { open_.Remove(file); }

}  // namespace ibemu::cuse

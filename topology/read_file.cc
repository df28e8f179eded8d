#include "topology/read_file.h"

#include <cerrno>
#include <cstdio>
#include <memory>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace ibemu::topology {
namespace {

absl::Status Explain(int error, const std::string& path) {
  switch (error) {
    case ENOENT:
      return absl::NotFoundError(absl::StrCat(path, ": no such file"));
    case EACCES:
      return absl::PermissionDeniedError(
          absl::StrCat(path, ": you may not read this file"));
    case EISDIR:
      return absl::InvalidArgumentError(
          absl::StrCat(path, ": this is a directory, not a file"));
    default:
      return absl::ErrnoToStatus(error, path);
  }
}

}  // namespace

absl::StatusOr<std::string> ReadFile(const std::string& path) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(
      std::fopen(path == "-" ? "/dev/stdin" : path.c_str(), "re"),
      [](std::FILE* stream) { return std::fclose(stream); });
  if (file == nullptr) return Explain(errno, path);

  constexpr size_t kChunk = 1 << 20;
  std::string text;
  for (size_t got = kChunk; got == kChunk;) {
    const size_t before = text.size();
    text.resize(before + kChunk);
    got = std::fread(text.data() + before, 1, kChunk, file.get());
    text.resize(before + got);
  }
  if (std::ferror(file.get()) != 0) return Explain(errno, path);
  return text;
}

}  // namespace ibemu::topology

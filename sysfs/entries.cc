#include "sysfs/entries.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"

namespace ibemu::sysfs {
namespace {

Entry& Child(Entry& parent, std::string_view name) {
  std::shared_ptr<Entry>& child = parent.children[std::string(name)];
  if (child == nullptr) child = std::make_shared<Entry>();
  return *child;
}

std::vector<std::string> Parts(std::string_view path) {
  return absl::StrSplit(std::string(path), '/', absl::SkipEmpty());
}

// Returns the path from the link at `path` to `target`.  It always ends in the
// target's own name, because scripts take a device's PCI address from its
// basename.
std::string Relative(std::string_view path, std::string_view target) {
  const std::vector<std::string> from = Parts(path), to = Parts(target);
  const auto last = from.end() - 1;  // the link's own name
  const auto [a, b] =
      std::mismatch(from.begin(), last, to.begin(), to.end() - 1);
  std::vector<std::string> steps(last - a, "..");
  steps.insert(steps.end(), b, to.end());
  return absl::StrJoin(steps, "/");
}

}  // namespace

Entry& Directory(Entry& root, std::string_view path) {
  Entry* at = &root;
  for (const std::string& part : Parts(path)) at = &Child(*at, part);
  return *at;
}

Entry& AddText(Entry& directory, std::string_view name, Reader read) {
  Entry& entry = Child(directory, name);
  entry.kind = Entry::Kind::kText;
  entry.mode = 0444;
  entry.read = std::move(read);
  return entry;
}

Entry& AddLine(Entry& directory, std::string_view name, std::string line) {
  absl::StrAppend(&line, "\n");
  return AddText(directory, name, [line = std::move(line)] { return line; });
}

void AddLink(Entry& root, std::string_view path, std::string_view target) {
  Entry& entry = Directory(root, path);
  entry.kind = Entry::Kind::kLink;
  entry.mode = 0777;
  entry.target = Relative(path, target);
  entry.listed = true;
}

void Remove(Entry& root, std::string_view path) {
  const size_t slash = path.rfind('/');
  Directory(root, path.substr(0, slash))
      .children.erase(std::string(path.substr(slash + 1)));
}

}  // namespace ibemu::sysfs

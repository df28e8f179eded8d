#include "topology/fault_list.h"

#include <algorithm>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_format.h"

namespace ibemu::topology {
namespace {

constexpr size_t kMaxText = 400;  // bytes in the text of one fault

}  // namespace

int FaultList::AddFile(std::string_view name) {
  files_.emplace_back(name);
  return static_cast<int>(files_.size()) - 1;
}

void FaultList::Add(Place at, std::string what) {
  if (!Listens()) {
    ++untold_;
    return;
  }
  // The text may quote the file, which may contain any bytes.
  if (what.size() > kMaxText) what.replace(kMaxText, what.npos, "...");
  for (char& c : what) {
    if (absl::ascii_iscntrl(static_cast<unsigned char>(c))) c = '?';
  }
  // A cable is checked from both ends, which may give the same fault twice.
  if (std::ranges::find(faults_, Fault{at, what}) != faults_.end()) return;
  faults_.push_back({at, std::move(what)});
}

std::string FaultList::Refer(Place at, Place there) const {
  if (at.file == there.file) return absl::StrFormat("line %d", there.line);
  return absl::StrFormat("%s:%d", files_[static_cast<size_t>(there.file)],
                         there.line);
}

absl::Status FaultList::ToStatus() const {
  if (faults_.empty()) return absl::OkStatus();
  std::vector<Fault> sorted = faults_;
  std::ranges::stable_sort(sorted, {}, &Fault::at);
  std::string text;
  for (const Fault& fault : sorted) {
    if (!text.empty()) text += '\n';
    absl::StrAppendFormat(&text, "%s:%d: %s",
                          files_[static_cast<size_t>(fault.at.file)],
                          fault.at.line, fault.what);
  }
  if (untold_ > 0) absl::StrAppendFormat(&text, "\nand %d more", untold_);
  return absl::InvalidArgumentError(text);
}

}  // namespace ibemu::topology

#include "daemon/subnet/fault_names.h"

#include <utility>

#include "absl/strings/str_cat.h"

namespace ibemu::daemon {

void FaultNames::Add(uint32_t number, std::string name) {
  names_[number] = {.text = std::move(name), .removed = false};
}

void FaultNames::Remove(uint32_t number) {
  const auto found = names_.find(number);
  if (found == names_.end() || found->second.removed) return;
  found->second.removed = true;
  removed_.push_back(number);
  if (removed_.size() <= kMaxRemoved) return;
  names_.erase(removed_.front());
  removed_.pop_front();
}

std::string FaultNames::Of(uint32_t number) const {
  const auto found = names_.find(number);
  if (found == names_.end()) return "";
  const Name& name = found->second;
  return name.removed ? absl::StrCat(name.text, ", removed since") : name.text;
}

}  // namespace ibemu::daemon

#include "mad/method_registry.h"

#include <algorithm>

#include "absl/strings/str_format.h"

namespace ibemu::mad {

MethodRegistry::Key MethodRegistry::KeyOf(const Registration& registration) {
  const bool oui = HasOui(MgmtClass{registration.mgmt_class});
  return KeyOf(oui ? registration.oui : 0, registration.mgmt_class_version,
               registration.mgmt_class);
}

absl::Status MethodRegistry::Add(AgentCore& agent,
                                 const Registration& registration) {
  if (registration.mgmt_class == 0) return absl::OkStatus();

  const Key key = KeyOf(registration);
  auto found = tables_.find(key);
  if (found != tables_.end()) {
    for (size_t method = 0; method < kMethods; ++method) {
      if (registration.methods[method] && (*found->second)[method] != nullptr) {
        return absl::InvalidArgumentError(
            absl::StrFormat("method 0x%02x of class 0x%02x is another agent's",
                            method, registration.mgmt_class));
      }
    }
  } else {
    if (HasOui(MgmtClass{registration.mgmt_class})) {
      int& ouis = ouis_[KeyOf(0, registration.mgmt_class_version,
                              registration.mgmt_class)];
      if (ouis == kOuis) {
        return absl::ResourceExhaustedError(
            absl::StrFormat("class 0x%02x already has agents of %d OUIs",
                            registration.mgmt_class, kOuis));
      }
      ++ouis;
    }
    found = tables_.emplace(key, std::make_unique<Table>()).first;
  }
  for (size_t method = 0; method < kMethods; ++method) {
    if (registration.methods[method]) (*found->second)[method] = &agent;
  }
  return absl::OkStatus();
}

void MethodRegistry::Remove(const AgentCore& agent,
                            const Registration& registration) {
  if (registration.mgmt_class == 0) return;

  const auto found = tables_.find(KeyOf(registration));
  if (found == tables_.end()) return;
  Table& table = *found->second;
  std::replace(table.begin(), table.end(), const_cast<AgentCore*>(&agent),
               static_cast<AgentCore*>(nullptr));
  // As in Linux, the OUI is free when no method is taken, even if an agent with
  // an empty mask is left.
  if (std::any_of(table.begin(), table.end(),
                  [](const AgentCore* user) { return user != nullptr; })) {
    return;
  }
  tables_.erase(found);
  if (HasOui(MgmtClass{registration.mgmt_class})) {
    --ouis_[KeyOf(0, registration.mgmt_class_version, registration.mgmt_class)];
  }
}

AgentCore* MethodRegistry::Find(const MadBytes& mad) const {
  const auto mgmt_class = wire::Get<&MadHeader::mgmt_class>(mad);
  const auto found =
      tables_.find(KeyOf(HasOui(mgmt_class) ? OuiOf(mad) : 0,
                         wire::Get<&MadHeader::class_version>(mad),
                         static_cast<uint8_t>(mgmt_class)));
  if (found == tables_.end()) return nullptr;
  const auto method = static_cast<uint8_t>(wire::Get<&MadHeader::method>(mad));
  return (*found->second)[method % kMethods];
}

}  // namespace ibemu::mad

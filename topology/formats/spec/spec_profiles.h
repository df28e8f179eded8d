// The profiles of a YAML spec: what many nodes have, said once.
#ifndef IBEMU_TOPOLOGY_FORMATS_SPEC_SPEC_PROFILES_H_
#define IBEMU_TOPOLOGY_FORMATS_SPEC_SPEC_PROFILES_H_

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "topology/fault_list.h"
#include "topology/formats/spec/spec_checks.h"
#include "topology/formats/spec/spec_draft.h"
#include "topology/formats/spec/spec_value.h"
#include "topology/topology.h"

namespace ibemu::topology {

// What a profile gives to the nodes that it is for.
struct SpecProfile {
  const SpecEntry* entry = nullptr;
  std::vector<std::string> patterns;
  std::optional<mad::NodeType> type;  // nothing: any
  std::optional<int> ports;
  bool has_width = false, has_speed = false;
  LinkRate rate;
  bool used = false;

  const std::string& name() const { return entry->key; }
};

class SpecProfiles {
 public:
  // Both must outlive this.  From Assign() on the nodes of `draft` point here.
  SpecProfiles(SpecChecks& checks, SpecDraft& draft)
      : checks_(checks), draft_(draft) {}

  // `root` must outlive this.  Call once.
  void Read(const SpecValue& root);

  // Node number `node` asks for the profile `name`.
  void Want(size_t node, std::string name, Place at);

  // Gives each profile to the nodes that it is for.  That it is for none is a
  // fault.
  void Assign();

  // What the ports at both ends can do takes the place of what a generator or
  // file said; what the spec says of a link stays.
  void ApplyRates();

 private:
  struct Wanted {
    size_t node;
    std::string name;
    Place at;
  };

  void ReadProfile(const SpecEntry& entry);
  void ReadPatterns(const SpecEntry& entry, SpecProfile& profile);
  void Apply(SpecProfile& profile, SpecNode& node);

  SpecChecks& checks_;
  SpecDraft& draft_;
  std::vector<SpecProfile> profiles_;
  std::vector<Wanted> wanted_;
};

}  // namespace ibemu::topology

#endif  // IBEMU_TOPOLOGY_FORMATS_SPEC_SPEC_PROFILES_H_

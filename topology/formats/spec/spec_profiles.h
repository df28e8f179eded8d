// SpecProfiles: the profiles of a YAML spec, each of which describes many nodes
// at once.
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

// The properties that a profile gives to its nodes.
struct SpecProfile {
  const SpecEntry* entry = nullptr;
  std::vector<std::string> patterns;
  std::optional<mad::NodeType> type;  // empty: any type
  std::optional<int> ports;
  bool has_width = false, has_speed = false;
  LinkRate rate;
  bool used = false;

  const std::string& name() const { return entry->key; }
};

// All profiles of a spec.
class SpecProfiles {
 public:
  // REQUIRES: both outlive this object.  After Assign() the nodes of `draft`
  // point to profiles in this object.
  SpecProfiles(SpecChecks& checks, SpecDraft& draft)
      : checks_(checks), draft_(draft) {}

  // REQUIRES: called once, and `root` outlives this object.
  void Read(const SpecValue& root);

  // Records that node number `node` asks for the profile `name`.
  void Want(size_t node, std::string name, Place at);

  // Gives each profile to the nodes that it is for.  A profile without any is a
  // fault.
  void Assign();

  // Sets the rate of each cable to what the ports at both ends support.  This
  // replaces a rate from a generator or an included file, but not one that the
  // spec itself gives to the cable.
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

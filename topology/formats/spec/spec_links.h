// SpecLinks: the cables of a YAML spec, and its rules for cables.
#ifndef IBEMU_TOPOLOGY_FORMATS_SPEC_SPEC_LINKS_H_
#define IBEMU_TOPOLOGY_FORMATS_SPEC_SPEC_LINKS_H_

#include <initializer_list>
#include <string_view>
#include <vector>

#include "topology/formats/spec/spec_checks.h"
#include "topology/formats/spec/spec_draft.h"
#include "topology/formats/spec/spec_value.h"

namespace ibemu::topology {

// A reader of the list "links".
class SpecLinks {
 public:
  // REQUIRES: both outlive this object.
  SpecLinks(SpecChecks& checks, SpecDraft& draft)
      : checks_(checks), draft_(draft) {}

  // Adds the cables to the draft, and keeps the rules for later.  REQUIRES:
  // `root` outlives this object.
  void Read(const SpecValue& root);

  // Applies the rules to all cables of the draft.
  void ApplyRules();

 private:
  void ReadLink(const SpecValue& map);
  void SetProperties(const SpecValue& map, SpecLink& link,
                     std::initializer_list<std::string_view> others);
  bool ReadEnd(const SpecEntry& entry, size_t& node, int& port);
  void ApplyRule(const SpecValue& map);
  bool IsMeant(std::string_view pattern, const SpecLink& link);

  SpecChecks& checks_;
  SpecDraft& draft_;
  std::vector<const SpecValue*> rules_;
};

}  // namespace ibemu::topology

#endif  // IBEMU_TOPOLOGY_FORMATS_SPEC_SPEC_LINKS_H_

// SpecChecks: checks of the maps in a YAML spec.
#ifndef IBEMU_TOPOLOGY_FORMATS_SPEC_SPEC_CHECKS_H_
#define IBEMU_TOPOLOGY_FORMATS_SPEC_SPEC_CHECKS_H_

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "topology/fault_list.h"
#include "topology/formats/spec/spec_value.h"
#include "topology/topology.h"

namespace ibemu::topology {

// Returns the keys as a list, as in "nodes, links".
std::string ListKeys(std::span<const std::string_view> keys);

// A collector of the faults of a spec.  Invalid parts are reported and left
// out, so that one run finds all faults.
class SpecChecks {
 public:
  // REQUIRES: `faults` outlives this object.
  explicit SpecChecks(FaultList& faults) : faults_(faults) {}

  void Fault(Place at, std::string what);
  // Reports an unknown key.  `owner` describes the map that has it, as in "a
  // link"; `keys` are its valid keys.
  void UnknownKey(const SpecEntry& entry, std::string_view owner,
                  std::span<const std::string_view> keys);
  // Reports a bad value.  `rule` describes the valid ones.
  void BadValue(const SpecEntry& entry, std::string_view rule);

  // Reports every key of `map` that is not one of `keys`.
  void CheckKeys(const SpecValue& map, std::string_view owner,
                 std::span<const std::string_view> keys);

  // Returns the text of `key`, or nothing if it is missing or not a text.
  std::optional<std::string> Text(const SpecValue& map, std::string_view key);
  // Return the values of "ports" and "type", or nothing if they are missing or
  // invalid.
  std::optional<int> Ports(const SpecValue& map);
  std::optional<mad::NodeType> Type(const SpecValue& map);
  // Returns the maps in the list `key`, which live as long as `root`.  Items
  // that are not maps are reported.
  std::vector<const SpecValue*> Maps(const SpecValue& root,
                                     std::string_view key,
                                     std::string_view example);

  // Set a property of a node or a cable.  They return false if there is no such
  // property, which the caller has to report.  `has_width` and `has_speed`
  // become true if the property sets the width or the speed.
  bool SetNode(const SpecEntry& property, NodeSpec& node);
  bool SetLink(const SpecEntry& property, LinkSpec& link, bool& has_width,
               bool& has_speed);

 private:
  FaultList& faults_;
};

}  // namespace ibemu::topology

#endif  // IBEMU_TOPOLOGY_FORMATS_SPEC_SPEC_CHECKS_H_

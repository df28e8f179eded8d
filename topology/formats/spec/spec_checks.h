// What the maps of a YAML spec may hold, and the faults of those that hold
// something else.
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

// "nodes, links"
std::string ListKeys(std::span<const std::string_view> keys);

// Collects the faults of a spec.  What is not as it should be is told and left
// out, so that one run tells all.
class SpecChecks {
 public:
  // `faults` must outlive this.
  explicit SpecChecks(FaultList& faults) : faults_(faults) {}

  void Fault(Place at, std::string what);
  // `owner` is who has the key, "a link"; `keys` are those that it may have.
  void UnknownKey(const SpecEntry& entry, std::string_view owner,
                  std::span<const std::string_view> keys);
  // `rule` says what the value should have been.
  void BadValue(const SpecEntry& entry, std::string_view rule);

  void CheckKeys(const SpecValue& map, std::string_view owner,
                 std::span<const std::string_view> keys);

  // The text behind `key`; nothing if it is not there, or no text.
  std::optional<std::string> Text(const SpecValue& map, std::string_view key);
  // What "ports" and "type" say; nothing if they are not there, or wrong.
  std::optional<int> Ports(const SpecValue& map);
  std::optional<mad::NodeType> Type(const SpecValue& map);
  // The maps of a list, as long as `root` lives; what else is in it is told.
  std::vector<const SpecValue*> Maps(const SpecValue& root,
                                     std::string_view key,
                                     std::string_view example);

  // Sets a property of a node or cable.  False: there is none of this name,
  // which the caller tells.  `has_width` and `has_speed` become true where the
  // property says it.
  bool SetNode(const SpecEntry& property, NodeSpec& node);
  bool SetLink(const SpecEntry& property, LinkSpec& link, bool& has_width,
               bool& has_speed);

 private:
  FaultList& faults_;
};

}  // namespace ibemu::topology

#endif  // IBEMU_TOPOLOGY_FORMATS_SPEC_SPEC_CHECKS_H_

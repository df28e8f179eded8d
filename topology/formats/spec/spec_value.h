// SpecValue: a YAML text as a tree that remembers its lines.
#ifndef IBEMU_TOPOLOGY_FORMATS_SPEC_SPEC_VALUE_H_
#define IBEMU_TOPOLOGY_FORMATS_SPEC_SPEC_VALUE_H_

#include <string>
#include <string_view>
#include <vector>

#include "topology/fault_list.h"

namespace ibemu::topology {

struct SpecEntry;

// One value of the tree.
struct SpecValue {
  enum class Kind { kNull, kScalar, kList, kMap };

  Kind kind = Kind::kNull;
  std::string text;                // of a scalar
  Place at;                        // where it begins
  std::vector<SpecValue> items;    // of a list
  std::vector<SpecEntry> entries;  // of a map, in the order of the text

  const SpecEntry* Find(std::string_view key) const;
};

// One key of a map, and its value.
struct SpecEntry {
  std::string key;
  Place at;
  SpecValue value;
};

// Parses the one document of `text`.  Reports to `faults` what can't be part of
// a tree: invalid syntax, a key that is not a word or occurs twice, and
// anchors, which could turn a short text into a huge tree.
SpecValue ParseSpecValue(std::string_view text, int file, FaultList& faults);

}  // namespace ibemu::topology

#endif  // IBEMU_TOPOLOGY_FORMATS_SPEC_SPEC_VALUE_H_

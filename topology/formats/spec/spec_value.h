// A YAML text as a tree that remembers its lines.
#ifndef IBEMU_TOPOLOGY_FORMATS_SPEC_SPEC_VALUE_H_
#define IBEMU_TOPOLOGY_FORMATS_SPEC_SPEC_VALUE_H_

#include <string>
#include <string_view>
#include <vector>

#include "topology/fault_list.h"

namespace ibemu::topology {

struct SpecEntry;

struct SpecValue {
  enum class Kind { kNull, kScalar, kList, kMap };

  Kind kind = Kind::kNull;
  std::string text;                // of a scalar
  Place at;                        // where it begins
  std::vector<SpecValue> items;    // of a list
  std::vector<SpecEntry> entries;  // of a map, in the order of the text

  const SpecEntry* Find(std::string_view key) const;
};

struct SpecEntry {
  std::string key;
  Place at;
  SpecValue value;
};

// The one document of `text`.  What makes no tree goes to `faults`: a broken
// syntax, a key that is no word or stands twice, and anchors, which would let
// a short text be a huge tree.
SpecValue ParseSpecValue(std::string_view text, int file, FaultList& faults);

}  // namespace ibemu::topology

#endif  // IBEMU_TOPOLOGY_FORMATS_SPEC_SPEC_VALUE_H_

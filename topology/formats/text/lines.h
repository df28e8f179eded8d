// A text line by line.
#ifndef IBEMU_TOPOLOGY_FORMATS_TEXT_LINES_H_
#define IBEMU_TOPOLOGY_FORMATS_TEXT_LINES_H_

#include <string>
#include <string_view>

#include "absl/functional/function_ref.h"
#include "topology/fault_list.h"
#include "topology/topology.h"

namespace ibemu::topology {

std::string_view TrimSpace(std::string_view text);

// Calls `read` with each line of `text`, trimmed at its end only, and tells
// `progress` how far it has come.
void ForEachLine(std::string_view text, int file, std::string_view name,
                 Progress progress,
                 absl::FunctionRef<void(Place at, std::string_view line)> read);

// Cuts `text` after the first `end`, which goes away; what is behind it stays
// in `text`.  Without an `end` all of it is cut off.
std::string_view CutBefore(std::string_view end, std::string_view& text);

}  // namespace ibemu::topology

#endif  // IBEMU_TOPOLOGY_FORMATS_TEXT_LINES_H_

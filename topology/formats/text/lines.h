// Functions that read a text line by line.
#ifndef IBEMU_TOPOLOGY_FORMATS_TEXT_LINES_H_
#define IBEMU_TOPOLOGY_FORMATS_TEXT_LINES_H_

#include <string>
#include <string_view>

#include "absl/functional/function_ref.h"
#include "topology/fault_list.h"
#include "topology/topology.h"

namespace ibemu::topology {

std::string_view TrimSpace(std::string_view text);

// Calls `read` with each line of `text`, trimmed only at its end, and reports
// to `progress`.
void ForEachLine(std::string_view text, int file, std::string_view name,
                 Progress progress,
                 absl::FunctionRef<void(Place at, std::string_view line)> read);

// Returns the part of `text` before the first `end`, and leaves the part after
// it in `text`.  Without an `end`, returns all of `text` and leaves it empty.
std::string_view CutBefore(std::string_view end, std::string_view& text);

}  // namespace ibemu::topology

#endif  // IBEMU_TOPOLOGY_FORMATS_TEXT_LINES_H_

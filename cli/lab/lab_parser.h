// ParseLab(): the parser of the file of `ibemu up`, ibemu-lab(5).
#ifndef IBEMU_CLI_LAB_LAB_PARSER_H_
#define IBEMU_CLI_LAB_LAB_PARSER_H_

#include <string_view>

#include "cli/lab/lab_plan.h"
#include "topology/fault_list.h"

namespace ibemu::cli {

// The most programs that a lab may have.
inline constexpr size_t kMaxLabPrograms = 1000;

// Returns the plan of a YAML text; `file` names it in faults, and the fabric is
// called like the file if the text gives no name.  The plan means something
// only if `faults` is empty afterwards.  Whether the hosts exist, and what
// `topology` is, is not looked at.
LabPlan ParseLab(std::string_view text, std::string_view file,
                 topology::FaultList& faults);

}  // namespace ibemu::cli

#endif  // IBEMU_CLI_LAB_LAB_PARSER_H_

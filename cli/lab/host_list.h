// ExpandHostList: hosts in the notation of Slurm and pdsh, "node-[1-4,7]".
#ifndef IBEMU_CLI_LAB_HOST_LIST_H_
#define IBEMU_CLI_LAB_HOST_LIST_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace ibemu::cli {

// Returns the names that `text` stands for, in its order: itself, or one for
// each number in its brackets.  Numbers keep their leading zeros:
// "rack[08-10]" is rack08, rack09 and rack10.
//
// Errors: InvalidArgument for what is no such list, and for more than `most`
// names.
absl::StatusOr<std::vector<std::string>> ExpandHostList(std::string_view text,
                                                        size_t most);

}  // namespace ibemu::cli

#endif  // IBEMU_CLI_LAB_HOST_LIST_H_

// The names of the commands of uverbs files.
#ifndef IBEMU_VERBS_UVERBS_COMMAND_NAMES_H_
#define IBEMU_VERBS_UVERBS_COMMAND_NAMES_H_

#include <cstdint>
#include <string_view>

namespace ibemu::verbs {

// Returns the name of a command IB_USER_VERBS_CMD_* or IB_USER_VERBS_EX_CMD_*,
// which have the same numbers: "CREATE_CQ"; empty: there is none.
std::string_view NameOfCommand(uint32_t number);

}  // namespace ibemu::verbs

#endif  // IBEMU_VERBS_UVERBS_COMMAND_NAMES_H_

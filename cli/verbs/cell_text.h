// The texts of numbers in tables of objects of verbs.
#ifndef IBEMU_CLI_VERBS_CELL_TEXT_H_
#define IBEMU_CLI_VERBS_CELL_TEXT_H_

#include <string>

#include "nlohmann/json_fwd.hpp"

namespace ibemu::cli {

// "0x12"
std::string HexText(const nlohmann::json& number);

// "3/128": what a queue holds of what it may.
std::string FillText(const nlohmann::json& held, const nlohmann::json& size);

}  // namespace ibemu::cli

#endif  // IBEMU_CLI_VERBS_CELL_TEXT_H_

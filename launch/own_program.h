// Paths of our programs.
#ifndef IBEMU_LAUNCH_OWN_PROGRAM_H_
#define IBEMU_LAUNCH_OWN_PROGRAM_H_

#include <string>
#include <string_view>

namespace ibemu::launch {

// The path of this program; empty if it can't be told.
std::string ThisProgram();

// The path of the program `name`: beside this one, as in a build tree, or in
// `directory`, where it is installed.
std::string OwnProgram(std::string_view name, std::string_view directory);

// The same of a program that only others of ours start.
std::string HelperProgram(std::string_view name);

}  // namespace ibemu::launch

#endif  // IBEMU_LAUNCH_OWN_PROGRAM_H_

// Files of the source tree that tests compare with.
#ifndef IBEMU_TESTING_GOLDEN_H_
#define IBEMU_TESTING_GOLDEN_H_

#include <fstream>
#include <string>
#include <string_view>

namespace ibemu::testing {

// Returns the path of a file or folder at `path`, relative to the root of the
// source tree.
std::string GoldenPath(std::string_view path);

// Opens the file at `path`, relative to the root of the source tree.  The test
// fails if there is no such file.
std::ifstream OpenGolden(std::string_view path);

}  // namespace ibemu::testing

#endif  // IBEMU_TESTING_GOLDEN_H_

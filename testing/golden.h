// What a test compares with: files of the source tree.
#ifndef IBEMU_TESTING_GOLDEN_H_
#define IBEMU_TESTING_GOLDEN_H_

#include <fstream>
#include <string_view>

namespace ibemu::testing {

// `path` begins at the source tree's root.  Without such a file the test fails.
std::ifstream OpenGolden(std::string_view path);

}  // namespace ibemu::testing

#endif  // IBEMU_TESTING_GOLDEN_H_

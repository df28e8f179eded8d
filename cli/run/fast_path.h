// The library by which a command's calls go past FUSE, and how it gets it.
#ifndef IBEMU_CLI_RUN_FAST_PATH_H_
#define IBEMU_CLI_RUN_FAST_PATH_H_

#include <string>

#include "launch/child.h"

namespace ibemu::cli {

// Returns the path of the library that programs get, or "" if it is not there:
// that of the build tree of `program` (the path of this program), or the
// installed one.
std::string FindPreload(const std::string& program);

// Returns the variables that bring `library` into programs.  Libraries that
// `preload` (LD_PRELOAD) names come before it.  A dynamic libasan that is no
// first library ends its program, unless `asan` (ASAN_OPTIONS) forbids it; it
// works behind ours, which takes none of the functions that it has to have
// first.  Empty if the loader could not read such a path.
launch::Variables PreloadVariables(const std::string& library,
                                   const std::string& preload,
                                   const std::string& asan);

}  // namespace ibemu::cli

#endif  // IBEMU_CLI_RUN_FAST_PATH_H_

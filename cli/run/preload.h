// Libraries that a command's programs load before others, and how they get
// them.
#ifndef IBEMU_CLI_RUN_PRELOAD_H_
#define IBEMU_CLI_RUN_PRELOAD_H_

#include <string>
#include <vector>

#include "launch/child.h"

namespace ibemu::cli {

// A PreloadLibrary is a library of ours that programs load before others.
struct PreloadLibrary {
  const char* folder;  // of the build tree
  const char* name;
};

// The library by which calls go past FUSE.
inline constexpr PreloadLibrary kFastPath = {"fast_path/preload",
                                             "libibemu-preload.so"};
// The library that tells of pitfalls, for --lint.
inline constexpr PreloadLibrary kLint = {"lint", "libibemu-lint.so"};

// Returns the path of the library, or "" if it is not there: that of the build
// tree of `program` (the path of this program), or the installed one.
std::string FindPreload(const std::string& program,
                        const PreloadLibrary& library);

// Returns the variables that bring `libraries`, paths, into programs. Libraries
// that `preload` (LD_PRELOAD) names come before them.  A dynamic libasan that
// is no first library ends its program, unless `asan` (ASAN_OPTIONS) forbids
// it; it works behind ours, which take none of the functions that it has to
// have first.  What the loader could not read as one path is left out; empty if
// nothing is left.
launch::Variables PreloadVariables(const std::vector<std::string>& libraries,
                                   const std::string& preload,
                                   const std::string& asan);

}  // namespace ibemu::cli

#endif  // IBEMU_CLI_RUN_PRELOAD_H_

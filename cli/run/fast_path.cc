#include "cli/run/fast_path.h"

#include <unistd.h>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace ibemu::cli {
namespace {

constexpr char kName[] = "libibemu-preload.so";

// `list` with `entry` at its end.
std::string Extend(const std::string& list, const std::string& entry) {
  return list.empty() ? entry : absl::StrCat(list, ":", entry);
}

}  // namespace

std::string FindPreload(const std::string& program) {
  const std::string folder = program.substr(0, program.rfind('/'));
  for (const std::string& path :
       {absl::StrCat(folder, "/../fast_path/preload/", kName),
        absl::StrCat(IBEMU_LIBRARIES, "/", kName)}) {
    if (access(path.c_str(), R_OK) == 0) return path;
  }
  return "";
}

launch::Variables PreloadVariables(const std::string& library,
                                   const std::string& preload,
                                   const std::string& asan) {
  if (library.empty() || library.find_first_of(": $") != std::string::npos) {
    return {};
  }
  for (const auto known : absl::StrSplit(preload, absl::ByAnyChar(": "))) {
    if (known == library) return {};  // of the run around this one
  }
  launch::Variables variables = {{"LD_PRELOAD", Extend(preload, library)}};
  if (asan.find("verify_asan_link_order") == std::string::npos) {
    variables.emplace_back("ASAN_OPTIONS",
                           Extend(asan, "verify_asan_link_order=0"));
  }
  return variables;
}

}  // namespace ibemu::cli

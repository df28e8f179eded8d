#include "cli/run/preload.h"

#include <unistd.h>

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"

namespace ibemu::cli {
namespace {

// Puts `entry` at the end of `list`.
void Extend(std::string& list, const std::string& entry) {
  absl::StrAppend(&list, list.empty() ? "" : ":", entry);
}

}  // namespace

std::string FindPreload(const std::string& program,
                        const PreloadLibrary& library) {
  const std::string folder = program.substr(0, program.rfind('/'));
  for (const std::string& path :
       {absl::StrCat(folder, "/../", library.folder, "/", library.name),
        absl::StrCat(IBEMU_LIBRARIES, "/", library.name)}) {
    if (access(path.c_str(), R_OK) == 0) return path;
  }
  return "";
}

launch::Variables PreloadVariables(const std::vector<std::string>& libraries,
                                   const std::string& preload,
                                   const std::string& asan) {
  std::string list = preload;
  for (const std::string& library : libraries) {
    if (library.empty() || library.find_first_of(": $") != std::string::npos) {
      continue;
    }
    const std::vector<std::string> known =
        absl::StrSplit(list, absl::ByAnyChar(": "));
    // Perhaps of the run around this one.
    if (std::ranges::find(known, library) == known.end()) Extend(list, library);
  }
  if (list == preload) return {};
  launch::Variables variables = {{"LD_PRELOAD", std::move(list)}};
  if (asan.find("verify_asan_link_order") == std::string::npos) {
    std::string options = asan;
    Extend(options, "verify_asan_link_order=0");
    variables.emplace_back("ASAN_OPTIONS", std::move(options));
  }
  return variables;
}

}  // namespace ibemu::cli

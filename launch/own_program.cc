#include "launch/own_program.h"

#include <unistd.h>

#include <array>
#include <climits>

#include "absl/strings/str_cat.h"
#include "base/absl_text.h"

namespace ibemu::launch {

std::string ThisProgram() {
  std::array<char, PATH_MAX> path;
  const ssize_t size = readlink("/proc/self/exe", path.data(), path.size());
  return size < 0 ? "" : std::string(path.data(), static_cast<size_t>(size));
}

std::string OwnProgram(std::string_view name, std::string_view directory) {
  const std::string self = ThisProgram();
  std::string beside =
      absl::StrCat(self.substr(0, self.rfind('/') + 1), Absl(name));
  if (!self.empty() && access(beside.c_str(), X_OK) == 0) return beside;
  return absl::StrCat(Absl(directory), "/", Absl(name));
}

std::string HelperProgram(std::string_view name) {
  return OwnProgram(name, IBEMU_PROGRAMS);
}

}  // namespace ibemu::launch

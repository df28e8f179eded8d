// Debian's Abseil has a string_view of its own, which std's does not become
// by itself (ABSL_OPTION_USE_STD_STRING_VIEW is 0).
#ifndef IBEMU_BASE_ABSL_TEXT_H_
#define IBEMU_BASE_ABSL_TEXT_H_

#include <string_view>

#include "absl/strings/string_view.h"

namespace ibemu {

inline absl::string_view Absl(std::string_view text) {
  return {text.data(), text.size()};
}

}  // namespace ibemu

#endif  // IBEMU_BASE_ABSL_TEXT_H_

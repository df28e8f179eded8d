// Conversion of std::string_view to absl::string_view.
//
// Debian's Abseil is built with ABSL_OPTION_USE_STD_STRING_VIEW 0: it has a
// string_view of its own, to which std's does not convert by itself.
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

#include "topology/formats/text/glob.h"

#include <cstddef>

namespace ibemu::topology {

// Backtracks only to the last "*", since changing the text of an earlier one
// would not help.
bool MatchesGlob(std::string_view pattern, std::string_view text) {
  size_t p = 0;
  size_t t = 0;
  size_t star = pattern.npos;  // the place of the last one
  size_t taken = 0;            // the end of its text in `text`
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      taken = t;
    } else if (p < pattern.size() &&
               (pattern[p] == '?' || pattern[p] == text[t])) {
      ++p;
      ++t;
    } else if (star != pattern.npos) {
      p = star + 1;
      t = ++taken;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', p) == pattern.npos;
}

}  // namespace ibemu::topology

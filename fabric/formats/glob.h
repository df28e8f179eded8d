// Patterns of names: "*" is any text, "?" any one byte.
#ifndef IBEMU_FABRIC_FORMATS_GLOB_H_
#define IBEMU_FABRIC_FORMATS_GLOB_H_

#include <string_view>

namespace ibemu::fabric {

bool MatchesGlob(std::string_view pattern, std::string_view text);

}  // namespace ibemu::fabric

#endif  // IBEMU_FABRIC_FORMATS_GLOB_H_

// Patterns of names: "*" is any text, "?" any one byte.
#ifndef IBEMU_TOPOLOGY_FORMATS_TEXT_GLOB_H_
#define IBEMU_TOPOLOGY_FORMATS_TEXT_GLOB_H_

#include <string_view>

namespace ibemu::topology {

bool MatchesGlob(std::string_view pattern, std::string_view text);

}  // namespace ibemu::topology

#endif  // IBEMU_TOPOLOGY_FORMATS_TEXT_GLOB_H_

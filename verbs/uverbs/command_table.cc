#include "verbs/uverbs/command_table.h"

#include <algorithm>

namespace ibemu::verbs {

const CommandTable::Method* CommandTable::Find(const Command& command) const {
  const auto found = std::find_if(methods_.begin(), methods_.end(),
                                  [&command](const Method& method) {
                                    return method.number == command.number &&
                                           method.extended == command.extended;
                                  });
  return found == methods_.end() ? nullptr : &*found;
}

}  // namespace ibemu::verbs

// The words for what faults do to packets: loss, corrupt, delay and so on.
#ifndef IBEMU_DAEMON_WORDS_PACKET_EFFECTS_H_
#define IBEMU_DAEMON_WORDS_PACKET_EFFECTS_H_

#include <string>
#include <string_view>
#include <vector>

#include "daemon/words/word_reader.h"
#include "fabric/faults/fault_stage.h"

namespace ibemu::daemon {

// A word and the chance that it sets.
struct ChanceWord {
  std::string_view word;
  double fabric::LinkFaults::*chance;
  bool of_node;  // may also be a fault of an agent's answers
};
inline constexpr ChanceWord kChanceWords[] = {
    {"loss", &fabric::LinkFaults::loss, true},
    {"corrupt", &fabric::LinkFaults::corrupt, false},
    {"duplicate", &fabric::LinkFaults::duplicate, false},
    {"reorder", &fabric::LinkFaults::reorder, false}};

// Returns the words of chances and delays, the latter after `delay_word`:
// {"loss 5%", "delay 10us", "2us"}.
std::vector<std::string> EffectTexts(const fabric::LinkFaults& faults,
                                     std::string_view delay_word);

}  // namespace ibemu::daemon

#endif  // IBEMU_DAEMON_WORDS_PACKET_EFFECTS_H_

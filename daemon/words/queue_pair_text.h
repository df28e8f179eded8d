// The texts of types of queue pairs in tables and errors.
#ifndef IBEMU_DAEMON_WORDS_QUEUE_PAIR_TEXT_H_
#define IBEMU_DAEMON_WORDS_QUEUE_PAIR_TEXT_H_

#include <string_view>

#include "verbs/qp_attributes.h"

namespace ibemu::daemon {

// "RC", "UC" or "UD".
std::string_view QpTypeText(verbs::QpType type);

}  // namespace ibemu::daemon

#endif  // IBEMU_DAEMON_WORDS_QUEUE_PAIR_TEXT_H_

// The texts of types and states of queue pairs in tables and errors.
#ifndef IBEMU_DAEMON_WORDS_QUEUE_PAIR_TEXT_H_
#define IBEMU_DAEMON_WORDS_QUEUE_PAIR_TEXT_H_

#include <string_view>

#include "verbs/qp_attributes.h"

namespace ibemu::daemon {

// "RC", "UC" or "UD".
std::string_view QpTypeText(verbs::QpType type);

// "RESET", "INIT", "RTR", "RTS", "SQD", "SQE" or "ERR", as IBA vol 1 §10.3.1
// and libibverbs call them.
std::string_view QpStateText(verbs::QpState state);

}  // namespace ibemu::daemon

#endif  // IBEMU_DAEMON_WORDS_QUEUE_PAIR_TEXT_H_

// Sending and Step: a message that a state machine of the communication manager
// wants sent, and all that follows from one event.
#ifndef IBEMU_CM_SENDING_H_
#define IBEMU_CM_SENDING_H_

#include <optional>

#include "cm/cm_id.h"
#include "cm/wire/message.h"
#include "mad/address.h"

namespace ibemu::cm {

// A message to be sent.
struct Sending {
  enum class Kind {
    kFirst,   // by the route
    kRepeat,  // by the route, once more
    // To whoever sent the message that is being handled, because it came twice
    // or belongs to nothing that is known here.
    kResponse,
  };
  Message message{};
  Kind kind = Kind::kFirst;
  mad::MadBytes mad{};
};

// A Step follows from a message that arrived, or from a timer.
struct Step {
  std::optional<Sending> send{};
  std::optional<CmEvent> event{};
  bool duplicate = false;  // the message is counted as one
};

}  // namespace ibemu::cm

#endif  // IBEMU_CM_SENDING_H_

// SolicitedEvents: the interface by which an adapter is asked which completions
// are solicited, where nobody else knows.
#ifndef IBEMU_VERBS_PARTS_SOLICITED_EVENTS_H_
#define IBEMU_VERBS_PARTS_SOLICITED_EVENTS_H_

#include <cstdint>

namespace ibemu::verbs {

// A SolicitedEvents tells which of the completions of a receive queue are
// solicited.  An adapter may not say that in a completion, and only when it is
// asked.
class SolicitedEvents {
 public:
  // Returns true if completion `index` is solicited, or a later one that the
  // adapter has, or if that can't be told.
  virtual bool MayBeSolicited(uint32_t index) = 0;

 protected:
  ~SolicitedEvents() = default;
};

}  // namespace ibemu::verbs

#endif  // IBEMU_VERBS_PARTS_SOLICITED_EVENTS_H_

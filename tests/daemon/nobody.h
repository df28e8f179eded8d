// A client that the control socket's methods know nothing of.
#ifndef IBEMU_TESTS_DAEMON_NOBODY_H_
#define IBEMU_TESTS_DAEMON_NOBODY_H_

#include <memory>

#include "control/method_table.h"

namespace ibemu::daemon {

class NobodyInParticular : public control::Caller {
 public:
  UniqueFd TakeDescriptor() override { return UniqueFd(); }
  int pid() const override { return 1; }
  void Keep(std::shared_ptr<void>) override {}
};

}  // namespace ibemu::daemon

#endif  // IBEMU_TESTS_DAEMON_NOBODY_H_

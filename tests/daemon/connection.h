// A client that passes a descriptor and stays.
#ifndef IBEMU_TESTS_DAEMON_CONNECTION_H_
#define IBEMU_TESTS_DAEMON_CONNECTION_H_

#include <memory>
#include <utility>
#include <vector>

#include "base/unique_fd.h"
#include "control/method_table.h"

namespace ibemu::daemon {

struct Connection : control::Caller {
  UniqueFd TakeDescriptor() override { return std::move(descriptor); }
  int pid() const override { return 1; }
  void Keep(std::shared_ptr<void> thing) override {
    kept.push_back(std::move(thing));
  }

  UniqueFd descriptor;                      // of the next request
  std::vector<std::shared_ptr<void>> kept;  // clear() ends the connection
};

}  // namespace ibemu::daemon

#endif  // IBEMU_TESTS_DAEMON_CONNECTION_H_

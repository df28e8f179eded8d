// Inbox: a port's listener that keeps what it hears.
#ifndef IBEMU_TESTING_INBOX_H_
#define IBEMU_TESTING_INBOX_H_

#include <vector>

#include "mad/port.h"

namespace ibemu::testing {

// An Inbox keeps what arrives at a port.
class Inbox : public mad::PortListener {
 public:
  void OnReceive(const mad::Arrival& arrival) override {
    arrivals.push_back(arrival);
  }
  std::vector<mad::Arrival> arrivals;
};

}  // namespace ibemu::testing

#endif  // IBEMU_TESTING_INBOX_H_

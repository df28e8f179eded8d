// ReceiveChangedEcho(): a more or less wrong answer to what was sent last.
#ifndef IBEMU_TESTS_FUZZ_CHANGED_ECHO_H_
#define IBEMU_TESTS_FUZZ_CHANGED_ECHO_H_

#include <cstdint>

#include "mad/mad_class.h"
#include "testing/fake_port.h"
#include "testing/fuzz_input.h"

namespace ibemu::testing {

// Lets what was sent last come back as its answer, changed here and there.
inline void ReceiveChangedEcho(FakePort& port, FuzzInput& input) {
  mad::Arrival arrival{.qp = 1, .slid = wire::Lid(7), .source_qpn = 1};
  if (!port.sent.empty()) {
    arrival.qp = port.sent.back().qp;
    arrival.mad = port.sent.back().mad;
    arrival.mad[3] ^= std::byte{mad::kResponseBit};
  }
  for (uint8_t left = input.Byte() % 8; left > 0; --left) {
    arrival.mad[input.Byte()] = std::byte{input.Byte()};
  }
  port.sent.clear();
  port.Receive(arrival);
}

}  // namespace ibemu::testing

#endif  // IBEMU_TESTS_FUZZ_CHANGED_ECHO_H_

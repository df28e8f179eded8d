// An adapter that says what a test wants to hear.
#ifndef IBEMU_TESTING_FAKE_PROVIDER_H_
#define IBEMU_TESTING_FAKE_PROVIDER_H_

#include "absl/status/status.h"
#include "verbs/provider.h"

namespace ibemu::testing {

class FakeProvider : public verbs::Provider {
 public:
  verbs::DeviceAttributes QueryDevice() const override { return device; }
  absl::StatusOr<verbs::PortAttributes> QueryPort(int number) const override {
    if (number != 1) return absl::InvalidArgumentError("there is port 1 only");
    return port;
  }

  FakeProvider() {
    device.vendor_id = 0x1175;
    device.phys_port_cnt = 1;
    port.lid = 7;
    port.state = 4;
  }

  verbs::DeviceAttributes device{};
  verbs::PortAttributes port{};
};

}  // namespace ibemu::testing

#endif  // IBEMU_TESTING_FAKE_PROVIDER_H_

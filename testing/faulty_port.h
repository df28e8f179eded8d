// FaultyPort: a port with a bad cable, which loses, delays, duplicates and
// reorders MADs.
#ifndef IBEMU_TESTING_FAULTY_PORT_H_
#define IBEMU_TESTING_FAULTY_PORT_H_

#include "mad/port.h"
#include "testing/faulty_lane.h"

namespace ibemu::mad {

// A FaultyPort stands before any port.  Calls that concern the port itself (its
// tables, its own agents) pass through unchanged.
class FaultyPort : public Port, private PortListener {
 public:
  // Takes the listener place of `inner`.  `timers` and `inner` must outlive it.
  FaultyPort(Timers& timers, Port& inner, const PortFaults& transmit,
             const PortFaults& receive, Random random);
  ~FaultyPort() override;
  FaultyPort(const FaultyPort&) = delete;
  FaultyPort& operator=(const FaultyPort&) = delete;

  // Returns OK as soon as the packet is on its way into the filter.  An error
  // of the port below may come later and is dropped.
  absl::Status Transmit(const Outgoing& packet) override;

  LocalVerdict ProcessLocal(const Arrival& request, MadBytes& reply) override {
    return inner_.ProcessLocal(request, reply);
  }
  void SetListener(PortListener* listener) override { listener_ = listener; }
  PortInfo Info() const override { return inner_.Info(); }
  int GidCount() const override { return inner_.GidCount(); }
  wire::Gid GidAt(int index) const override { return inner_.GidAt(index); }
  int PKeyCount() const override { return inner_.PKeyCount(); }
  uint16_t PKeyAt(int index) const override { return inner_.PKeyAt(index); }
  bool HasQp0() const override { return inner_.HasQp0(); }
  void SetIsSm(bool is_sm) override { inner_.SetIsSm(is_sm); }

 private:
  void OnReceive(const Arrival& arrival) override { up_.Send(arrival); }

  Port& inner_;
  Random random_;
  PortListener* listener_ = nullptr;
  FaultyLane<Outgoing> down_;
  FaultyLane<Arrival> up_;
};

}  // namespace ibemu::mad

#endif  // IBEMU_TESTING_FAULTY_PORT_H_

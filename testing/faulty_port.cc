#include "testing/faulty_port.h"

namespace ibemu::mad {

FaultyPort::FaultyPort(Timers& timers, Port& inner, const PortFaults& transmit,
                       const PortFaults& receive, Random random)
    : inner_(inner),
      random_(random),
      down_(timers, transmit, random_,
            [this](const Outgoing& packet) {
              inner_.Transmit(packet).IgnoreError();
            }),
      up_(timers, receive, random_, [this](const Arrival& arrival) {
        if (listener_ != nullptr) listener_->OnReceive(arrival);
      }) {
  inner_.SetListener(this);
}

FaultyPort::~FaultyPort() { inner_.SetListener(nullptr); }

absl::Status FaultyPort::Transmit(const Outgoing& packet) {
  down_.Send(packet);
  return absl::OkStatus();
}

}  // namespace ibemu::mad

#include "daemon/remote_node/wire_pump.h"

#include <utility>

namespace ibemu::daemon {

WirePump::WirePump(Loop& loop, RemoteWires& wires,
                   absl::AnyInvocable<void()> lost)
    : loop_(loop), wires_(wires), lost_(std::move(lost)) {}

WirePump::~WirePump() {
  wires_.OnPending([] {});
  loop_.Forget(wires_.fd());
}

absl::Status WirePump::Start() {
  wires_.OnPending([this] { PumpSoon(); });
  // What came before.
  PumpSoon();
  return loop_.Watch(wires_.fd(), [this] { Pump(); });
}

void WirePump::Pump() {
  if (!status_.ok()) return;
  status_ = wires_.Dispatch();
  if (status_.ok()) return;
  loop_.Forget(wires_.fd());
  lost_();
}

void WirePump::PumpSoon() {
  loop_.RunSoon([weak = std::weak_ptr(self_)] {
    if (const auto self = weak.lock()) (*self)->Pump();
  });
}

}  // namespace ibemu::daemon

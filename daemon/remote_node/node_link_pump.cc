#include "daemon/remote_node/node_link_pump.h"

#include <utility>

namespace ibemu::daemon {

NodeLinkPump::NodeLinkPump(Loop& loop, RemoteCables& cables,
                           absl::AnyInvocable<void()> lost)
    : loop_(loop), cables_(cables), lost_(std::move(lost)) {}

NodeLinkPump::~NodeLinkPump() {
  cables_.OnPending([] {});
  loop_.Forget(cables_.fd());
}

absl::Status NodeLinkPump::Start() {
  cables_.OnPending([this] { PumpSoon(); });
  // There may be packets from before.
  PumpSoon();
  return loop_.Watch(cables_.fd(), [this] { Pump(); });
}

void NodeLinkPump::Pump() {
  if (!status_.ok()) return;
  status_ = cables_.Dispatch();
  if (status_.ok()) return;
  loop_.Forget(cables_.fd());
  lost_();
}

void NodeLinkPump::PumpSoon() {
  loop_.RunSoon([weak = std::weak_ptr(self_)] {
    if (const auto self = weak.lock()) (*self)->Pump();
  });
}

}  // namespace ibemu::daemon

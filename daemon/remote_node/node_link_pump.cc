#include "daemon/remote_node/node_link_pump.h"

#include <fcntl.h>

#include <cerrno>
#include <utility>

namespace ibemu::daemon {

NodeLinkPump::NodeLinkPump(Loop& loop, RemoteCables& cables,
                           absl::AnyInvocable<void()> lost)
    : loop_(loop), cables_(cables), lost_(std::move(lost)) {}

NodeLinkPump::~NodeLinkPump() {
  cables_.OnPending([] {});
  cables_.OnBlocked([] {});
  loop_.Forget(cables_.fd());
  if (awaits_room_) loop_.Forget(writer_.get());
}

absl::Status NodeLinkPump::Start() {
  writer_ = UniqueFd(fcntl(cables_.fd(), F_DUPFD_CLOEXEC, 0));
  if (!writer_.valid()) {
    return absl::ErrnoToStatus(errno, "can't duplicate the socket");
  }
  cables_.OnPending([this] { PumpSoon(); });
  cables_.OnBlocked([this] { AwaitRoom(); });
  if (!cables_.Flush()) AwaitRoom();
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

void NodeLinkPump::AwaitRoom() {
  if (awaits_room_) return;
  awaits_room_ = loop_
                     .WatchWritable(writer_.get(),
                                    [this] {
                                      if (!cables_.Flush()) return;
                                      loop_.Forget(writer_.get());
                                      awaits_room_ = false;
                                    })
                     .ok();
}

void NodeLinkPump::PumpSoon() {
  loop_.RunSoon([weak = std::weak_ptr(self_)] {
    if (const auto self = weak.lock()) (*self)->Pump();
  });
}

}  // namespace ibemu::daemon

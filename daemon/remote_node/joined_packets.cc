#include "daemon/remote_node/joined_packets.h"

#include <algorithm>
#include <utility>

#include "absl/status/status.h"
#include "daemon/remote_node/meet_host.h"

namespace ibemu::daemon {

JoinedPackets::JoinedPackets(Loop& loop, RemoteCables& cables,
                             AskAgain ask_again, PacketConnection::Take take,
                             std::function<void()> ended)
    : loop_(loop),
      cables_(cables),
      ask_again_(std::move(ask_again)),
      take_(std::move(take)),
      ended_(std::move(ended)) {
  Renew();
  cables_.OnPacketsMoved([this](uint32_t number) {
    // What is said of one that has ended here comes too late.
    if (number == number_) packets_->OnMoved();
  });
  UniqueFd line = cables_.TakePacketLine();
  if (line.valid()) AwaitConnection(loop_, std::move(line), Met());
}

JoinedPackets::~JoinedPackets() {
  loop_.Cancel(timer_);
  cables_.OnPacketsMoved([](uint32_t) {});
}

void JoinedPackets::Renew() {
  begun_ = absl::InfiniteFuture();
  packets_ = std::make_unique<PacketConnection>(loop_, RemoteCables::kMaxKept,
                                                take_, [this] { OnEnded(); });
}

HostLeases::Met JoinedPackets::Met() {
  return [weak = std::weak_ptr(self_)](absl::StatusOr<UniqueFd> socket) {
    if (const auto self = weak.lock()) (*self)->OnMet(std::move(socket));
  };
}

void JoinedPackets::OnMet(absl::StatusOr<UniqueFd> socket) {
  if (!socket.ok()) return AskLater();
  begun_ = loop_.Now();
  // It may end at once.
  if (!packets_->Begin(*std::move(socket)).ok()) return AskLater();
  if (packets_->connected()) cables_.TellPacketsMoved(number_);
}

void JoinedPackets::OnEnded() {
  if (loop_.Now() - begun_ >= kLongestDelay) delay_ = kFirstDelay;
  ended_();
  AskLater();
}

void JoinedPackets::AskLater() {
  if (cables_.packets_token().empty()) return;
  const absl::Duration delay = delay_;
  delay_ = std::min(2 * delay, kLongestDelay);
  timer_ = loop_.RunAfter(delay, [this] {
    timer_ = TimerId::kNone;
    ++number_;
    Renew();
    ask_again_(cables_.packets_token(), number_, Met());
  });
}

}  // namespace ibemu::daemon

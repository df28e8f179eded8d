#include "daemon/networks/host_network.h"

#include <utility>

#include "mad/device.h"

namespace ibemu::daemon {

HostNetwork::HostNetwork(Loop& loop,
                         std::shared_ptr<HostConnections> connections, int port,
                         TunDevice tun, MakeCarrier make)
    : loop_(loop),
      port_(port),
      name_(tun.name()),
      connections_(std::move(connections)),
      tun_(std::move(tun)),
      buffer_(TunDevice::kLongestPacket) {
  // It may call this at once.
  carrier_ = make(*connections_, *this);
  tun_->SetCarrier(carrier_->up());
}

HostNetwork::~HostNetwork() {
  carrier_.reset();
  CloseDevice();
}

// The kernel takes some 20 ms to take a device away.
void HostNetwork::CloseDevice() {
  if (!tun_) return;
  loop_.Forget(tun_->fd());
  loop_.RunBriefly({.run = [fd = tun_->Release()]() mutable { fd.Reset(); },
                    .late = [] {},
                    .done = [](absl::Duration /*took*/) {}});
  tun_.reset();
}

absl::Status HostNetwork::Start(absl::AnyInvocable<void()> ended) {
  ended_ = std::move(ended);
  changes_ = connections_->host().Watch([this] { OnHostChange(); });
  return Watch();
}

bool HostNetwork::waits() const {
  const mad::Port& port = connections_->host().device().port(port_);
  return !carrier_->up() && port.Info().port_state == mad::PortState::kActive;
}

absl::Status HostNetwork::Watch() {
  return loop_.Watch(tun_->fd(), [this] { OnReadable(); });
}

// What can't be sent waits in the device, whose queue has an end.
void HostNetwork::OnReadable() {
  for (int i = 0; i < kBurst; ++i) {
    if (carrier_->room() == 0) {
      paused_ = true;
      return loop_.Forget(tun_->fd());
    }
    const auto packet = tun_->Read(buffer_);
    if (!packet.ok()) return End();
    if (packet->empty()) return;
    carrier_->Send(*packet);
  }
}

// It may be told in the middle of a call.
void HostNetwork::OnHostChange() {
  if (!connections_->host().removed()) return;
  loop_.RunSoon([weak = std::weak_ptr(self_)] {
    if (const auto self = weak.lock()) (*self)->End();
  });
}

void HostNetwork::End() {
  if (ended()) return;
  carrier_.reset();
  changes_.reset();
  CloseDevice();
  connections_.reset();
  auto ended = std::move(ended_);
  ended();
}

void HostNetwork::Receive(std::span<const std::byte> packet) {
  tun_->Write(packet);
}

void HostNetwork::OnLinkChange() {
  if (carrier_ != nullptr) tun_->SetCarrier(carrier_->up());
  OnRoom();
}

void HostNetwork::OnRoom() {
  if (!paused_) return;
  paused_ = false;
  if (!Watch().ok()) paused_ = true;
}

}  // namespace ibemu::daemon

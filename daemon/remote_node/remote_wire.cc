#include "daemon/remote_node/remote_wire.h"

#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <string>
#include <utility>

#include "absl/strings/str_format.h"
#include "base/status_macros.h"
#include "nlohmann/json.hpp"

namespace ibemu::daemon {

void RemoteWire::Send(std::span<const std::byte> packet) {
  wires_.Send(WireMessage::kPacket, port_, packet);
}

mad::LocalVerdict RemoteWire::ProcessLocal(const mad::Arrival& request,
                                           mad::MadBytes& reply) {
  wires_.Send(WireMessage::kRequest, port_, EncodeRequest(request));
  std::vector<std::byte> payload;
  wires_.lost_.Update(wires_.WaitFor(WireMessage::kReply, port_, payload));
  if (!wires_.lost_.ok()) return mad::LocalVerdict::kUnhandled;
  const absl::StatusOr<mad::LocalVerdict> verdict = DecodeReply(payload, reply);
  wires_.lost_.Update(verdict.status());
  return verdict.ok() ? *verdict : mad::LocalVerdict::kUnhandled;
}

int RemoteWire::GidCount() const {
  return static_cast<int>(state_.gids.size());
}

wire::Gid RemoteWire::GidAt(int index) const {
  if (index < 0 || index >= GidCount()) return {};
  return state_.gids[static_cast<size_t>(index)];
}

int RemoteWire::PKeyCount() const {
  return static_cast<int>(state_.p_keys.size());
}

uint16_t RemoteWire::PKeyAt(int index) const {
  if (index < 0 || index >= PKeyCount()) return 0;
  return state_.p_keys[static_cast<size_t>(index)];
}

void RemoteWire::SetIsSm(bool is_sm) {
  const std::byte flag{is_sm};
  wires_.Send(WireMessage::kIsSm, port_, std::span(&flag, 1));
}

void RemoteWire::SetEnabled(bool enabled) {
  const std::byte flag{enabled};
  wires_.Send(WireMessage::kEnable, port_, std::span(&flag, 1));
}

RemoteWires::RemoteWires(UniqueFd socket) : socket_(std::move(socket)) {}

absl::StatusOr<std::unique_ptr<RemoteWires>> RemoteWires::Plug(
    control::Client& client, std::string_view node) {
  IBEMU_ASSIGN_OR_RETURN(UniqueFd socket,
                         client.OpenStream("wire.attach", {{"node", node}}));
  return Adopt(std::move(socket));
}

absl::StatusOr<std::unique_ptr<RemoteWires>> RemoteWires::Adopt(
    UniqueFd socket) {
  std::unique_ptr<RemoteWires> wires(new RemoteWires(std::move(socket)));
  const auto known = [&] {
    return wires->port_count() > 0 && wires->wires_.back().state_.ports > 0;
  };
  while (!known()) IBEMU_RETURN_IF_ERROR(wires->Receive(true));
  wires->pending_.clear();
  return wires;
}

absl::Status RemoteWires::Dispatch() {
  IBEMU_RETURN_IF_ERROR(lost_);
  lost_.Update(Receive(false));
  while (!pending_.empty()) {
    const WireSplitter::Message message = std::move(pending_.front());
    pending_.pop_front();
    hca::model::WireListener* const listener = wire(message.port).listener_;
    if (listener == nullptr) continue;
    if (message.type == WireMessage::kPacket) {
      listener->OnPacket(message.payload);
    } else {
      listener->OnPortEvent();
    }
  }
  return lost_;
}

// The daemon may wait for us to read before it reads.
void RemoteWires::Send(WireMessage type, int port,
                       std::span<const std::byte> payload) {
  std::vector<std::byte> bytes;
  AppendMessage(type, port, payload, bytes);
  std::span<const std::byte> left = bytes;
  while (!left.empty() && lost_.ok()) {
    const ssize_t count = send(socket_.get(), left.data(), left.size(),
                               MSG_DONTWAIT | MSG_NOSIGNAL);
    if (count >= 0) {
      left = left.subspan(static_cast<size_t>(count));
    } else if (errno == EAGAIN) {
      pollfd room = {socket_.get(), POLLIN | POLLOUT, 0};
      poll(&room, 1, -1);
      if ((room.revents & POLLIN) != 0) lost_.Update(Receive(false));
      if (has_pending()) on_pending_();
    } else if (errno != EINTR) {
      lost_ = absl::UnavailableError("the daemon has ended");
    }
  }
}

absl::Status RemoteWires::WaitFor(WireMessage type, int port,
                                  std::vector<std::byte>& payload) {
  while (replies_.empty()) {
    IBEMU_RETURN_IF_ERROR(lost_);
    IBEMU_RETURN_IF_ERROR(Receive(true));
  }
  if (has_pending()) on_pending_();
  WireSplitter::Message reply = std::move(replies_.front());
  replies_.pop_front();
  if (reply.type != type || reply.port != port) {
    return absl::UnavailableError("the daemon answers what nobody asked");
  }
  payload = std::move(reply.payload);
  return absl::OkStatus();
}

absl::Status RemoteWires::Receive(bool wait) {
  std::array<std::byte, 65536> bytes;
  const ssize_t count =
      recv(socket_.get(), bytes.data(), bytes.size(), wait ? 0 : MSG_DONTWAIT);
  if (count < 0 && (errno == EAGAIN || errno == EINTR)) return Sort();
  if (count <= 0) return absl::UnavailableError("the daemon has ended");
  splitter_.Add(std::span(bytes).first(static_cast<size_t>(count)));
  return Sort();
}

absl::Status RemoteWires::Sort() {
  WireSplitter::Message message;
  while (true) {
    IBEMU_ASSIGN_OR_RETURN(const bool there, splitter_.Next(message));
    if (!there) return absl::OkStatus();
    WirePortState state;
    if (message.type == WireMessage::kState) {
      IBEMU_ASSIGN_OR_RETURN(state, DecodeState(message.payload));
      // The first one says how many there will be.
      while (port_count() < state.ports) {
        wires_.emplace_back(*this, port_count() + 1);
      }
    }
    if (message.port < 1 || message.port > port_count()) {
      return absl::UnavailableError(
          absl::StrFormat("the daemon speaks of port %d: there are %d",
                          message.port, port_count()));
    }
    if (message.type == WireMessage::kReply) {
      replies_.push_back(std::move(message));
      continue;
    }
    if (message.type == WireMessage::kState) {
      wire(message.port).state_ = std::move(state);
    }
    pending_.push_back(std::move(message));
  }
}

}  // namespace ibemu::daemon

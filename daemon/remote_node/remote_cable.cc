#include "daemon/remote_node/remote_cable.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <array>
#include <cerrno>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/status_macros.h"
#include "nlohmann/json.hpp"
#include "topology/topology.h"

namespace ibemu::daemon {

void RemoteCable::Send(std::span<const std::byte> packet) {
  cables_.Send(NodeLinkMessage::kPacket, port_, packet);
}

mad::LocalVerdict RemoteCable::ProcessLocal(const mad::Arrival& request,
                                            mad::MadBytes& reply) {
  cables_.Send(NodeLinkMessage::kRequest, port_, EncodeRequest(request));
  std::vector<std::byte> payload;
  cables_.lost_.Update(
      cables_.WaitFor(NodeLinkMessage::kReply, port_, payload));
  if (!cables_.lost_.ok()) return mad::LocalVerdict::kUnhandled;
  const absl::StatusOr<mad::LocalVerdict> verdict = DecodeReply(payload, reply);
  cables_.lost_.Update(verdict.status());
  return verdict.ok() ? *verdict : mad::LocalVerdict::kUnhandled;
}

int RemoteCable::GidCount() const {
  return static_cast<int>(state_.gids.size());
}

wire::Gid RemoteCable::GidAt(int index) const {
  if (index < 0 || index >= GidCount()) return {};
  return state_.gids[static_cast<size_t>(index)];
}

int RemoteCable::PKeyCount() const {
  return static_cast<int>(state_.p_keys.size());
}

uint16_t RemoteCable::PKeyAt(int index) const {
  if (index < 0 || index >= PKeyCount()) return 0;
  return state_.p_keys[static_cast<size_t>(index)];
}

void RemoteCable::SetIsSm(bool is_sm) {
  const std::byte flag{is_sm};
  cables_.Send(NodeLinkMessage::kIsSm, port_, std::span(&flag, 1));
}

void RemoteCable::SetEnabled(bool enabled) {
  const std::byte flag{enabled};
  cables_.Send(NodeLinkMessage::kEnable, port_, std::span(&flag, 1));
}

RemoteCables::RemoteCables(UniqueFd socket) : socket_(std::move(socket)) {}

absl::StatusOr<std::unique_ptr<RemoteCables>> RemoteCables::Plug(
    control::Client client, std::string_view node) {
  IBEMU_ASSIGN_OR_RETURN(UniqueFd socket,
                         client.OpenStream("wire.attach", {{"node", node}}));
  IBEMU_ASSIGN_OR_RETURN(std::unique_ptr<RemoteCables> cables,
                         Adopt(std::move(socket)));
  cables->client_ = std::move(client);
  return cables;
}

absl::StatusOr<std::unique_ptr<RemoteCables>> RemoteCables::Adopt(
    UniqueFd socket) {
  const timeval patience = absl::ToTimeval(kPatience);
  if (setsockopt(socket.get(), SOL_SOCKET, SO_RCVTIMEO, &patience,
                 sizeof patience) != 0) {
    return absl::ErrnoToStatus(errno, "SO_RCVTIMEO");
  }
  std::unique_ptr<RemoteCables> cables(new RemoteCables(std::move(socket)));
  const auto known = [&] {
    return cables->port_count() > 0 && cables->cables_.back().state_.ports > 0;
  };
  while (!known()) IBEMU_RETURN_IF_ERROR(cables->Receive(true));
  cables->pending_.clear();
  return cables;
}

void RemoteCables::Describe(std::string_view text) {
  Send(NodeLinkMessage::kDescription, 1,
       std::as_bytes(std::span(text.substr(0, topology::kMaxDescription))));
}

absl::Status RemoteCables::Dispatch() {
  IBEMU_RETURN_IF_ERROR(lost_);
  lost_.Update(Receive(false));
  while (!pending_.empty()) {
    const NodeLinkSplitter::Message message = std::move(pending_.front());
    pending_.pop_front();
    hca::model::CableListener* const listener = cable(message.port).listener_;
    if (listener == nullptr) continue;
    if (message.type == NodeLinkMessage::kPacket) {
      listener->OnPacket(message.payload);
    } else {
      listener->OnPortEvent();
    }
  }
  return lost_;
}

// The daemon may wait for us to read before it reads.
void RemoteCables::Send(NodeLinkMessage type, int port,
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

absl::Status RemoteCables::WaitFor(NodeLinkMessage type, int port,
                                   std::vector<std::byte>& payload) {
  while (replies_.empty()) {
    IBEMU_RETURN_IF_ERROR(lost_);
    IBEMU_RETURN_IF_ERROR(Receive(true));
  }
  if (has_pending()) on_pending_();
  NodeLinkSplitter::Message reply = std::move(replies_.front());
  replies_.pop_front();
  if (reply.type != type || reply.port != port) {
    return absl::UnavailableError("the daemon answers what nobody asked");
  }
  payload = std::move(reply.payload);
  return absl::OkStatus();
}

absl::Status RemoteCables::Receive(bool wait) {
  std::array<std::byte, 65536> bytes;
  const ssize_t count =
      recv(socket_.get(), bytes.data(), bytes.size(), wait ? 0 : MSG_DONTWAIT);
  if (count < 0 && wait && errno == EAGAIN) {
    return absl::UnavailableError(absl::StrCat(
        "the daemon has not answered for ", absl::FormatDuration(kPatience)));
  }
  if (count < 0 && (errno == EAGAIN || errno == EINTR)) return Sort();
  if (count <= 0) return absl::UnavailableError("the daemon has ended");
  splitter_.Add(std::span(bytes).first(static_cast<size_t>(count)));
  return Sort();
}

absl::Status RemoteCables::Sort() {
  NodeLinkSplitter::Message message;
  while (true) {
    IBEMU_ASSIGN_OR_RETURN(const bool there, splitter_.Next(message));
    if (!there) return absl::OkStatus();
    NodeLinkPortState state;
    if (message.type == NodeLinkMessage::kState) {
      IBEMU_ASSIGN_OR_RETURN(state, DecodeState(message.payload));
      // The first one says how many there will be.
      while (port_count() < state.ports) {
        cables_.emplace_back(*this, port_count() + 1);
      }
    }
    if (message.port < 1 || message.port > port_count()) {
      return absl::UnavailableError(
          absl::StrFormat("the daemon speaks of port %d: there are %d",
                          message.port, port_count()));
    }
    if (message.type == NodeLinkMessage::kReply) {
      replies_.push_back(std::move(message));
      continue;
    }
    if (message.type == NodeLinkMessage::kState) {
      cable(message.port).state_ = std::move(state);
    }
    pending_.push_back(std::move(message));
  }
}

}  // namespace ibemu::daemon

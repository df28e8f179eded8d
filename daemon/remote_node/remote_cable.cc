#include "daemon/remote_node/remote_cable.h"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <string>
#include <utility>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/clock.h"
#include "base/secret.h"
#include "base/status_macros.h"
#include "daemon/remote_node/format/packet_train.h"
#include "nlohmann/json.hpp"
#include "topology/topology.h"
#include "wire/layout.h"

namespace ibemu::daemon {
namespace {

// The most that is kept for a daemon.
constexpr size_t kMaxKeptInAll =
    2 * RemoteCables::kMaxKept + PacketTrain::kLongest;

// Returns true for messages that may be dropped when too much waits: packets,
// and what is told of those with wrong keys.
bool MayBeLost(NodeLinkMessage type) {
  return type == NodeLinkMessage::kPacket || type == NodeLinkMessage::kTrain ||
         type == NodeLinkMessage::kBadKey;
}

}  // namespace

void RemoteCable::Send(std::span<const std::byte> packet) {
  cables_.Send(NodeLinkMessage::kPacket, port_, packet);
}

mad::LocalVerdict RemoteCable::ProcessLocal(const mad::Arrival& request,
                                            mad::MadBytes& reply) {
  const auto verdict = [&]() -> absl::StatusOr<mad::LocalVerdict> {
    IBEMU_ASSIGN_OR_RETURN(const std::vector<std::byte> payload,
                           cables_.Ask(port_, EncodeRequest(request)));
    return DecodeReply(payload, reply);
  }();
  if (verdict.ok()) return *verdict;
  cables_.Lose(verdict.status());
  return mad::LocalVerdict::kUnhandled;
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

void RemoteCable::OnBadKey(const mad::BadKey& bad) {
  if (!state_.takes_bad_keys) return;
  cables_.Send(NodeLinkMessage::kBadKey, port_, EncodeBadKey(bad));
}

void RemoteCable::SetIsSm(bool is_sm) {
  const std::byte flag{is_sm};
  cables_.Send(NodeLinkMessage::kIsSm, port_, std::span(&flag, 1));
}

void RemoteCable::SetEnabled(bool enabled) {
  const std::byte flag{enabled};
  cables_.Send(NodeLinkMessage::kEnable, port_, std::span(&flag, 1));
}

RemoteCables::RemoteCables(UniqueFd socket, absl::Duration patience, Side side)
    : socket_(std::move(socket)),
      splitter_(side == Side::kDaemon ? PacketTrain::kLongest
                                      : NodeLinkHeader::kLongest),
      patience_(patience) {}

absl::StatusOr<std::unique_ptr<RemoteCables>> RemoteCables::Plug(
    control::Client client, std::string_view node, absl::Duration patience,
    Side side) {
  nlohmann::json parameters = {{"node", node}};
  if (side == Side::kDaemon) {
    parameters["leases"] = kLeasesHere;
    parameters["trains"] = true;
  }
  UniqueFd packet_line;
  std::string token;
  const auto& methods = client.greeting().capabilities;
  if (std::ranges::find(methods, "node_link.attach") == methods.end()) {
    return absl::FailedPreconditionError(
        "the daemon that has the subnet is of another release: end it, and "
        "start it again");
  }
  if (side == Side::kDaemon &&
      std::ranges::find(methods, "packets.await") != methods.end()) {
    token = SecretText(DrawSecret());
    auto line = client.OpenStream("packets.await", {{"token", token}});
    // Packets go by the node link where there is no room for a connection.
    if (!line.ok() && !absl::IsResourceExhausted(line.status())) {
      return line.status();
    }
    if (line.ok()) {
      packet_line = *std::move(line);
      parameters["packets"] = token;
    } else {
      token.clear();
    }
  }
  IBEMU_ASSIGN_OR_RETURN(UniqueFd socket,
                         client.OpenStream("node_link.attach", parameters));
  return Adopt(std::move(socket), patience, side, std::move(packet_line),
               std::move(token));
}

absl::StatusOr<std::unique_ptr<RemoteCables>> RemoteCables::Adopt(
    UniqueFd socket, absl::Duration patience, Side side, UniqueFd packet_line,
    std::string packets_token) {
  std::unique_ptr<RemoteCables> cables(
      new RemoteCables(std::move(socket), patience, side));
  cables->packet_line_ = std::move(packet_line);
  cables->packets_token_ = std::move(packets_token);
  const auto known = [&] {
    return cables->port_count() > 0 && cables->cables_.back().state_.ports > 0;
  };
  IBEMU_RETURN_IF_ERROR(cables->Until(known));
  cables->pending_.clear();
  cables->pending_bytes_ = 0;
  return cables;
}

void RemoteCables::Describe(std::string_view text) {
  Send(NodeLinkMessage::kDescription, 1,
       std::as_bytes(std::span(text.substr(0, topology::kMaxDescription))));
}

absl::Status RemoteCables::Dispatch() {
  if (lost_.ok()) {
    Flush();
    if (absl::Status received = Receive(); !received.ok()) {
      Lose(std::move(received));
    }
  }
  while (!pending_.empty()) {
    const NodeLinkSplitter::Message message = std::move(pending_.front());
    pending_.pop_front();
    pending_bytes_ -= wire::kBytes<NodeLinkHeader> + message.payload.size();
    hca::model::CableListener* const listener = cable(message.port).listener_;
    if (message.type == NodeLinkMessage::kTrain) {
      const absl::StatusOr<fabric::Packet> packets =
          DecodeTrain(message.payload);
      if (packets.ok()) {
        take_train_(message.port, *packets);
      } else {
        Lose(packets.status());
      }
      continue;
    }
    if (message.type == NodeLinkMessage::kPacketsMoved) {
      const auto number = DecodeNumber(message.payload);
      if (number.ok()) {
        packets_moved_(*number);
      } else {
        Lose(absl::UnavailableError("the daemon says what makes no sense"));
      }
      continue;
    }
    if (message.type >= NodeLinkMessage::kLease) {
      absl::Status taken =
          told_lease_(message.type, message.port, message.payload);
      if (!taken.ok()) Lose(std::move(taken));
      continue;
    }
    if (listener == nullptr) continue;
    switch (message.type) {
      case NodeLinkMessage::kPacket:
        listener->OnPacket(message.payload);
        break;
      case NodeLinkMessage::kReregister:
        listener->OnReregister();
        break;
      default:
        listener->OnPortEvent();
    }
  }
  return lost_;
}

void RemoteCables::Send(NodeLinkMessage type, int port,
                        std::span<const std::byte> payload) {
  const bool full = kept_.waiting() > kMaxKept;
  if (!lost_.ok() || (full && MayBeLost(type))) return;
  if (full && kept_.waiting() > kMaxKeptInAll) {
    return Lose(absl::UnavailableError("the daemon does not take anything"));
  }
  const bool was_blocked = kept_.waiting() > 0;
  AppendMessage(type, port, payload, kept_.bytes());
  if (!was_blocked && !Flush()) on_blocked_();
}

bool RemoteCables::SendTrain(int port, const fabric::Packet& packets) {
  if (packets.Count() > PacketTrain::kMaxPackets) return false;
  Send(NodeLinkMessage::kTrain, port, EncodeTrain(packets));
  return true;
}

// That it hung up is told by reading.
bool RemoteCables::Flush() {
  return kept_.Send(socket_.get()) != control::SendBuffer::Outcome::kNoRoom;
}

absl::StatusOr<std::vector<std::byte>> RemoteCables::Ask(
    int port, std::span<const std::byte> request) {
  IBEMU_RETURN_IF_ERROR(lost_);
  asks_ = true;
  reply_.reset();
  const absl::Cleanup answered = [this] {
    asks_ = false;
    if (has_pending()) on_pending_();
  };
  Send(NodeLinkMessage::kRequest, port, request);
  IBEMU_RETURN_IF_ERROR(Until([this] { return reply_.has_value(); }));
  if (reply_->port != port) {
    return absl::UnavailableError("the daemon answers what nobody asked");
  }
  return std::move(reply_->payload);
}

// Not by the loop's clock, which stands still meanwhile.  Who sends and sends,
// but not what is awaited, is as slow as who is silent.
absl::Status RemoteCables::Until(absl::FunctionRef<bool()> met) {
  const absl::Time limit = absl::Now() + patience_;
  while (!met()) {
    IBEMU_RETURN_IF_ERROR(lost_);
    IBEMU_RETURN_IF_ERROR(Await(limit));
    IBEMU_RETURN_IF_ERROR(Receive());
    if (!met() && absl::Now() >= limit) return NotInTime();
  }
  return absl::OkStatus();
}

// The daemon may wait for us to read before it reads.
absl::Status RemoteCables::Await(absl::Time limit) {
  while (true) {
    pollfd ready = {socket_.get(), POLLIN, 0};
    if (kept_.waiting() > 0) ready.events |= POLLOUT;
    const absl::Duration left =
        std::max(limit - absl::Now(), absl::ZeroDuration());
    const int milliseconds =
        left == absl::InfiniteDuration()
            ? -1
            : static_cast<int>(absl::ToInt64Milliseconds(
                  absl::Ceil(left, absl::Milliseconds(1))));
    const int count = poll(&ready, 1, milliseconds);
    if (count == 0 && absl::Now() >= limit) return NotInTime();
    if (count > 0 && (ready.revents & POLLOUT) != 0) Flush();
    if (count > 0 && (ready.revents & ~POLLOUT) != 0) return absl::OkStatus();
  }
}

absl::Status RemoteCables::NotInTime() const {
  return absl::DeadlineExceededError(
      absl::StrCat("the daemon that has its fabric did not answer within ",
                   absl::FormatDuration(patience_)));
}

absl::Status RemoteCables::Receive() {
  std::array<std::byte, 65536> bytes;
  const ssize_t count =
      recv(socket_.get(), bytes.data(), bytes.size(), MSG_DONTWAIT);
  if (count < 0 && (errno == EAGAIN || errno == EINTR)) return absl::OkStatus();
  if (count <= 0) {
    return absl::UnavailableError("the daemon that has its fabric has ended");
  }
  splitter_.Add(std::span(bytes).first(static_cast<size_t>(count)));
  return Sort();
}

void RemoteCables::Lose(absl::Status why) {
  if (!lost_.ok()) return;
  lost_ = std::move(why);
  kept_.Clear();
  shutdown(socket_.get(), SHUT_RDWR);
  on_pending_();
}

absl::Status RemoteCables::CheckPort(int port) const {
  if (port >= 1 && port <= port_count()) return absl::OkStatus();
  return absl::UnavailableError(absl::StrFormat(
      "the daemon speaks of port %d: there are %d", port, port_count()));
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
    IBEMU_RETURN_IF_ERROR(CheckPort(message.port));
    if (message.type == NodeLinkMessage::kReply) {
      if (!asks_ || reply_) {
        return absl::UnavailableError("the daemon answers what nobody asked");
      }
      reply_ = std::move(message);
      continue;
    }
    if (message.type == NodeLinkMessage::kEcho) {
      // Also while an answer is awaited, and programs here wait with it.
      Send(NodeLinkMessage::kEcho, message.port, message.payload);
      continue;
    }
    if (message.type == NodeLinkMessage::kState) {
      cable(message.port).state_ = std::move(state);
    }
    if (pending_bytes_ > kMaxKept && MayBeLost(message.type)) continue;
    if (pending_bytes_ > kMaxKeptInAll) {
      return absl::UnavailableError("the daemon tells more than can be heard");
    }
    pending_bytes_ += wire::kBytes<NodeLinkHeader> + message.payload.size();
    pending_.push_back(std::move(message));
  }
}

}  // namespace ibemu::daemon

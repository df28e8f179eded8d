#include "daemon/remote_node/node_link_host.h"

#include <fcntl.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <string>
#include <utility>

#include "absl/strings/str_format.h"
#include "base/status_macros.h"
#include "daemon/remote_node/format/packet_train.h"
#include "spdlog/spdlog.h"

namespace ibemu::daemon {
namespace {

std::string TextOf(std::span<const std::byte> bytes) {
  std::string text(bytes.size(), '\0');
  std::ranges::transform(bytes, text.begin(), [](std::byte byte) {
    return static_cast<char>(byte);
  });
  return text;
}

}  // namespace

NodeLinkHost::NodeLinkHost(Loop& loop, std::unique_ptr<FabricCables> cables,
                           UniqueFd socket, size_t max_buffered)
    : loop_(loop),
      max_buffered_(max_buffered),
      cables_(std::move(cables)),
      reader_(std::move(socket)) {}

NodeLinkHost::~NodeLinkHost() { End(); }

void NodeLinkHost::TakeLeases(LeaseTable& leases, LeaseTable::Place place) {
  party_ = leases.Join(cables_->node(), std::move(place),
                       [this](NodeLinkMessage type, int port,
                              std::span<const std::byte> payload) {
                         if (type == NodeLinkMessage::kLease &&
                             (full() || (packets_ && packets_->full()))) {
                           return false;
                         }
                         // Behind the packets that came before.
                         if (type == NodeLinkMessage::kLeaseUsed && packets_ &&
                             packets_->Send(type, port, payload)) {
                           return true;
                         }
                         Queue(type, port, payload);
                         Flush();
                         return true;
                       });
  for (int port = 1; port <= cables_->port_count(); ++port) {
    FabricCable& cable = cables_->cable(port);
    cable.OnSent([this, id = cable.id()](const fabric::Packet& packet) {
      party_->OnPacket(id, packet);
    });
  }
}

void NodeLinkHost::ServeDaemon() {
  cables_->LeaveReadsToAgents();
  RenewPackets();
  splitter_ = NodeLinkSplitter(PacketTrain::kLongest);
  for (int port = 1; port <= cables_->port_count(); ++port) {
    cables_->cable(port).TakePacketsBy(
        [this, port](const fabric::Packet& packets) {
          return SendPackets(port, packets);
        });
  }
}

void NodeLinkHost::RenewPackets() {
  packets_.emplace(
      loop_, max_buffered_,
      [this](const NodeLinkSplitter::Message& message) {
        return TakePackets(message);
      },
      [this] {
        if (party_ != nullptr) party_->RepeatUsed();
      });
}

absl::Status NodeLinkHost::ConnectPackets(UniqueFd socket, uint32_t number) {
  if (!packets_) {
    return absl::FailedPreconditionError("the adapter takes no connection");
  }
  if (number <= packet_socket_number_ || number < packets_moved_) {
    return absl::FailedPreconditionError(absl::StrFormat(
        "connection %d of packets comes late: the adapter has had %d", number,
        std::max(packet_socket_number_, packets_moved_)));
  }
  packet_socket_ = std::move(socket);
  packet_socket_number_ = number;
  MovePackets();
  return absl::OkStatus();
}

// It has given the one before up, however much of it is here.
absl::Status NodeLinkHost::OnPacketsMoved(std::span<const std::byte> payload) {
  IBEMU_ASSIGN_OR_RETURN(const uint32_t number, DecodeNumber(payload));
  if (number <= packets_moved_) {
    return absl::InvalidArgumentError(
        absl::StrFormat("connection %d of packets is an older one than %d",
                        number, packets_moved_));
  }
  packets_moved_ = number;
  if (packets_->connected()) {
    RenewPackets();
    if (party_ != nullptr) party_->RepeatUsed();
  }
  MovePackets();
  return absl::OkStatus();
}

// Not before the adapter has: somebody else might have the other end of the
// socket, but only the adapter can say so on this node link.
void NodeLinkHost::MovePackets() {
  if (!packet_socket_.valid() || packet_socket_number_ != packets_moved_) {
    return;
  }
  RenewPackets();
  const absl::Status begun = packets_->Begin(std::move(packet_socket_));
  if (!begun.ok()) {
    spdlog::warn("an adapter's packets stay on its node link: {}",
                 std::string(begun.message()));
    return;
  }
  packets_->OnMoved();
  Queue(NodeLinkMessage::kPacketsMoved, 1, EncodeNumber(packets_moved_));
  Flush();
}

absl::Status NodeLinkHost::TakePackets(
    const NodeLinkSplitter::Message& message) {
  IBEMU_RETURN_IF_ERROR(CheckPort(message.port));
  if (message.type == NodeLinkMessage::kLeaseUsed && party_ != nullptr) {
    return HandleLease(message);
  }
  IBEMU_ASSIGN_OR_RETURN(const fabric::Packet packets, DecodePackets(message));
  cables_->cable(message.port).Send(packets);
  return absl::OkStatus();
}

bool NodeLinkHost::SendPackets(int port, const fabric::Packet& packets) {
  if (packets_->Send(port, packets)) return true;
  const uint32_t count = packets.Count();
  if (count == 1 || count > PacketTrain::kMaxPackets) return false;
  if (full()) return true;  // lost, as one by one
  Queue(NodeLinkMessage::kTrain, port, EncodeTrain(packets));
  Flush();
  return true;
}

absl::Status NodeLinkHost::Start() {
  writer_ = UniqueFd(fcntl(reader_.get(), F_DUPFD_CLOEXEC, 0));
  if (!writer_.valid()) {
    return absl::ErrnoToStatus(errno, "can't duplicate the socket");
  }
  for (int port = 1; port <= cables_->port_count(); ++port) {
    cables_->cable(port).SetListener(&listeners_.emplace_back(*this, port));
    TellState(port);
  }
  SendEcho();
  return Listen();
}

// However much waits for the adapter: that is when it is behind.
void NodeLinkHost::SendEcho() {
  Queue(NodeLinkMessage::kEcho, 1, EncodeEcho(latency_.Send(loop_.Now())));
  Flush();
}

absl::Status NodeLinkHost::Listen() {
  return loop_.Watch(reader_.get(), [this] { OnReadable(); });
}

void NodeLinkHost::OnReadable() {
  std::array<std::byte, 65536> bytes;
  const ssize_t count =
      recv(reader_.get(), bytes.data(), bytes.size(), MSG_DONTWAIT);
  if (count < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (count <= 0) return End();
  splitter_.Add(std::span(bytes).first(static_cast<size_t>(count)));
  if (!HandleMessages()) return End();
  Flush();
  Pace();
}

bool NodeLinkHost::HandleMessages() {
  NodeLinkSplitter::Message message;
  while (!full()) {
    const absl::StatusOr<bool> there = splitter_.Next(message);
    absl::Status status = there.status();
    if (status.ok() && !*there) return true;
    if (status.ok()) status = Handle(message);
    if (!status.ok()) {
      spdlog::warn("an adapter's connection ends: {}",
                   std::string(status.message()));
      return false;
    }
  }
  return true;
}

absl::Status NodeLinkHost::CheckPort(int port) const {
  if (port >= 1 && port <= cables_->port_count()) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrFormat("port %d does not exist: there are 1 to %d", port,
                      cables_->port_count()));
}

absl::Status NodeLinkHost::Handle(const NodeLinkSplitter::Message& message) {
  IBEMU_RETURN_IF_ERROR(CheckPort(message.port));
  FabricCable& cable = cables_->cable(message.port);
  const auto is_flag = [&] { return message.payload.size() == 1; };
  switch (message.type) {
    case NodeLinkMessage::kPacket:
      cable.Send(message.payload);
      return absl::OkStatus();
    case NodeLinkMessage::kTrain: {
      if (!packets_) break;
      IBEMU_ASSIGN_OR_RETURN(const fabric::Packet packets,
                             DecodeTrain(message.payload));
      cable.Send(packets);
      return absl::OkStatus();
    }
    case NodeLinkMessage::kRequest: {
      IBEMU_ASSIGN_OR_RETURN(const mad::Arrival request,
                             DecodeRequest(message.payload));
      mad::MadBytes reply = request.mad;
      const mad::LocalVerdict verdict = cable.ProcessLocal(request, reply);
      // The adapter hears what the request changed before the reply.
      TellState(message.port);
      Queue(NodeLinkMessage::kReply, message.port, EncodeReply(verdict, reply));
      return absl::OkStatus();
    }
    case NodeLinkMessage::kIsSm:
      if (!is_flag()) break;
      cable.SetIsSm(message.payload[0] != std::byte{0});
      return absl::OkStatus();
    case NodeLinkMessage::kEnable:
      if (!is_flag()) break;
      cable.SetEnabled(message.payload[0] != std::byte{0});
      return absl::OkStatus();
    case NodeLinkMessage::kDescription:
      cables_->Describe(TextOf(message.payload));
      return absl::OkStatus();
    case NodeLinkMessage::kBadKey: {
      IBEMU_ASSIGN_OR_RETURN(const mad::BadKey bad,
                             DecodeBadKey(message.payload));
      cable.OnBadKey(bad);
      return absl::OkStatus();
    }
    case NodeLinkMessage::kEcho: {
      IBEMU_ASSIGN_OR_RETURN(const uint64_t number,
                             DecodeEcho(message.payload));
      IBEMU_RETURN_IF_ERROR(latency_.OnReturned(number, loop_.Now()));
      echo_timer_ =
          loop_.RunAfter(LinkLatency::kInterval, [this] { SendEcho(); });
      return absl::OkStatus();
    }
    case NodeLinkMessage::kPacketsMoved:
      if (!packets_) break;
      return OnPacketsMoved(message.payload);
    case NodeLinkMessage::kLeaseReady:
    case NodeLinkMessage::kLeaseUsed:
    case NodeLinkMessage::kLeaseUsage:
    case NodeLinkMessage::kLeaseEnded:
      if (party_ == nullptr) break;
      return HandleLease(message);
    default:
      break;
  }
  return absl::InvalidArgumentError(
      absl::StrFormat("no message has type %d and %d bytes",
                      static_cast<int>(message.type), message.payload.size()));
}

absl::Status NodeLinkHost::HandleLease(
    const NodeLinkSplitter::Message& message) {
  if (message.type == NodeLinkMessage::kLeaseUsage) {
    IBEMU_ASSIGN_OR_RETURN(const NodeLinkLeaseUsage usage,
                           DecodeLeaseUsage(message.payload));
    party_->OnUsage(usage);
    return absl::OkStatus();
  }
  IBEMU_ASSIGN_OR_RETURN(const uint32_t number, DecodeNumber(message.payload));
  if (message.type == NodeLinkMessage::kLeaseReady) {
    party_->OnReady(number);
  } else if (message.type == NodeLinkMessage::kLeaseUsed) {
    party_->OnUsed(number);
  } else {
    party_->OnEnded(number);
  }
  return absl::OkStatus();
}

void NodeLinkHost::Listener::OnPacket(std::span<const std::byte> packet) {
  if (host_.full()) return;
  host_.Queue(NodeLinkMessage::kPacket, port_, packet);
  host_.Flush();
}

void NodeLinkHost::Listener::OnPortEvent() {
  behind_ = host_.full();
  if (!behind_) host_.TellState(port_);
}

void NodeLinkHost::Listener::OnReregister() {
  owes_reregister_ = host_.full();
  if (owes_reregister_) return;
  host_.Queue(NodeLinkMessage::kReregister, port_, {});
  host_.Flush();
}

void NodeLinkHost::Listener::CatchUp() {
  if (behind_) OnPortEvent();
  if (owes_reregister_) OnReregister();
}

void NodeLinkHost::TellState(int port) {
  const FabricCable& cable = cables_->cable(port);
  NodeLinkPortState state{.info = cable.Info(),
                          .node_guid = cable.node_guid(),
                          .ports = cables_->port_count(),
                          .takes_bad_keys = true};
  for (int i = 0; i < cable.GidCount(); ++i)
    state.gids.push_back(cable.GidAt(i));
  for (int i = 0; i < cable.PKeyCount(); ++i) {
    state.p_keys.push_back(cable.PKeyAt(i));
  }
  Queue(NodeLinkMessage::kState, port, EncodeState(state));
  Flush();
}

void NodeLinkHost::Queue(NodeLinkMessage type, int port,
                         std::span<const std::byte> payload) {
  AppendMessage(type, port, payload, buffer_.bytes());
}

void NodeLinkHost::Flush() {
  if (waits_for_room_) return;
  // That it hung up is told by reading.
  if (buffer_.Send(writer_.get()) == control::SendBuffer::Outcome::kNoRoom) {
    waits_for_room_ =
        loop_.WatchWritable(writer_.get(), [this] { OnRoom(); }).ok();
  }
}

void NodeLinkHost::OnRoom() {
  loop_.Forget(writer_.get());
  waits_for_room_ = false;
  Flush();
  for (Listener& listener : listeners_) listener.CatchUp();
  Pace();
}

void NodeLinkHost::Pace() {
  while (cables_ != nullptr && paused_ != full()) {
    if (!paused_) {
      loop_.Forget(reader_.get());
      paused_ = true;
      return;
    }
    paused_ = false;
    if (!HandleMessages() || !Listen().ok()) return End();
    Flush();
  }
}

void NodeLinkHost::End() {
  if (cables_ == nullptr) return;
  if (!paused_) loop_.Forget(reader_.get());
  if (waits_for_room_) loop_.Forget(writer_.get());
  loop_.Cancel(echo_timer_);
  paused_ = waits_for_room_ = false;
  packets_.reset();
  packet_socket_.Reset();
  party_.reset();
  cables_.reset();
  reader_.Reset();
  writer_.Reset();
  // The object stays until somebody else takes the node.
  buffer_.Clear();
  splitter_ = {};
}

}  // namespace ibemu::daemon

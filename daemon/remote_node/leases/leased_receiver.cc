#include "daemon/remote_node/leases/leased_receiver.h"

#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <span>
#include <utility>

#include "absl/status/statusor.h"
#include "base/status_macros.h"
#include "fabric/packet/packet_parser.h"
#include "fabric/packet/transport.h"

namespace ibemu::daemon {

LeasedReceiver::LeasedReceiver(
    Loop& loop, UniqueFd socket, const fabric::PacketKind& kind, size_t mtu,
    std::function<void(const fabric::Packet&)> deliver)
    : loop_(loop),
      socket_(std::move(socket)),
      kind_(kind),
      mtu_(mtu),
      deliver_(std::move(deliver)) {}

LeasedReceiver::~LeasedReceiver() {
  loop_.Cancel(rest_);
  if (watched_) loop_.Forget(socket_.get());
}

absl::Status LeasedReceiver::Start(
    std::function<void(const absl::Status&)> ended) {
  ended_ = std::move(ended);
  return Watch();
}

absl::Status LeasedReceiver::Watch() {
  IBEMU_RETURN_IF_ERROR(
      loop_.WatchEagerly(socket_.get(), [this] { return OnReadable(); }));
  watched_ = true;
  return absl::OkStatus();
}

bool LeasedReceiver::OnReadable() {
  std::array<std::byte, size_t{128} << 10> bytes;
  const ssize_t count =
      recv(socket_.get(), bytes.data(), bytes.size(), MSG_DONTWAIT);
  if (count < 0 && (errno == EAGAIN || errno == EINTR)) return false;
  if (count <= 0) {
    End(absl::OkStatus());
    return true;
  }
  splitter_.Add(std::span(bytes).first(static_cast<size_t>(count)));
  TakeSome();
  return true;
}

void LeasedReceiver::TakeSome() {
  rest_ = TimerId::kNone;
  NodeLinkSplitter::Message message;
  for (int taken = 0; taken < kMostAtOnce; ++taken) {
    const absl::StatusOr<bool> there = splitter_.Next(message);
    if (!there.ok()) return End(there.status());
    if (!*there) {
      if (watched_) return;
      if (absl::Status again = Watch(); !again.ok()) End(again);
      return;
    }
    if (absl::Status good = Take(message); !good.ok()) return End(good);
  }
  if (std::exchange(watched_, false)) loop_.Forget(socket_.get());
  rest_ = loop_.RunAt(loop_.Now(), [this] { TakeSome(); });
}

absl::Status LeasedReceiver::Take(const NodeLinkSplitter::Message& message) {
  if (message.type != NodeLinkMessage::kPacket &&
      message.type != NodeLinkMessage::kTrain) {
    return absl::InvalidArgumentError("a lease is for packets");
  }
  IBEMU_ASSIGN_OR_RETURN(const fabric::Packet packets,
                         message.type == NodeLinkMessage::kPacket
                             ? fabric::ParsePacket(message.payload)
                             : DecodeTrain(message.payload));
  if (fabric::KindOf(packets) != kind_ || packets.transport->longest() > mtu_) {
    return absl::InvalidArgumentError("the lease is for other packets");
  }
  deliver_(packets);
  return absl::OkStatus();
}

void LeasedReceiver::End(const absl::Status& why) {
  if (std::exchange(watched_, false)) loop_.Forget(socket_.get());
  const auto ended = std::move(ended_);
  ended(why);
}

}  // namespace ibemu::daemon

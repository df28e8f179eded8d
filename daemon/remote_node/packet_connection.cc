#include "daemon/remote_node/packet_connection.h"

#include <fcntl.h>
#include <sys/socket.h>

#include <cerrno>
#include <string>
#include <utility>

#include "daemon/remote_node/format/packet_train.h"
#include "spdlog/spdlog.h"

namespace ibemu::daemon {

PacketConnection::PacketConnection(Loop& loop, size_t max_buffered, Take take,
                                   std::function<void()> ended)
    : loop_(loop),
      max_buffered_(max_buffered),
      take_(std::move(take)),
      ended_(std::move(ended)) {}

PacketConnection::~PacketConnection() {
  if (waits_for_room_) loop_.Forget(writer_.get());
  if (waits_for_end_) loop_.Forget(reader_.get());
}

absl::Status PacketConnection::Begin(UniqueFd socket) {
  if (writer_.valid()) {
    return absl::AlreadyExistsError("packets have a connection");
  }
  writer_ = UniqueFd(fcntl(socket.get(), F_DUPFD_CLOEXEC, 0));
  if (!writer_.valid()) {
    return absl::ErrnoToStatus(errno, "can't duplicate the socket");
  }
  reader_ = std::move(socket);
  Receive();
  if (!reader_.valid()) return absl::OkStatus();
  absl::Status watched = loop_.Watch(reader_.get(), [this] { OnEarly(); });
  waits_for_end_ = watched.ok();
  if (!watched.ok()) {
    writer_.Reset();
    reader_.Reset();
  }
  return watched;
}

void PacketConnection::OnEarly() {
  char byte = 0;
  const ssize_t count = recv(reader_.get(), &byte, 1, MSG_PEEK | MSG_DONTWAIT);
  if (count < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (count <= 0) return End(absl::UnavailableError("the other end hung up"));
  loop_.Forget(reader_.get());
  waits_for_end_ = false;
}

void PacketConnection::OnMoved() {
  moved_ = true;
  Receive();
}

// Not before the connection is there and what was sent before is here.
void PacketConnection::Receive() {
  if (!moved_ || !reader_.valid()) return;
  if (std::exchange(waits_for_end_, false)) loop_.Forget(reader_.get());
  receiver_ =
      std::make_unique<MessageReceiver>(loop_, std::move(reader_), take_);
  const absl::Status started =
      receiver_->Start([this](const absl::Status& why) { End(why); });
  if (!started.ok()) End(started);
}

bool PacketConnection::Send(int port, const fabric::Packet& packets) {
  if (!writer_.valid() || !GoesByConnection(packets)) return false;
  if (full()) return true;  // they are lost
  AppendPackets(port, packets, buffer_.bytes());
  flush_.Request();
  return true;
}

bool PacketConnection::Send(NodeLinkMessage type, int port,
                            std::span<const std::byte> payload) {
  if (!writer_.valid()) return false;
  AppendMessage(type, port, payload, buffer_.bytes());
  flush_.Request();
  return true;
}

void PacketConnection::Flush() {
  if (!writer_.valid() || waits_for_room_) return;
  switch (buffer_.Send(writer_.get())) {
    case control::SendBuffer::Outcome::kAllSent:
      return;
    case control::SendBuffer::Outcome::kNoRoom:
      waits_for_room_ = loop_
                            .WatchWritable(writer_.get(),
                                           [this] {
                                             loop_.Forget(writer_.get());
                                             waits_for_room_ = false;
                                             Flush();
                                           })
                            .ok();
      return;
    case control::SendBuffer::Outcome::kLost:
      return End(absl::UnavailableError("the other end hung up"));
  }
}

void PacketConnection::End(const absl::Status& why) {
  spdlog::debug("the connection of a node link's packets ends: {}",
                std::string(why.message()));
  if (std::exchange(waits_for_room_, false)) loop_.Forget(writer_.get());
  if (std::exchange(waits_for_end_, false)) loop_.Forget(reader_.get());
  writer_.Reset();
  reader_.Reset();
  buffer_.Clear();
  receiver_.reset();
  ended_();
}

}  // namespace ibemu::daemon

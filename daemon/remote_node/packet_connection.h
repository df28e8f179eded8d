// PacketConnection: a connection of a node link's two ends for packets.
#ifndef IBEMU_DAEMON_REMOTE_NODE_PACKET_CONNECTION_H_
#define IBEMU_DAEMON_REMOTE_NODE_PACKET_CONNECTION_H_

#include <cstddef>
#include <functional>
#include <memory>
#include <span>

#include "absl/status/status.h"
#include "base/deferred_call.h"
#include "base/unique_fd.h"
#include "control/send_buffer.h"
#include "daemon/remote_node/format/node_link_format.h"
#include "daemon/remote_node/leases/message_receiver.h"
#include "fabric/packet/packet.h"
#include "loop/loop.h"

namespace ibemu::daemon {

// A PacketConnection is the shorter way between a joined host and the daemon
// that has its subnet, beside their node link, which passes two more processes
// on each machine.  Packets of queue pairs go by it, both ways; MADs, states
// and questions stay on the node link, which is encrypted.  It may come late,
// not at all, or end: then packets go by the node link.
//
// Each end says on its node link when packets go by the connection from now on
// (NodeLinkMessage::kPacketsMoved), and the other reads nothing of it before,
// so none overtakes another.  When it ends, some may, and some are lost.
// Another may follow (JoinedPackets): each has a number, which both ends say.
class PacketConnection {
 public:
  // Takes what the other end sends: kPacket, kTrain or kLeaseUsed.  An error
  // ends the connection.  It may not destroy this.
  using Take = MessageReceiver::Take;

  // `max_buffered`: bytes that are kept for an end that does not read; further
  // packets are lost.  `ended` is called when Send() has no connection any
  // more; it may not destroy this.  `loop` must outlive this.
  PacketConnection(Loop& loop, size_t max_buffered, Take take,
                   std::function<void()> ended);
  ~PacketConnection();
  PacketConnection(const PacketConnection&) = delete;
  PacketConnection& operator=(const PacketConnection&) = delete;

  // Sends packets by `socket`, a stream socket, from now on: the caller says so
  // on the node link.
  //
  // Errors: AlreadyExists, it has one; those of the system calls.
  absl::Status Begin(UniqueFd socket);
  // The other end has said so.
  void OnMoved();
  bool full() const { return buffer_.waiting() > max_buffered_; }
  // Whether Send() has a connection.
  bool connected() const { return writer_.valid(); }

  // Sends packets of a queue pair.  Returns false if they have to go by the
  // node link.
  bool Send(int port, const fabric::Packet& packets);
  // The same of a message that comes behind them.
  bool Send(NodeLinkMessage type, int port, std::span<const std::byte> payload);

 private:
  // Something has come, or the end, before it may be read.
  void OnEarly();
  void Receive();
  void Flush();
  void End(const absl::Status& why);

  Loop& loop_;
  const size_t max_buffered_;
  const Take take_;
  const std::function<void()> ended_;
  // Two descriptors of one socket: the loop watches each for one thing.
  UniqueFd reader_;  // until `receiver_` has it
  UniqueFd writer_;
  control::SendBuffer buffer_;
  bool moved_ = false;  // the other end's packets
  bool waits_for_end_ = false;
  bool waits_for_room_ = false;
  std::unique_ptr<MessageReceiver> receiver_;
  DeferredCall flush_{loop_, [this] { Flush(); }};
};

}  // namespace ibemu::daemon

#endif  // IBEMU_DAEMON_REMOTE_NODE_PACKET_CONNECTION_H_

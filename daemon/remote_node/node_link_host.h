// A node of the fabric whose adapter is another process.
#ifndef IBEMU_DAEMON_REMOTE_NODE_NODE_LINK_HOST_H_
#define IBEMU_DAEMON_REMOTE_NODE_NODE_LINK_HOST_H_

#include <cstddef>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "base/unique_fd.h"
#include "control/send_buffer.h"
#include "daemon/remote_node/fabric_cable.h"
#include "daemon/remote_node/format/node_link_format.h"
#include "daemon/remote_node/format/node_link_splitter.h"
#include "daemon/remote_node/leases/lease_table.h"
#include "daemon/remote_node/link_latency.h"
#include "daemon/remote_node/packet_connection.h"
#include "hca/model/cable.h"
#include "loop/loop.h"

namespace ibemu::daemon {

// Speaks daemon/remote_node/format/node_link_format.h with it.  What it does
// not read in time is lost if it is a packet, and told later if it is a port's
// state; its requests wait meanwhile.  So neither it nor what happens to its
// links can make the daemon buffer without end.
class NodeLinkHost {
 public:
  static constexpr size_t kMaxBuffered = size_t{4} << 20;

  // `loop` must outlive this.  `socket`: a unix stream socket.  From more than
  // `max_buffered` bytes on that wait for it, the adapter is not heard on its
  // node link.
  NodeLinkHost(Loop& loop, std::unique_ptr<FabricCables> cables,
               UniqueFd socket, size_t max_buffered = kMaxBuffered);
  NodeLinkHost(const NodeLinkHost&) = delete;
  NodeLinkHost& operator=(const NodeLinkHost&) = delete;
  ~NodeLinkHost();

  // The adapter may have leases; its daemon meets those of other hosts at
  // `place`.  `leases` must outlive this.
  void TakeLeases(LeaseTable& leases, LeaseTable::Place place);

  // The adapter is another daemon's.  It knows messages of several packets
  // (PacketTrain): it may send them, and gets them.  What only reads from the
  // node's agents it does not get.  Call it before Start().
  void ServeDaemon();
  // Packets go by `socket`, a stream socket, as soon as the adapter says that
  // it has the other end, see PacketConnection.  `number`: of the connection,
  // 1, 2, ...; one with a lower number ends then.
  //
  // Errors: FailedPrecondition, the adapter has ended, knows no trains or has
  // gone on to another connection.
  absl::Status ConnectPackets(UniqueFd socket, uint32_t number = 1);
  // Whether they go by such a socket now.
  bool has_packet_connection() const {
    return packets_ && packets_->connected();
  }

  // Tells the state of each port, then serves until either end goes.
  absl::Status Start();

  // The other end hung up, or said what nobody may: the node is the fabric's.
  bool ended() const { return cables_ == nullptr; }

  // Leases by which the adapter sends.
  size_t leases() const { return party_ ? party_->leases() : 0; }

  // How long messages take to the adapter, and how long it has owed an answer.
  const LinkLatency& latency() const { return latency_; }

  // Bytes that are kept for the other end, those that it read lately included.
  size_t buffered() const { return buffer_.size(); }

 private:
  // One port's way out.
  class Listener : public hca::model::CableListener {
   public:
    Listener(NodeLinkHost& host, int port) : host_(host), port_(port) {}
    void OnPacket(std::span<const std::byte> packet) override;
    void OnPortEvent() override;
    void OnReregister() override;
    // Tells the state that there was no room for.
    void CatchUp();

   private:
    NodeLinkHost& host_;
    const int port_;
    bool behind_ = false;  // with the state
    bool owes_reregister_ = false;
  };

  // Sends packets by their connection, or several as one message.  Returns
  // false if they have to go by the node link, one by one.
  bool SendPackets(int port, const fabric::Packet& packets);
  // There is no connection of packets, and one more may begin.
  void RenewPackets();
  // The adapter has its end of a connection.
  absl::Status OnPacketsMoved(std::span<const std::byte> payload);
  // Has packets go by a connection when both ends have it.
  void MovePackets();
  // Takes what came by the packets' connection.
  absl::Status TakePackets(const NodeLinkSplitter::Message& message);
  // Returns OK if the node has the port.
  absl::Status CheckPort(int port) const;
  bool full() const { return buffer_.waiting() > max_buffered_; }
  absl::Status Listen();
  void OnReadable();
  // False: the stream is lost.
  bool HandleMessages();
  absl::Status Handle(const NodeLinkSplitter::Message& message);
  absl::Status HandleLease(const NodeLinkSplitter::Message& message);
  void SendEcho();
  void TellState(int port);
  void Queue(NodeLinkMessage type, int port,
             std::span<const std::byte> payload);
  void Flush();
  void OnRoom();
  // Whoever does not read is not heard.
  void Pace();
  void End();

  Loop& loop_;
  const size_t max_buffered_;
  std::unique_ptr<FabricCables> cables_;
  std::unique_ptr<LeaseTable::Party> party_;  // null: without leases
  // Two descriptors of one socket: the loop watches each for one thing.
  UniqueFd reader_, writer_;
  std::deque<Listener> listeners_;
  LinkLatency latency_;
  TimerId echo_timer_ = TimerId::kNone;
  NodeLinkSplitter splitter_;
  std::optional<PacketConnection> packets_;  // if it knows trains
  UniqueFd packet_socket_;                   // until the adapter has the other
  // The numbers of the last one that came, and of the last that the adapter
  // has.
  uint32_t packet_socket_number_ = 0, packets_moved_ = 0;
  control::SendBuffer buffer_;
  bool waits_for_room_ = false;
  bool paused_ = false;  // reads no more
};

}  // namespace ibemu::daemon

#endif  // IBEMU_DAEMON_REMOTE_NODE_NODE_LINK_HOST_H_

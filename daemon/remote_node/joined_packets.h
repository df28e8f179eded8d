// JoinedPackets: the packet connections of a joined host, one after the other.
#ifndef IBEMU_DAEMON_REMOTE_NODE_JOINED_PACKETS_H_
#define IBEMU_DAEMON_REMOTE_NODE_JOINED_PACKETS_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "base/timers.h"
#include "base/unique_fd.h"
#include "daemon/remote_node/format/node_link_format.h"
#include "daemon/remote_node/leases/host_leases.h"
#include "daemon/remote_node/packet_connection.h"
#include "daemon/remote_node/remote_cable.h"
#include "fabric/packet/packet.h"
#include "loop/loop.h"

namespace ibemu::daemon {

// JoinedPackets are the joined host's end of its PacketConnection.  When one
// ends, or does not come, it asks for another, with the next number, after a
// time that doubles up to a bound: meanwhile packets go by the node link.
class JoinedPackets {
 public:
  // Asks for connection `number` of the node link whose first one had the token
  // `first`.  `met` is called from the loop, and not before it returns.
  using AskAgain = std::function<void(const std::string& first, uint32_t number,
                                      HostLeases::Met met)>;

  // The delays before it asks.  A connection that lasted for less than the
  // second counts as one that did not come.
  static constexpr absl::Duration kFirstDelay = absl::Seconds(1);
  static constexpr absl::Duration kLongestDelay = absl::Minutes(1);

  // `take` and `ended`: of PacketConnection.  `loop` and `cables` must outlive
  // this.
  JoinedPackets(Loop& loop, RemoteCables& cables, AskAgain ask_again,
                PacketConnection::Take take, std::function<void()> ended);
  ~JoinedPackets();
  JoinedPackets(const JoinedPackets&) = delete;
  JoinedPackets& operator=(const JoinedPackets&) = delete;

  // As PacketConnection::Send().
  bool Send(int port, const fabric::Packet& packets) {
    return packets_->Send(port, packets);
  }
  bool Send(NodeLinkMessage type, int port,
            std::span<const std::byte> payload) {
    return packets_->Send(type, port, payload);
  }

 private:
  void Renew();
  // Returns what takes connection `number_`.
  HostLeases::Met Met();
  void OnMet(absl::StatusOr<UniqueFd> socket);
  void OnEnded();
  void AskLater();

  Loop& loop_;
  RemoteCables& cables_;
  const AskAgain ask_again_;
  const PacketConnection::Take take_;
  const std::function<void()> ended_;
  uint32_t number_ = 1;
  std::unique_ptr<PacketConnection> packets_;  // it may have ended
  absl::Time begun_ = absl::InfiniteFuture();
  absl::Duration delay_ = kFirstDelay;
  TimerId timer_ = TimerId::kNone;
  // Expires with this: for tasks.
  const std::shared_ptr<JoinedPackets*> self_ =
      std::make_shared<JoinedPackets*>(this);
};

}  // namespace ibemu::daemon

#endif  // IBEMU_DAEMON_REMOTE_NODE_JOINED_PACKETS_H_

// LeasedReceiver: the receiving end of a lease's connection.
#ifndef IBEMU_DAEMON_REMOTE_NODE_LEASES_LEASED_RECEIVER_H_
#define IBEMU_DAEMON_REMOTE_NODE_LEASES_LEASED_RECEIVER_H_

#include <cstddef>
#include <functional>
#include <string>

#include "absl/status/status.h"
#include "base/timers.h"
#include "base/unique_fd.h"
#include "daemon/remote_node/format/node_link_format.h"
#include "daemon/remote_node/format/packet_train.h"
#include "fabric/forwarding/clear_path.h"
#include "fabric/packet/packet.h"
#include "loop/loop.h"

namespace ibemu::daemon {

// A LeasedReceiver takes packets of one kind from a stream socket.  The sender
// may be any owner of a host, and a hostile one: anything but such packets ends
// the connection.
class LeasedReceiver {
 public:
  // The most messages that are taken before other tasks have their turn.
  static constexpr int kMostAtOnce = 64;

  // `mtu`: bytes of payload of a packet at most.  `deliver` gets each packet,
  // or several of one message.
  // `loop` must outlive this.
  LeasedReceiver(Loop& loop, UniqueFd socket, const fabric::PacketKind& kind,
                 size_t mtu,
                 std::function<void(const fabric::Packet&)> deliver);
  ~LeasedReceiver();
  LeasedReceiver(const LeasedReceiver&) = delete;
  LeasedReceiver& operator=(const LeasedReceiver&) = delete;

  // Calls `ended`, once, with OK when the other end has ended the stream, else
  // with what it did: it may destroy this.
  absl::Status Start(std::function<void(const absl::Status&)> ended);

 private:
  absl::Status Watch();
  // Returns whether there was something.
  bool OnReadable();
  void TakeSome();
  absl::Status Take(const NodeLinkSplitter::Message& message);
  void End(const absl::Status& why);

  Loop& loop_;
  const UniqueFd socket_;
  const fabric::PacketKind kind_;
  const size_t mtu_;
  const std::function<void(const fabric::Packet&)> deliver_;
  std::function<void(const absl::Status&)> ended_;
  NodeLinkSplitter splitter_{PacketTrain::kLongest};
  bool watched_ = false;
  TimerId rest_ = TimerId::kNone;  // takes the rest of what was read
};

}  // namespace ibemu::daemon

#endif  // IBEMU_DAEMON_REMOTE_NODE_LEASES_LEASED_RECEIVER_H_

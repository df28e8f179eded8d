// LeasedReceiver: the receiving end of a lease's connection.
#ifndef IBEMU_DAEMON_REMOTE_NODE_LEASES_LEASED_RECEIVER_H_
#define IBEMU_DAEMON_REMOTE_NODE_LEASES_LEASED_RECEIVER_H_

#include <cstddef>
#include <functional>
#include <utility>

#include "absl/status/status.h"
#include "base/unique_fd.h"
#include "daemon/remote_node/format/node_link_format.h"
#include "daemon/remote_node/format/node_link_splitter.h"
#include "daemon/remote_node/leases/message_receiver.h"
#include "fabric/forwarding/clear_path.h"
#include "fabric/packet/packet.h"
#include "loop/loop.h"

namespace ibemu::daemon {

// A LeasedReceiver takes packets of one kind from a stream socket.  The sender
// may be any owner of a host, and a hostile one: anything but such packets ends
// the connection.
class LeasedReceiver {
 public:
  // `mtu`: bytes of payload of a packet at most.  `deliver` gets each packet,
  // or several of one message.
  // `loop` must outlive this.
  LeasedReceiver(Loop& loop, UniqueFd socket, const fabric::PacketKind& kind,
                 size_t mtu,
                 std::function<void(const fabric::Packet&)> deliver);
  LeasedReceiver(const LeasedReceiver&) = delete;
  LeasedReceiver& operator=(const LeasedReceiver&) = delete;

  // Calls `ended`, once, with OK when the other end has ended the stream, else
  // with what it did: it may destroy this.
  absl::Status Start(std::function<void(const absl::Status&)> ended) {
    return receiver_.Start(std::move(ended));
  }

 private:
  absl::Status Take(const NodeLinkSplitter::Message& message);

  const fabric::PacketKind kind_;
  const size_t mtu_;
  const std::function<void(const fabric::Packet&)> deliver_;
  MessageReceiver receiver_;
};

}  // namespace ibemu::daemon

#endif  // IBEMU_DAEMON_REMOTE_NODE_LEASES_LEASED_RECEIVER_H_

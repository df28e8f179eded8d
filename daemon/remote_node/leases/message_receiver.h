// MessageReceiver: the receiving end of a connection for packets.
#ifndef IBEMU_DAEMON_REMOTE_NODE_LEASES_MESSAGE_RECEIVER_H_
#define IBEMU_DAEMON_REMOTE_NODE_LEASES_MESSAGE_RECEIVER_H_

#include <functional>

#include "absl/status/status.h"
#include "base/timers.h"
#include "base/unique_fd.h"
#include "daemon/remote_node/format/node_link_format.h"
#include "daemon/remote_node/format/node_link_splitter.h"
#include "daemon/remote_node/format/packet_train.h"
#include "loop/loop.h"

namespace ibemu::daemon {

// A MessageReceiver takes messages with packets (PacketTrain) from a stream
// socket, as soon as they come.  The sender may be a hostile one: a message
// that is too long, or that the owner does not take, ends the connection.
class MessageReceiver {
 public:
  // The most messages that are taken before other tasks have their turn.
  static constexpr int kMaxAtOnce = 64;

  // Takes a message.  An error ends the connection.  It may not destroy this.
  using Take = std::function<absl::Status(const NodeLinkSplitter::Message&)>;

  // `loop` must outlive this.
  MessageReceiver(Loop& loop, UniqueFd socket, Take take);
  ~MessageReceiver();
  MessageReceiver(const MessageReceiver&) = delete;
  MessageReceiver& operator=(const MessageReceiver&) = delete;

  // Calls `ended`, once, with OK when the other end has ended the stream, else
  // with what it did: it may destroy this.
  absl::Status Start(std::function<void(const absl::Status&)> ended);

 private:
  absl::Status Watch();
  // Returns whether there was something.
  bool OnReadable();
  void TakeSome();
  void End(const absl::Status& why);

  Loop& loop_;
  const UniqueFd socket_;
  const Take take_;
  std::function<void(const absl::Status&)> ended_;
  NodeLinkSplitter splitter_{PacketTrain::kLongest};
  bool watched_ = false;
  TimerId rest_ = TimerId::kNone;  // takes the rest of what was read
};

}  // namespace ibemu::daemon

#endif  // IBEMU_DAEMON_REMOTE_NODE_LEASES_MESSAGE_RECEIVER_H_

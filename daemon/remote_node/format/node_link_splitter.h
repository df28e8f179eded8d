// NodeLinkSplitter: the messages in the stream of a node link.
#ifndef IBEMU_DAEMON_REMOTE_NODE_FORMAT_NODE_LINK_SPLITTER_H_
#define IBEMU_DAEMON_REMOTE_NODE_FORMAT_NODE_LINK_SPLITTER_H_

#include <cstddef>
#include <span>
#include <vector>

#include "absl/status/statusor.h"
#include "daemon/remote_node/format/node_link_format.h"

namespace ibemu::daemon {

// A NodeLinkSplitter cuts a stream into messages.
class NodeLinkSplitter {
 public:
  struct Message {
    NodeLinkMessage type;
    int port;
    std::vector<std::byte> payload;
  };

  NodeLinkSplitter() = default;
  // `longest`: bytes of a message's payload at most.
  explicit NodeLinkSplitter(size_t longest) : longest_(longest) {}

  void Add(std::span<const std::byte> bytes);
  // Moves the next message to `message`.  Returns false if there is no whole
  // one yet.
  //
  // Errors: InvalidArgument for one that is too long: the stream is lost.
  absl::StatusOr<bool> Next(Message& message);

 private:
  size_t longest_ = NodeLinkHeader::kLongest;
  std::vector<std::byte> bytes_;
  size_t taken_ = 0;
};

}  // namespace ibemu::daemon

#endif  // IBEMU_DAEMON_REMOTE_NODE_FORMAT_NODE_LINK_SPLITTER_H_

// RemoteCable and RemoteCables: a node of a running daemon's fabric, for the
// adapter that is it.
#ifndef IBEMU_DAEMON_REMOTE_NODE_REMOTE_CABLE_H_
#define IBEMU_DAEMON_REMOTE_NODE_REMOTE_CABLE_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "base/unique_fd.h"
#include "control/client.h"
#include "control/send_buffer.h"
#include "daemon/remote_node/format/node_link_format.h"
#include "daemon/remote_node/format/node_link_splitter.h"
#include "fabric/packet/packet.h"
#include "hca/model/cable.h"

namespace ibemu::daemon {

class RemoteCables;

// A RemoteCable is one port of the node.  The daemon has the port's state;
// Info() and the like return a copy of it, which the daemon renews.
class RemoteCable : public hca::model::Cable {
 public:
  RemoteCable(RemoteCables& cables, int port) : cables_(cables), port_(port) {}

  void SetListener(hca::model::CableListener* listener) override {
    listener_ = listener;
  }
  void Send(std::span<const std::byte> packet) override;
  // Waits for the daemon; kUnhandled when it is gone, or silent for too long:
  // then the cables are lost.
  mad::LocalVerdict ProcessLocal(const mad::Arrival& request,
                                 mad::MadBytes& reply) override;
  mad::PortInfo Info() const override { return state_.info; }
  wire::Guid node_guid() const override { return state_.node_guid; }
  int GidCount() const override;
  wire::Gid GidAt(int index) const override;
  int PKeyCount() const override;
  uint16_t PKeyAt(int index) const override;
  void SetIsSm(bool is_sm) override;
  void OnBadKey(const mad::BadKey& bad) override;
  void SetEnabled(bool enabled) override;

 private:
  friend class RemoteCables;

  RemoteCables& cables_;
  const int port_;
  NodeLinkPortState state_;
  hca::model::CableListener* listener_ = nullptr;
};

// All ports of the node, over one socket.  Whoever owns it waits until fd() is
// readable, or has_pending(), and calls Dispatch().  Nothing that is sent waits
// for the daemon: what it does not take yet is kept.  Of packets, and of what
// is told of those with wrong keys, each way only kMaxKept bytes are: others
// are lost.
class RemoteCables {
 public:
  // Who has the adapter.
  enum class Side {
    kModel,   // knows single packets only
    kDaemon,  // knows leases, see OnLease(), and trains, see OnTrain()
  };

  // The value of "leases" in node_link.attach for daemons of one machine, which
  // meet in the daemon that has the subnet.
  static constexpr char kLeasesHere[] = "here";
  static constexpr size_t kMaxKept = size_t{4} << 20;

  // Plugs into `node` of the daemon that `client` talks to.  Returns when the
  // state of each port is known.  `patience`: how long an answer may take.
  //
  // Errors: the daemon's; Unavailable when it is gone; DeadlineExceeded.
  static absl::StatusOr<std::unique_ptr<RemoteCables>> Plug(
      control::Client client, std::string_view node,
      absl::Duration patience = absl::InfiniteDuration(),
      Side side = Side::kModel);

  // The same over a socket whose other end is a NodeLinkHost's.  `packet_line`
  // and `packets_token`: see TakePacketLine() and packets_token().
  static absl::StatusOr<std::unique_ptr<RemoteCables>> Adopt(
      UniqueFd socket, absl::Duration patience = absl::InfiniteDuration(),
      Side side = Side::kModel, UniqueFd packet_line = UniqueFd(),
      std::string packets_token = {});

  int port_count() const { return static_cast<int>(cables_.size()); }
  // 1 ... port_count().
  RemoteCable& cable(int port) {
    return cables_[static_cast<size_t>(port - 1)];
  }

  // Returns OK if the node has the port.  Errors: Unavailable, for the daemon
  // speaks of another.
  absl::Status CheckPort(int port) const;

  int fd() const { return socket_.get(); }
  // Something was read, or the daemon was lost, while an answer was awaited,
  // and does not show in fd().
  bool has_pending() const { return !pending_.empty() || !lost_.ok(); }
  // Calls `pending` when that happens, from within the call that waits.
  void OnPending(std::function<void()> pending) {
    on_pending_ = std::move(pending);
  }
  // Changes the node's description, of which 64 bytes are kept.
  void Describe(std::string_view text);
  // Calls `blocked` when something is kept that the daemon has not taken: when
  // fd() is writable, Flush() sends more of it.
  void OnBlocked(std::function<void()> blocked) {
    on_blocked_ = std::move(blocked);
  }
  // Sends what is kept, without waiting.  Returns true if nothing is any more.
  bool Flush();
  // Calls `told` with each message about leases.  Before this call they are
  // dropped.  An error that it returns ends the connection.
  using LeaseListener = std::function<absl::Status(
      NodeLinkMessage type, int port, std::span<const std::byte> payload)>;
  void OnLease(LeaseListener told) { told_lease_ = std::move(told); }
  // Sends a message about leases.
  void TellLease(NodeLinkMessage type, int port,
                 std::span<const std::byte> payload) {
    Send(type, port, payload);
  }
  // The line by which launch::SendDescriptor() brings the first connection for
  // packets (PacketConnection), once; invalid if none will come.
  UniqueFd TakePacketLine() { return std::move(packet_line_); }
  // The token of that one, by which others are asked for; empty: none can be
  // had.
  const std::string& packets_token() const { return packets_token_; }
  // Says that what follows of packets goes by connection `number`: 1, 2, ...
  void TellPacketsMoved(uint32_t number) {
    Send(NodeLinkMessage::kPacketsMoved, 1, EncodeNumber(number));
  }
  // Calls `moved` when the daemon says so.
  void OnPacketsMoved(std::function<void(uint32_t number)> moved) {
    packets_moved_ = std::move(moved);
  }
  // Calls `take` with each message of several packets (PacketTrain).  Before
  // this call they are dropped.
  void OnTrain(
      std::function<void(int port, const fabric::Packet& packets)> take) {
    take_train_ = std::move(take);
  }
  // Sends several packets of one message, and returns true; or false if they
  // have to go one by one.
  bool SendTrain(int port, const fabric::Packet& packets);
  // Takes what there is, without waiting, and tells the listeners.
  //
  // Errors: status()'s.
  absl::Status Dispatch();

  // Gives the connection up: the node is the daemon's again.
  void Lose(absl::Status why);
  // Why the connection is of no use any more: DeadlineExceeded when the daemon
  // did not answer in time, else Unavailable.
  const absl::Status& status() const { return lost_; }

 private:
  friend class RemoteCable;

  RemoteCables(UniqueFd socket, absl::Duration patience, Side side);

  void Send(NodeLinkMessage type, int port, std::span<const std::byte> payload);
  // Asks a port's agents, and waits for what they answer.
  absl::StatusOr<std::vector<std::byte>> Ask(
      int port, std::span<const std::byte> request);
  // Takes what comes until `met` returns true, for as long as the patience
  // lasts.
  absl::Status Until(absl::FunctionRef<bool()> met);
  // Waits until there are bytes to be taken, and sends what is kept meanwhile.
  absl::Status Await(absl::Time limit);
  absl::Status NotInTime() const;
  // Takes some bytes, if there are any.
  absl::Status Receive();
  // Sorts what has come: states are in force at once, the rest is pending.
  absl::Status Sort();

  UniqueFd socket_;
  UniqueFd packet_line_;
  std::string packets_token_;
  std::deque<RemoteCable> cables_;
  NodeLinkSplitter splitter_;
  std::deque<NodeLinkSplitter::Message> pending_;
  size_t pending_bytes_ = 0;
  bool asks_ = false;  // an answer is awaited
  std::optional<NodeLinkSplitter::Message> reply_;
  const absl::Duration patience_;
  control::SendBuffer kept_;
  std::function<void()> on_pending_ = [] {};
  std::function<void()> on_blocked_ = [] {};
  std::function<void(int, const fabric::Packet&)> take_train_ = [](auto...) {};
  std::function<void(uint32_t)> packets_moved_ = [](auto) {};
  LeaseListener told_lease_ = [](auto...) { return absl::OkStatus(); };
  absl::Status lost_;  // why the connection is of no use any more
};

}  // namespace ibemu::daemon

#endif  // IBEMU_DAEMON_REMOTE_NODE_REMOTE_CABLE_H_

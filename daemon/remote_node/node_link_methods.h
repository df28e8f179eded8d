// The control socket's methods by which programs become the adapters of nodes.
#ifndef IBEMU_DAEMON_REMOTE_NODE_NODE_LINK_METHODS_H_
#define IBEMU_DAEMON_REMOTE_NODE_NODE_LINK_METHODS_H_

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "control/method_table.h"
#include "daemon/adapters/host_table.h"
#include "daemon/remote_node/leases/lease_table.h"
#include "daemon/remote_node/leases/meeting_point.h"
#include "daemon/remote_node/node_link_host.h"
#include "fabric/fabric.h"
#include "loop/loop.h"
#include "nlohmann/json.hpp"

namespace ibemu::daemon {

// A node whose adapter is elsewhere.
struct JoinedNode {
  std::string node;  // its description
  std::string peer;  // who has it; empty: programs of this machine
  std::optional<absl::Duration> round_trip;  // see LinkLatency, here and below
  absl::Duration behind;
  size_t leases;               // by which it sends
  bool has_packet_connection;  // see PacketConnection
};

// NodeLinkMethods have the fabric's end of each node link.
class NodeLinkMethods {
 public:
  static constexpr size_t kMaxFree = 64;
  // The time for which a host that node_link.free told of first is told of
  // behind the others.
  static constexpr absl::Duration kOfferedFor = absl::Seconds(5);

  // All must outlive this.  `exact`: every packet goes through the fabric, and
  // nobody gets a lease.
  NodeLinkMethods(Loop& loop, fabric::Fabric& fabric, HostTable& hosts,
                  bool exact);
  NodeLinkMethods(const NodeLinkMethods&) = delete;
  NodeLinkMethods& operator=(const NodeLinkMethods&) = delete;
  ~NodeLinkMethods();

  // Adds
  //   node_link.attach   {"node": "node-2", "peer": "pc7 (10.0.0.7)",
  //                      "leases": "10.0.0.7:40123", "trains": true} and one
  //                      end of a pair of stream sockets, whose other end is a
  //                      RemoteCables': the node is its owner's while that is
  //                      open.  "peer": who has it on another machine, for
  //                      people.  "leases": it can have leases, and meets
  //                      others there, or "here", by lease.meet.  "trains": it
  //                      is another daemon's, which knows messages of several
  //                      packets, and would ask the node's agents here about
  //                      every SubnGet(): those that they answer do not go to
  //                      it.  "encrypts": its leases' connections are TLS's.
  //                      "packets": a token, with which node_link.packets may
  //                      follow
  //   node_link.packets  {"token": "...", "number": 1} and a stream socket, the
  //                      other end of which that adapter gets: packets of its
  //                      queue pairs go by it as soon as the adapter says that
  //                      it has the one of this number (PacketConnection), a
  //                      higher one each time
  //   node_link.free     ["0x...", ...]: the GUIDs of hosts' adapters that no
  //                      program here and nobody elsewhere has, kMaxFree at
  //                      most.  Each who asks gets another first one, so that
  //                      many can take theirs at the same time
  //   lease.meet         see MeetingPoint
  void AddTo(control::MethodTable& dispatcher);

  // Keeps the adapters of these nodes out of node_link.free for `time`, or
  // until somebody has had one, for those who had them before.  Call it once.
  void Reserve(const std::vector<topology::NodeId>& nodes, absl::Duration time);

  // Returns who has which node now, by the nodes' numbers.
  std::vector<JoinedNode> Joined() const;
  // [{"node": "node-2", "peer": ..., "round_trip_seconds": 0.0002,
  //   "behind_seconds": 0, "leases": 3,
  //   "packet_connection": true}, ...]: the same; "round_trip_seconds"
  // is null before the first.
  nlohmann::json List() const;

 private:
  struct Attached {
    std::unique_ptr<NodeLinkHost> host;  // may have ended
    std::string peer;
    std::string packets;  // the token of their connections
  };

  absl::StatusOr<nlohmann::json> ConnectPackets(control::Parameters& parameters,
                                                control::Caller& caller);
  absl::StatusOr<nlohmann::json> Attach(control::Parameters& parameters,
                                        control::Caller& caller);
  absl::StatusOr<nlohmann::json> Free(control::Parameters& parameters);

  Loop& loop_;
  fabric::Fabric& fabric_;
  HostTable& hosts_;
  std::optional<LeaseTable> leases_;  // unless all is to be exact
  MeetingPoint meeting_point_;
  std::map<topology::NodeId, Attached> attached_;
  std::set<topology::NodeId> reserved_;
  TimerId reserved_timer_ = TimerId::kNone;
  std::map<topology::NodeId, absl::Time> offered_;  // see kOfferedFor
};

}  // namespace ibemu::daemon

#endif  // IBEMU_DAEMON_REMOTE_NODE_NODE_LINK_METHODS_H_

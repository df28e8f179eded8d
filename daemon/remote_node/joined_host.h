// JoinedHost: a host of another daemon's fabric whose adapter is here.
#ifndef IBEMU_DAEMON_REMOTE_NODE_JOINED_HOST_H_
#define IBEMU_DAEMON_REMOTE_NODE_JOINED_HOST_H_

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "daemon/remote_node/joined_packets.h"
#include "daemon/remote_node/leases/host_leases.h"
#include "daemon/remote_node/node_link_pump.h"
#include "daemon/remote_node/remote_cable.h"
#include "fabric/fabric.h"
#include "fabric/forwarding/endpoints.h"
#include "fabric/forwarding/remote_agents.h"
#include "hca/model/cable.h"
#include "loop/loop.h"
#include "topology/topology.h"

namespace ibemu::daemon {

// A JoinedHost stands between a node of the fabric here and the node that it is
// in another daemon's.  Packets that leave the one leave the other; agents,
// state and tables are those of the other.  When that daemon goes, the ports
// here go down until there is one again.
class JoinedHost final : private fabric::RemoteAdapter,
                         private fabric::RemoteAgents {
 public:
  using Plugged = absl::StatusOr<std::unique_ptr<RemoteCables>>;
  // Plugs into the other node when its daemon was gone, and calls `done` from
  // the loop.  It may not wait.  Errors: as RemoteCables::Plug().
  using PlugIn = std::function<void(absl::AnyInvocable<void(Plugged)> done)>;

  // The connections to other daemons: to the one that has the fabric, when it
  // was gone, to those of other hosts, and for packets when that one has ended.
  struct Ways {
    PlugIn plug_in;
    HostLeases::Meet meet;
    JoinedPackets::AskAgain ask_for_packets;
  };

  // After that time it is tried again, and again.
  static constexpr absl::Duration kRetry = absl::Seconds(1);

  // `cables` lead to the other node.  `beyond`: a channel adapter with the same
  // ports, each of which has a cable to the port of the same number of `node`.
  // `loop` and `fabric` must outlive this.
  JoinedHost(Loop& loop, fabric::Fabric& fabric, topology::NodeId node,
             topology::NodeId beyond, Ways ways,
             std::unique_ptr<RemoteCables> cables);
  ~JoinedHost();
  JoinedHost(const JoinedHost&) = delete;
  JoinedHost& operator=(const JoinedHost&) = delete;

  // Lets the links train.
  //
  // Errors: the loop's.
  absl::Status Start();

  // Calls `silent` when the other daemon did not answer a question in time,
  // from within the call that has waited for it.
  void OnSilence(std::function<void()> silent) { silent_ = std::move(silent); }
  // Takes the other daemon for gone.
  void GiveUp(absl::Status why) { cables_->Lose(std::move(why)); }

 private:
  // A cable's end here.
  class End final : public hca::model::CableListener {
   public:
    End(JoinedHost& host, int port) : host_(host), port_(port) {}
    void OnPacket(std::span<const std::byte> packet) override;
    void OnPortEvent() override { host_.TakeState(port_); }
    void OnReregister() override;
    int port() const { return port_; }

   private:
    JoinedHost& host_;
    const int port_;
  };

  fabric::PortId IdOf(topology::NodeId node, int port) const;
  std::string name() const;
  void StartLeases();
  void StartPackets();
  // Sends a message about leases.
  void TellLease(NodeLinkMessage type, int port,
                 std::span<const std::byte> payload);
  // Takes what came by the packets' connection.
  absl::Status TakePackets(const NodeLinkSplitter::Message& message);
  // Sends packets by a lease, or by their connection.  Returns false if they
  // have to go by the node link.
  bool SendBeside(int port, const fabric::Packet& packets);
  void TakeState(int port);
  void TakeDescription(const mad::MadBytes& answer);
  void OnLost();
  // Makes the ports here those of an adapter whose cables lead nowhere.
  void TakeDown();
  void PlugInSoon();
  void OnPlugged(Plugged cables);
  // Why there are no cables yet, once for each reason.
  void Explain(const absl::Status& why);

  // fabric::RemoteAdapter, at the other end of the cables
  void OnPacket(fabric::PortId port, const fabric::Packet& packet) override;
  bool OnPackets(fabric::PortId port, const fabric::Packet& packets) override;
  void OnReregister(fabric::PortId /*port*/) override {}
  // fabric::RemoteAgents
  std::optional<mad::LocalVerdict> Process(fabric::PortId port,
                                           const mad::Arrival& request,
                                           mad::MadBytes& reply) override;
  void SetIsSm(fabric::PortId port, bool is_sm) override;
  void OnDescription(std::string_view text) override;
  void OnBadKey(fabric::PortId port, const mad::BadKey& bad) override;

  Loop& loop_;
  fabric::Fabric& fabric_;
  const topology::NodeId node_, beyond_;
  const Ways ways_;
  std::unique_ptr<RemoteCables> cables_;
  std::deque<End> ends_;
  bool lost_ = false;  // the cables lead nowhere
  std::string explained_;
  // What programs here have made of the node, which a daemon that comes anew
  // does not know.
  std::set<int> managers_;  // ports with a subnet manager
  std::optional<std::string> description_;
  std::function<void()> silent_ = [] {};
  std::optional<HostLeases> leases_;      // with Start(), unless lost
  std::optional<JoinedPackets> packets_;  // the same
  std::optional<NodeLinkPump> pump_;      // with Start()
  // Expires with this: for tasks.
  const std::shared_ptr<JoinedHost*> self_ =
      std::make_shared<JoinedHost*>(this);
};

}  // namespace ibemu::daemon

#endif  // IBEMU_DAEMON_REMOTE_NODE_JOINED_HOST_H_

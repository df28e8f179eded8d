// HostLeases: the leases of a joined host, to others and from them.
#ifndef IBEMU_DAEMON_REMOTE_NODE_LEASES_HOST_LEASES_H_
#define IBEMU_DAEMON_REMOTE_NODE_LEASES_HOST_LEASES_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "base/unique_fd.h"
#include "daemon/remote_node/format/node_link_format.h"
#include "daemon/remote_node/leases/leased_receiver.h"
#include "daemon/remote_node/leases/leased_sender.h"
#include "fabric/forwarding/clear_path.h"
#include "fabric/packet/packet.h"
#include "loop/loop.h"

namespace ibemu::daemon {

// HostLeases are all leases of one joined host with their connections.  They
// hear what the LeaseTable tells over the node link, and answer.
class HostLeases {
 public:
  // Meets the daemon of the other host: `ready` is told when the other may
  // come, and `met` gets the connection, or the reason why there is none.  Both
  // from the loop, and neither before it returns.
  using Met = absl::AnyInvocable<void(absl::StatusOr<UniqueFd> socket)>;
  using Meet =
      std::function<void(const NodeLinkLease& lease, const std::string& address,
                         absl::AnyInvocable<void()> ready, Met met)>;
  // Tells the LeaseTable something.
  using Tell = std::function<void(NodeLinkMessage type, int port,
                                  std::span<const std::byte> payload)>;
  // A packet that has come by a lease, or several of one message.
  using Deliver = std::function<void(int port, const fabric::Packet& packets)>;

  // A connection has so long to send what is on its way when its lease has
  // ended.
  static constexpr absl::Duration kEndsWithin = absl::Milliseconds(100);

  // `loop` must outlive this.
  HostLeases(Loop& loop, Meet meet, Tell tell, Deliver deliver);
  HostLeases(const HostLeases&) = delete;
  HostLeases& operator=(const HostLeases&) = delete;

  // Takes what the LeaseTable tells.
  //
  // Errors: InvalidArgument, no table says this.
  absl::Status OnMessage(NodeLinkMessage type, int port,
                         std::span<const std::byte> payload);

  // Says again of each lease that it is used: what was said of it may be lost.
  void RepeatUsed();

  // Sends the packet, or several of one message, by a lease.  Returns false if
  // there is none for them: they go through the subnet.
  bool Send(int port, const fabric::Packet& packets);

 private:
  struct Lease {
    NodeLinkLease terms;
    int port = 0;
    UniqueFd socket{};  // until `receiver` has it
    bool used = false;  // what went through the subnet before has come
    std::unique_ptr<LeasedSender> sender{};
    std::unique_ptr<LeasedReceiver> receiver{};
  };

  static fabric::PacketKind KindOf(const NodeLinkLease& terms) {
    return {terms.dlid, terms.sl, terms.p_key};
  }

  absl::Status Begin(int port, std::span<const std::byte> payload);
  void OnUsed(uint32_t number);
  void OnReady(uint32_t number);
  void OnMet(uint32_t number, absl::StatusOr<UniqueFd> socket);
  absl::Status StartSending(uint32_t number, UniqueFd socket);
  void Receive(Lease& lease);
  // Ends it for good, and tells the LeaseTable, after all that was sent by it.
  void End(uint32_t number, const absl::Status& why);
  // Null if there is none.  FindAny() looks among those that end, too.
  Lease* Find(uint32_t number);
  Lease* FindAny(uint32_t number);

  Loop& loop_;
  const Meet meet_;
  const Tell tell_;
  const Deliver deliver_;
  std::map<uint32_t, Lease> leases_;
  std::map<uint32_t, Lease> ending_;  // with what is on its way
  absl::flat_hash_map<std::pair<int, fabric::PacketKind>, uint32_t> sending_;
  // Expires with this: for tasks.
  const std::shared_ptr<HostLeases*> self_ =
      std::make_shared<HostLeases*>(this);
};

}  // namespace ibemu::daemon

#endif  // IBEMU_DAEMON_REMOTE_NODE_LEASES_HOST_LEASES_H_

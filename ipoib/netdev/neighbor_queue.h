// NeighborQueue: the packets to single neighbours, and which of these are
// known.
#ifndef IBEMU_IPOIB_NETDEV_NEIGHBOR_QUEUE_H_
#define IBEMU_IPOIB_NETDEV_NEIGHBOR_QUEUE_H_

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "base/timers.h"
#include "ipoib/link.h"
#include "wire/ip_address.h"

namespace ibemu::ipoib {

// A NeighborQueue sends a packet as soon as its neighbour is known, and asks
// for one that is not, or was not heard of for a minute.
class NeighborQueue {
 public:
  static constexpr size_t kMaxNeighbors = 1024;
  static constexpr size_t kMaxWaiting = 16;      // for one neighbour
  static constexpr size_t kMaxWaitingAll = 512;  // for all of them

  // How long a neighbour has to answer, as in Linux.
  static constexpr absl::Duration kPatience = absl::Seconds(3);
  // How long a neighbour that was heard of needs not be asked for.
  static constexpr absl::Duration kReachable = absl::Seconds(60);

  using Datagram = std::vector<std::byte>;
  // Told of a datagram that waited for a neighbour who did not answer.
  using Undelivered = absl::AnyInvocable<void(const Datagram&)>;

  // The references must outlive this.
  NeighborQueue(Timers& timers, Link& link, Undelivered undelivered);

  // Sends a datagram, now or when the neighbour has answered; or loses it.
  // REQUIRES: the link is up.
  void Send(const wire::IpAddress& neighbor, Datagram datagram);

  // Takes what a neighbour said: a port has one hardware address, whichever
  // of its IP addresses was meant.
  void Learn(const HardwareAddress& hardware);

  // Forgets everything, and what waits.
  void Forget();

 private:
  struct Neighbor {
    std::optional<HardwareAddress> hardware;  // once it is known
    absl::Time heard_of = absl::InfinitePast();
    absl::Time used = absl::InfinitePast();
    std::unique_ptr<Resolution> question;  // null: none is open
    std::vector<Datagram> waiting;
  };

  bool MakeRoom();
  void Wait(Neighbor& neighbor, Datagram datagram);
  void Ask(const wire::IpAddress& address, Neighbor& neighbor);
  void OnAnswer(const wire::IpAddress& address,
                const absl::StatusOr<HardwareAddress>& answer);

  Timers& timers_;
  Link& link_;
  Undelivered undelivered_;
  std::map<wire::IpAddress, Neighbor> neighbors_;
  size_t waiting_ = 0;  // datagrams of all
};

}  // namespace ibemu::ipoib

#endif  // IBEMU_IPOIB_NETDEV_NEIGHBOR_QUEUE_H_

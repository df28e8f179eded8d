// ConnectedSender: the connections that an interface has made to its
// neighbours.
#ifndef IBEMU_IPOIB_CONNECTED_CONNECTED_SENDER_H_
#define IBEMU_IPOIB_CONNECTED_CONNECTED_SENDER_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <tuple>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "absl/status/statusor.h"
#include "base/random.h"
#include "cm/cm_id.h"
#include "cm/connection_manager.h"
#include "ipoib/connected/connected_queue.h"
#include "ipoib/wire/hardware_address.h"
#include "mad/sa/sa_client.h"
#include "verbs/provider.h"
#include "wire/types.h"

namespace ibemu::ipoib {

// A ConnectedSender connects to a neighbour when there is a packet for it, and
// lets few packets wait for that.  A connection stays until it breaks, the
// neighbour ends it, or kMaxNeighbors others were sent to since.
class ConnectedSender final : private cm::CmIdOwner {
 public:
  static constexpr size_t kMaxNeighbors = 256;
  // Packets that wait for a connection, for one and for all.
  static constexpr size_t kMaxWaiting = 16, kMaxWaitingAll = 64;

  struct Source {
    wire::Gid gid;
    uint16_t pkey = 0;
    uint32_t qpn = 0;  // of the interface's datagrams
  };
  // Told of a packet that is longer than its neighbour takes, and how long a
  // message may be.
  using TooLong = absl::AnyInvocable<void(std::span<const std::byte> datagram,
                                          size_t most)>;

  // All must outlive this.
  ConnectedSender(mad::SaClient& sa, cm::ConnectionManager& cm,
                  ConnectedQueue& queue, Random random, TooLong too_long);

  // Sends a datagram, now or when there is a connection; or loses it.
  void Send(const Source& from, const HardwareAddress& to,
            std::vector<std::byte> datagram);

  // Drops the connection with that queue pair; the next packet makes another.
  void OnBroken(uint32_t qpn);
  // Ends all connections, and loses what waits.
  void Forget();

 private:
  using Datagram = std::vector<std::byte>;
  // The neighbour's GID, and its queue pair of datagrams.
  using Key = std::tuple<uint64_t, uint64_t, uint32_t>;
  // Destroyed from the last to the first.
  struct Neighbor {
    std::unique_ptr<mad::SaQuery> query;
    ConnectedQueue::QpHandle qp;
    std::unique_ptr<cm::CmId> id;
    uint32_t psn = 0;    // with which the neighbour would begin
    size_t longest = 0;  // message that it takes; 0: there is no connection yet
    std::vector<Datagram> waiting;
    uint64_t used = 0;  // when: of `sent_`
  };
  using Place = std::map<Key, Neighbor>::iterator;

  absl::Status Connect(const Key& key, const Source& from,
                       const absl::StatusOr<mad::PathRecord>& path);
  absl::Status Finish(Neighbor& neighbor, const cm::CmEvent& reply);
  void Transmit(Neighbor& neighbor, const Datagram& datagram);
  void Drop(Place place);
  void MakeRoom();
  void Wait(Neighbor& neighbor, Datagram datagram);
  template <class Has>
  Place Find(Has&& has);

  // cm::CmIdOwner
  void OnCmEvent(cm::CmId& id, const cm::CmEvent& event) override;

  mad::SaClient& sa_;
  cm::ConnectionManager& cm_;
  ConnectedQueue& queue_;
  Random random_;
  TooLong too_long_;
  std::map<Key, Neighbor> neighbors_;
  uint64_t sent_ = 0;  // packets so far
};

}  // namespace ibemu::ipoib

#endif  // IBEMU_IPOIB_CONNECTED_CONNECTED_SENDER_H_

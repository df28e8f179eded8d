// ConnectedReceiver: the connections that neighbours have made to an interface.
#ifndef IBEMU_IPOIB_CONNECTED_CONNECTED_RECEIVER_H_
#define IBEMU_IPOIB_CONNECTED_CONNECTED_RECEIVER_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>

#include "absl/status/status.h"
#include "base/random.h"
#include "cm/cm_id.h"
#include "cm/connection_manager.h"
#include "ipoib/connected/connected_queue.h"
#include "wire/types.h"

namespace ibemu::ipoib {

// A ConnectedReceiver takes what neighbours ask for, and keeps a connection
// until they end it, make another, or kMaxConnections others came since: one
// of a neighbour that was switched off is never ended.  What comes by it is the
// ConnectedQueue's to tell.
class ConnectedReceiver final : private cm::CmListener, private cm::CmIdOwner {
 public:
  static constexpr size_t kMaxConnections = 1024;

  // All must outlive this.
  ConnectedReceiver(cm::ConnectionManager& cm, ConnectedQueue& queue,
                    Random random);

  // Listens as the interface whose datagrams have the queue pair `qpn`, and no
  // more as the one before.
  //
  // Errors: the connection manager's.
  absl::Status Listen(uint32_t qpn);

 private:
  // Destroyed from the last to the first.
  struct Connection {
    wire::Gid peer;
    uint32_t peer_qpn = 0;  // of its datagrams
    ConnectedQueue::QpHandle qp;
    std::unique_ptr<cm::CmId> id;
  };

  absl::Status Accept(Connection& connection, const cm::Arrived& arrived);

  // cm::CmListener
  void OnRequest(std::unique_ptr<cm::CmId> id,
                 const cm::Arrived& arrived) override;
  // cm::CmIdOwner
  void OnCmEvent(cm::CmId& id, const cm::CmEvent& event) override;

  cm::ConnectionManager& cm_;
  ConnectedQueue& queue_;
  Random random_;
  uint32_t qpn_ = 0;
  std::deque<Connection> connections_;  // the oldest first
  std::unique_ptr<cm::Listening> listening_;
};

}  // namespace ibemu::ipoib

#endif  // IBEMU_IPOIB_CONNECTED_CONNECTED_RECEIVER_H_

#include "ipoib/connected/connected_receiver.h"

#include <utility>

#include "base/status_macros.h"
#include "ipoib/connected/rc_connection.h"

namespace ibemu::ipoib {

ConnectedReceiver::ConnectedReceiver(cm::ConnectionManager& cm,
                                     ConnectedQueue& queue, Random random)
    : cm_(cm), queue_(queue), random_(random) {}

absl::Status ConnectedReceiver::Listen(uint32_t qpn) {
  if (listening_ != nullptr && qpn == qpn_) return absl::OkStatus();
  qpn_ = qpn;
  IBEMU_ASSIGN_OR_RETURN(listening_, cm_.Listen(ConnectionService(qpn), *this));
  return absl::OkStatus();
}

// What is not accepted is rejected as the id goes.
void ConnectedReceiver::OnRequest(std::unique_ptr<cm::CmId> id,
                                  const cm::Arrived& arrived) {
  Connection connection{.peer = arrived.path.dgid,
                        .peer_qpn = PeerQpn(arrived.private_data),
                        .qp = nullptr,
                        .id = std::move(id)};
  if (!Accept(connection, arrived).ok()) return;
  std::erase_if(connections_, [&connection](const Connection& other) {
    return other.peer == connection.peer &&
           other.peer_qpn == connection.peer_qpn;
  });
  if (connections_.size() >= kMaxConnections) connections_.pop_front();
  connections_.push_back(std::move(connection));
}

absl::Status ConnectedReceiver::Accept(Connection& connection,
                                       const cm::Arrived& arrived) {
  if (arrived.sidr || arrived.request.qp_type != verbs::QpType::kRc) {
    return absl::InvalidArgumentError("it is no reliable connection");
  }
  IBEMU_RETURN_IF_ERROR(LongestMessage(arrived.private_data).status());
  connection.id->SetOwner(*this);
  IBEMU_ASSIGN_OR_RETURN(connection.qp, queue_.CreateQp());
  const uint32_t psn = FirstPsn(random_);
  IBEMU_RETURN_IF_ERROR(BringUp(*connection.id, psn, *connection.qp));
  return connection.id->SendRep({.qpn = connection.qp->number(),
                                 .starting_psn = psn,
                                 .rnr_retry_count = kRnrRetries,
                                 .srq = true,
                                 .private_data = EncodeConnectionData(qpn_)});
}

void ConnectedReceiver::OnCmEvent(cm::CmId& id, const cm::CmEvent& event) {
  const bool connected = event.kind == cm::CmEvent::Kind::kRtu ||
                         event.kind == cm::CmEvent::Kind::kEstablished;
  if (connected) return;
  std::erase_if(connections_, [&id](const Connection& connection) {
    return connection.id.get() == &id;
  });
}

}  // namespace ibemu::ipoib

#include "ipoib/connected/rc_connection.h"

#include <algorithm>

#include "base/status_macros.h"
#include "ipoib/connected/connected_queue.h"
#include "ipoib/connected/connection_data.h"

namespace ibemu::ipoib {
namespace {

// 268 ms.  By the lifetime of a path, which is a second, a lost packet would
// wait for two, and a neighbour that is gone be known after a minute.
constexpr uint8_t kAckTimeout = 16;
// 2.56 ms: with the usual one a receiver that is late would be waited for 655.
constexpr uint8_t kRnrTimer = 16;

}  // namespace

uint32_t FirstPsn(Random& random) {
  constexpr uint32_t kPsnCount = 1 << 24;
  return static_cast<uint32_t>(random.Below(kPsnCount));
}

std::vector<std::byte> EncodeConnectionData(uint32_t qpn) {
  std::vector<std::byte> bytes;
  wire::Append(ConnectionData{.qpn = qpn, .mtu = ConnectedQueue::kLongest},
               bytes);
  return bytes;
}

absl::StatusOr<size_t> LongestMessage(std::span<const std::byte> private_data) {
  constexpr size_t kHeader = wire::kBytes<Encapsulation>;
  if (private_data.size() < wire::kBytes<ConnectionData>) {
    return absl::InvalidArgumentError("the private data are too short");
  }
  const size_t most = wire::Decode<ConnectionData>(private_data).mtu;
  if (most <= kHeader) {
    return absl::InvalidArgumentError("no packet fits in a message");
  }
  return std::min(most, ConnectedQueue::kLongest);
}

uint32_t PeerQpn(std::span<const std::byte> private_data) {
  return private_data.size() < wire::kBytes<ConnectionData>
             ? 0
             : wire::Decode<ConnectionData>(private_data).qpn;
}

absl::Status BringUp(const cm::CmId& id, uint32_t receive_psn, verbs::Qp& qp) {
  for (const verbs::QpState state :
       {verbs::QpState::kInit, verbs::QpState::kReadyToReceive,
        verbs::QpState::kReadyToSend}) {
    IBEMU_ASSIGN_OR_RETURN(verbs::QpAttributes attributes,
                           id.QpAttributesFor(state, kAckTimeout));
    attributes.rq_psn = receive_psn;  // a REP would have told of it
    attributes.min_rnr_timer = kRnrTimer;
    attributes.rnr_retry = kRnrRetries;  // a REP of Linux says 0
    IBEMU_RETURN_IF_ERROR(qp.Modify(attributes));
  }
  return absl::OkStatus();
}

}  // namespace ibemu::ipoib

#include "daemon/remote_node/leases/leased_receiver.h"

#include <utility>

#include "absl/status/statusor.h"
#include "base/status_macros.h"
#include "daemon/remote_node/format/packet_train.h"
#include "fabric/packet/transport.h"

namespace ibemu::daemon {

LeasedReceiver::LeasedReceiver(
    Loop& loop, UniqueFd socket, const fabric::PacketKind& kind, size_t mtu,
    std::function<void(const fabric::Packet&)> deliver)
    : kind_(kind),
      mtu_(mtu),
      deliver_(std::move(deliver)),
      receiver_(loop, std::move(socket),
                [this](const NodeLinkSplitter::Message& message) {
                  return Take(message);
                }) {}

absl::Status LeasedReceiver::Take(const NodeLinkSplitter::Message& message) {
  IBEMU_ASSIGN_OR_RETURN(const fabric::Packet packets, DecodePackets(message));
  if (fabric::KindOf(packets) != kind_ || packets.transport->longest() > mtu_) {
    return absl::InvalidArgumentError("the lease is for other packets");
  }
  deliver_(packets);
  return absl::OkStatus();
}

}  // namespace ibemu::daemon

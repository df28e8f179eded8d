#include "hca/model/mlx4/transport/uc_responder.h"

#include <optional>
#include <utility>

#include "wire/psn.h"

namespace ibemu::hca::model::mlx4 {

void UcResponder::Receive(const ParsedPacket& packet) {
  const uint32_t psn = packet.bth.psn;
  const bool in_sequence =
      psn == std::exchange(expected_, wire::PsnAfter(psn, 1));
  const std::optional<IncomingPart> part = ParsePart(packet);
  // The rest of the last message will not come.
  if (!part || part->first || !in_sequence) message_.GiveUp();
  if (!part) return;
  if (!message_.Continues(*part) || (part->takes_receive() && !TakeReceive())) {
    message_.GiveUp();
    return;
  }
  switch (message_.Place(*part)) {
    case ReceivedMessage::Placed::kOk:
      if (part->last) message_.End(*part);
      break;
    case ReceivedMessage::Placed::kTooLong:
    case ReceivedMessage::Placed::kAccess:
    case ReceivedMessage::Placed::kInvalidate:  // no service but RC has it
      message_.GiveUp();
      break;
    case ReceivedMessage::Placed::kProtection:
      message_.FailReceive(prm::CqeSyndrome::kLocalProtection);
      link_.Break();
      break;
  }
}

bool UcResponder::TakeReceive() {
  const ReceiveSource::Fetched fetched = message_.TakeReceive();
  if (fetched == ReceiveSource::Fetched::kFault) {
    link_.Break(prm::EqeType::kWqCatastrophicError);
  }
  return fetched == ReceiveSource::Fetched::kWqe;
}

}  // namespace ibemu::hca::model::mlx4

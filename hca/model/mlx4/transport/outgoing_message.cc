#include "hca/model/mlx4/transport/outgoing_message.h"

#include <algorithm>

#include "wire/opcode.h"
#include "wire/packet_headers.h"
#include "wire/psn.h"

namespace ibemu::hca::model::mlx4 {

using prm::WqeOpcode;

namespace {

void AppendWord(uint32_t value, std::vector<std::byte>& bytes) {
  for (int shift = 24; shift >= 0; shift -= 8) {
    bytes.push_back(static_cast<std::byte>(value >> shift));
  }
}

bool IsWrite(WqeOpcode opcode) {
  return opcode == WqeOpcode::kRdmaWrite ||
         opcode == WqeOpcode::kRdmaWriteImmediate;
}

bool HasImmediate(WqeOpcode opcode) {
  return opcode == WqeOpcode::kSendImmediate ||
         opcode == WqeOpcode::kRdmaWriteImmediate;
}

// Returns the BTH operation of one packet of a message.
uint8_t OperationAt(WqeOpcode opcode, bool first, bool last) {
  using namespace wire::opcode;  // NOLINT: one table of them
  const bool write = IsWrite(opcode);
  const bool immediate = HasImmediate(opcode);
  const bool invalidate = opcode == WqeOpcode::kSendInvalidate;
  if (first && last) {
    if (write) return immediate ? kWriteOnlyImmediate : kWriteOnly;
    if (invalidate) return kSendOnlyInvalidate;
    return immediate ? kSendOnlyImmediate : kSendOnly;
  }
  if (first) return write ? kWriteFirst : kSendFirst;
  if (!last) return write ? kWriteMiddle : kSendMiddle;
  if (write) return immediate ? kWriteLastImmediate : kWriteLast;
  if (invalidate) return kSendLastInvalidate;
  return immediate ? kSendLastImmediate : kSendLast;
}

}  // namespace

bool IsMessage(WqeOpcode opcode) {
  return IsWrite(opcode) || opcode == WqeOpcode::kSend ||
         opcode == WqeOpcode::kSendImmediate;
}

std::optional<OutgoingPart> CutPart(ConnectionLink& link, const SendWqe& wqe,
                                    uint32_t index) {
  const WqeOpcode opcode = wqe.control.opcode;
  const uint64_t offset = index * link.mtu();
  const bool first = index == 0;
  const bool last = index + 1 == wire::PacketsFor(wqe.length, link.mtu());
  OutgoingPart part{.operation = OperationAt(opcode, first, last),
                    .last = last,
                    .solicited = last && wqe.control.solicited,
                    .headers = {},
                    .payload = {}};
  part.payload.resize(std::min(link.mtu(), wqe.length - offset));
  if (!Gather(link.memory(), link.qp().pd, wqe.sges, offset, part.payload)) {
    return std::nullopt;
  }
  if (first && IsWrite(opcode)) {
    wire::Append(wire::RdmaHeader{.address = wqe.remote.address,
                                  .key = wqe.remote.rkey,
                                  .length = static_cast<uint32_t>(wqe.length)},
                 part.headers);
  }
  if (last && HasImmediate(opcode)) {
    AppendWord(wqe.control.immediate, part.headers);
  }
  if (last && opcode == WqeOpcode::kSendInvalidate) {
    wire::Append(wire::InvalidateHeader{.key = wqe.control.immediate},
                 part.headers);
  }
  return part;
}

}  // namespace ibemu::hca::model::mlx4

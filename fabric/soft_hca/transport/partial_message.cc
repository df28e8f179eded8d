#include "fabric/soft_hca/transport/partial_message.h"

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/absl_text.h"
#include "verbs/wc_status.h"

namespace ibemu::fabric {

using Operation = Transport::Operation;

PartialMessage::Placed PartialMessage::Add(const Transport& packets) {
  if (!packets.FitsMtu(link_.Mtu())) {
    return Denied(packets, Placed::kInvalid,
                  absl::StrFormat("a packet of %d bytes came, which the path "
                                  "MTU here, %d, does not allow",
                                  packets.longest(), link_.Mtu()));
  }
  if (packets.has_invalidate) {
    return Denied(packets, Placed::kInvalid,
                  "a SEND with invalidate came: no key of this adapter is of a "
                  "kind that others may invalidate");
  }
  const Placed begun = Begin(packets);
  return begun == Placed::kOk ? Place(packets) : begun;
}

// Makes message_ the message that the packets belong to.
PartialMessage::Placed PartialMessage::Begin(const Transport& packets) {
  const bool write = packets.operation == Operation::kWrite;
  if (packets.first) {
    if (message_) {
      return Denied(packets, Placed::kInvalid,
                    "a message began before the last one had ended");
    }
    if (write) {
      const absl::Status allowed = CheckWrite(packets);
      if (!allowed.ok()) {
        return Denied(packets, Placed::kAccess, allowed.message());
      }
    }
    message_ = Message{.operation = packets.operation,
                       .address = packets.address,
                       .key = packets.key,
                       .size = packets.length,
                       .length = 0,
                       .receive = std::nullopt};
  } else if (!message_ || message_->operation != packets.operation) {
    return Denied(packets, Placed::kInvalid,
                  "a packet continues a message that did not begin");
  }
  if (write && !HasItsLength(packets)) {
    return Denied(packets, Placed::kBadLength,
                  "an RDMA WRITE has another length than it said");
  }
  const bool consumes =
      write ? packets.last && packets.has_immediate : packets.first;
  if (!consumes || message_->receive) return Placed::kOk;
  message_->receive = link_.TakeReceive(packets.psn, "message");
  if (message_->receive) return Placed::kOk;
  // The requester will repeat the message from this packet on.
  if (packets.first) message_.reset();
  return Placed::kNoReceive;
}

PartialMessage::Placed PartialMessage::Denied(const Transport& packets,
                                              Placed how,
                                              absl::string_view why) {
  denied_psn_ = packets.psn;
  qp_.history.Note(Incident::Kind::kDenied, packets.psn, std::string(why));
  return how;
}

absl::Status PartialMessage::CheckWrite(const Transport& packets) const {
  if ((qp_.attributes.qp_access_flags & verbs::access::kRemoteWrite) == 0) {
    return absl::PermissionDeniedError(
        "qp_access_flags of the queue pair lack remote write");
  }
  return qp_.keys
      .Find(packets.key, qp_.init.pd, packets.address, packets.length,
            verbs::access::kRemoteWrite)
      .status();
}

// An RDMA WRITE has as many bytes as its first packet says (IBA vol 1
// §9.7.4.1), which its last packet tells.
bool PartialMessage::HasItsLength(const Transport& packets) const {
  const size_t length = message_->length + packets.size;
  return packets.last ? length == message_->size : length <= message_->size;
}

PartialMessage::Placed PartialMessage::Place(const Transport& packets) {
  if (packets.size == 0) return Placed::kOk;
  const Placed placed = message_->operation == Operation::kWrite
                            ? PlaceWrite(packets)
                            : PlaceSend(packets);
  if (placed == Placed::kOk) message_->length += packets.size;
  return placed;
}

// Access rights are checked again, because they may have been revoked since the
// first packet.
PartialMessage::Placed PartialMessage::PlaceWrite(const Transport& packets) {
  const Message& message = *message_;
  const auto range =
      qp_.keys.Find(message.key, qp_.init.pd, message.address + message.length,
                    packets.size, verbs::access::kRemoteWrite);
  if (!range.ok()) {
    return Denied(packets, Placed::kAccess, range.status().message());
  }
  payload_.Add(*range, packets.message, packets.offset);
  return Placed::kOk;
}

PartialMessage::Placed PartialMessage::PlaceSend(const Transport& packets) {
  const Message& message = *message_;
  const auto ranges = qp_.keys.FindAll(message.receive->sges, qp_.receive_pd(),
                                       verbs::access::kLocalWrite);
  if (!ranges.ok()) {
    return Denied(packets, Placed::kProtection,
                  absl::StrCat("the receive request's memory: ",
                               ranges.status().message()));
  }
  const verbs::MemoryRanges part =
      verbs::PartOf(*ranges, message.length, packets.size);
  if (verbs::LengthOf(part) < packets.size) {
    return Denied(packets, Placed::kTooLong,
                  absl::StrFormat("the message is longer than the receive "
                                  "request, which has %d bytes",
                                  verbs::LengthOf(*ranges)));
  }
  payload_.Add(part, packets.message, packets.offset);
  return Placed::kOk;
}

verbs::MemoryTransfer PartialMessage::TakePayload() {
  return std::exchange(payload_, {});
}

std::optional<verbs::WorkCompletion> PartialMessage::End(
    const Transport& last) {
  const Message message = *std::exchange(message_, std::nullopt);
  if (!message.receive) return std::nullopt;
  verbs::WorkCompletion completion{};
  completion.wr_id = message.receive->id;
  completion.opcode = message.operation == Operation::kWrite
                          ? verbs::wc_opcode::kReceiveWriteWithImmediate
                          : verbs::wc_opcode::kReceive;
  completion.byte_len = static_cast<uint32_t>(message.length);
  completion.ex.imm_data = last.immediate;
  completion.qp_num = qp_.number;
  completion.src_qp = qp_.attributes.dest_qp_num;
  completion.wc_flags = last.has_immediate ? verbs::wc_flag::kWithImmediate : 0;
  completion.pkey_index = qp_.attributes.pkey_index;
  completion.slid = qp_.attributes.ah_attr.dlid;
  completion.sl = qp_.attributes.ah_attr.sl;
  completion.port_num = qp_.attributes.port_num;
  return completion;
}

verbs::WorkCompletion PartialMessage::Fail(uint32_t status) {
  verbs::WorkCompletion completion{};
  completion.wr_id = message_->receive->id;
  completion.status = status;
  completion.opcode = verbs::wc_opcode::kReceive;
  completion.qp_num = qp_.number;
  qp_.history.NoteFailure({.id = completion.wr_id,
                           .status = status,
                           .psn = denied_psn_,
                           .what = "RECV"});
  message_.reset();
  return completion;
}

void PartialMessage::Drop() {
  payload_ = {};
  if (receives()) {
    link_.PutBackReceive(*std::move(message_->receive));
  }
  message_.reset();
}

void PartialMessage::Flush(uint32_t status) {
  if (receives()) link_.FlushReceive(message_->receive->id, status);
  Reset();
}

void PartialMessage::Reset() {
  payload_ = {};
  message_.reset();
}

}  // namespace ibemu::fabric

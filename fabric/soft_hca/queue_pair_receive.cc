// The responder: it receives messages and sends acknowledgements (IBA vol 1
// §9.7.4, §9.7.5, §9.8.2 and §9.8.3).
#include <algorithm>

#include "fabric/packet/packet_bytes.h"
#include "fabric/soft_hca/hca.h"
#include "fabric/soft_hca/queue_pair.h"
#include "verbs/wc_status.h"
#include "wire/psn.h"

namespace ibemu::fabric {
namespace {

using Operation = Transport::Operation;

constexpr size_t kGrhBytes = wire::kBytes<wire::GlobalRouteHeader>;

// The limit on bytes that wait for memory on an unreliable connection, whose
// sender is not slowed down by acknowledgements.
constexpr size_t kMaxWaiting = 64 * verbs::kChunk;

verbs::Buffer GrhBytes(const RouteHeader& grh, size_t payload) {
  auto bytes = std::make_shared<std::vector<std::byte>>();
  wire::Append(GrhOf(grh, payload), *bytes);
  return bytes;
}

}  // namespace

void QueuePair::OnRequest(const Transport& request) {
  if (request.packets > 1 && request.psn != expected_psn_) {
    // Some of the packets are duplicates, or all are out of sequence.
    for (uint32_t i = 0; i < request.packets && Receives(); ++i) {
      OnRequest(request.Single(i));
    }
    return;
  }
  if (refused_ || !InSequence(request)) return;
  if (init_.type == verbs::QpType::kUc && writing_bytes_ >= kMaxWaiting) {
    return DropMessage();  // memory is too slow, so the message is lost
  }
  if (state_ == State::kReadyToReceive && !established_) {
    established_ = true;
    listener_.OnEvent(verbs::EventType::kCommunicationEstablished);
  }
  if (request.operation == Operation::kReadRequest || request.IsAtomic()) {
    if (message_ || attributes_.max_dest_rd_atomic == 0) {
      return Refuse(Syndrome::kInvalidRequest);
    }
    return AnswerFetch(request);
  }
  if (!Begin(request) || !Place(request)) return;
  expected_psn_ = wire::PsnAfter(expected_psn_, request.packets);
  if (request.last) {
    std::optional<verbs::WorkCompletion> completion;
    if (message_->receive) completion = ReceiveCompletion(request);
    message_.reset();
    FlushBatch(request, completion);
  } else if (request.ack_request || batch_.size() >= verbs::kChunk) {
    FlushBatch(request, std::nullopt);
  }
}

bool QueuePair::InSequence(const Transport& request) {
  const int32_t ahead = wire::PsnDistance(request.psn, expected_psn_);
  if (init_.type == verbs::QpType::kUc) {
    if (ahead == 0 && (request.first || message_)) return true;
    // After a lost packet, the rest of its message is dropped, too.
    DropMessage();
    expected_psn_ =
        request.first ? request.psn : wire::PsnAfter(request.last_psn(), 1);
    return request.first;
  }
  if (ahead == 0) {
    told_of_gap_ = false;
    return true;
  }
  if (ahead > 0) {
    if (!std::exchange(told_of_gap_, true)) Answer(Syndrome::kSequenceError);
  } else if (request.operation == Operation::kReadRequest ||
             request.IsAtomic()) {
    RepeatFetch(request);
  } else if (request.ack_request) {
    AddStep({.done = true,
             .acknowledge = true,
             .psn = wire::PsnAfter(expected_psn_, wire::kPsnMask)});
    RunSteps();
  }
  return false;
}

// Makes message_ the message that `request` belongs to.  Returns false if it
// cannot be received.
bool QueuePair::Begin(const Transport& request) {
  const bool write = request.operation == Operation::kWrite;
  if (request.first) {
    if (message_) return Refuse(Syndrome::kInvalidRequest), false;
    Message message{.operation = request.operation,
                    .address = request.address,
                    .key = request.key,
                    .size = request.length,
                    .length = 0,
                    .receive = std::nullopt};
    if (write && (!MayAccess(verbs::access::kRemoteWrite) ||
                  !hca_.keys()
                       .Find(request.key, init_.pd, request.address,
                             request.length, verbs::access::kRemoteWrite)
                       .ok())) {
      return Refuse(Syndrome::kAccessError), false;
    }
    message_ = std::move(message);
  } else if (!message_ || message_->operation != request.operation) {
    return Refuse(Syndrome::kInvalidRequest), false;
  }
  const bool consumes =
      write ? request.last && request.has_immediate : request.first;
  if (!consumes || message_->receive) return true;
  message_->receive = TakeReceiveRequest();
  if (message_->receive) return true;
  // The requester will repeat the message from this packet on.
  if (request.first) message_.reset();
  if (init_.type == verbs::QpType::kRc) {
    told_of_gap_ = true;  // the RNR NAK explains the gap that follows
    Answer(Syndrome::kRnrNak);
  } else {
    DropMessage();
  }
  return false;
}

// Adds the payload to batch_, for its place in memory.  Access rights are
// checked again, because they may have been revoked since the first packet.
bool QueuePair::Place(const Transport& request) {
  Message& message = *message_;
  if (request.size == 0) return true;
  verbs::MemoryRanges part;
  if (message.operation == Operation::kWrite) {
    if (request.size > message.size - message.length) {
      return Refuse(Syndrome::kInvalidRequest), false;
    }
    auto range = hca_.keys().Find(message.key, init_.pd,
                                  message.address + message.length,
                                  request.size, verbs::access::kRemoteWrite);
    if (!range.ok()) return Refuse(Syndrome::kAccessError), false;
    part = *std::move(range);
  } else {
    const auto ranges = hca_.keys().FindAll(message.receive->sges, init_.pd,
                                            verbs::access::kLocalWrite);
    if (!ranges.ok()) {
      return RefuseReceive(verbs::wc_status::kLocalProtection,
                           Syndrome::kOperationError),
             false;
    }
    part = verbs::PartOf(*ranges, message.length, request.size);
    if (verbs::LengthOf(part) < request.size) {
      return RefuseReceive(verbs::wc_status::kLocalLength,
                           Syndrome::kInvalidRequest),
             false;
    }
  }
  batch_.Add(part, request.message, request.offset);
  message.length += request.size;
  return true;
}

void QueuePair::FlushBatch(const Transport& request,
                           std::optional<verbs::WorkCompletion> completion) {
  const bool reliable = init_.type == verbs::QpType::kRc;
  WriteStep(std::exchange(batch_, {}),
            {.acknowledge = reliable && request.ack_request,
             .psn = request.last_psn(),
             .completion = completion,
             .solicited = request.solicited});
}

void QueuePair::WriteStep(verbs::MemoryTransfer transfer, Step made) {
  const std::shared_ptr<Step> step = AddStep(std::move(made));
  if (transfer.empty()) {
    step->done = true;
    return RunSteps();
  }
  const size_t size = transfer.size();
  writing_bytes_ += size;
  transfer.Write(WhileSame([this, step, size](const absl::Status& status) {
    writing_bytes_ -= size;
    step->done = true;
    step->status = status;
    RunSteps();
  }));
}

std::shared_ptr<QueuePair::Step> QueuePair::AddStep(Step step) {
  return steps_.emplace_back(std::make_shared<Step>(std::move(step)));
}

// Finishes steps, in the order in which they started.
void QueuePair::RunSteps() {
  while (!steps_.empty()) {
    const std::shared_ptr<Step> step = steps_.front();
    if (step->fetch != nullptr && !ContinueFetch(*step)) return;
    if (!step->done) return;
    steps_.pop_front();
    if (!step->status.ok()) {
      FailStep(*step);
      return;
    }
    if (step->completion) {
      receive_cq().Push(*step->completion, step->solicited);
    }
    if (step->breaks) return EnterError();
    if (step->refusal) {
      SendAcknowledge(*step->refusal, step->psn);
      if (*step->refusal == Syndrome::kRnrNak ||
          *step->refusal == Syndrome::kSequenceError) {
        continue;
      }
      listener_.OnEvent(*step->refusal == Syndrome::kAccessError
                            ? verbs::EventType::kQpAccessError
                            : verbs::EventType::kQpRequestError);
      return EnterError();
    }
    if (step->acknowledge) SendAcknowledge(Syndrome::kAck, step->psn);
  }
}

// Ends a step whose memory could not be accessed.  If the process has ended
// (Unavailable), there is no one to notify, and peers see what they would see
// if it had already closed the queue pair.
void QueuePair::FailStep(const Step& step) {
  if (absl::IsUnavailable(step.status)) return EnterError();
  if (step.completion) {
    verbs::WorkCompletion failed = *step.completion;
    failed.status = verbs::wc_status::kLocalProtection;
    receive_cq().Push(failed, false);
  }
  if (init_.type == verbs::QpType::kUd) return RunSteps();
  if (init_.type == verbs::QpType::kRc) {
    SendAcknowledge(Syndrome::kOperationError, step.psn);
  }
  listener_.OnEvent(verbs::EventType::kQpAccessError);
  EnterError();
}

bool QueuePair::MayAccess(uint32_t right) const {
  return (attributes_.qp_access_flags & right) != 0;
}

// Sends a NAK after the steps in progress, because it also acknowledges all
// packets before it.
void QueuePair::Answer(Syndrome syndrome) {
  AddStep({.done = true, .psn = expected_psn_, .refusal = syndrome});
  RunSteps();
}

// Handles an invalid request: on a reliable connection, sends a NAK that ends
// the connection.
void QueuePair::Refuse(Syndrome syndrome) {
  if (init_.type != verbs::QpType::kRc) return DropMessage();
  refused_ = true;
  Answer(syndrome);
}

// Handles a receive request that does not fit the message.  If it is too short,
// an unreliable connection keeps it for the next message.  If its memory is not
// accessible, that ends an unreliable connection, too (IBA vol 1 §9.9.3).
void QueuePair::RefuseReceive(uint32_t status, Syndrome syndrome) {
  const bool reliable = init_.type == verbs::QpType::kRc;
  if (!reliable && status == verbs::wc_status::kLocalLength) {
    return DropMessage();
  }
  verbs::WorkCompletion completion{};
  completion.wr_id = message_->receive->id;
  completion.status = status;
  completion.opcode = verbs::wc_opcode::kReceive;
  completion.qp_num = number_;
  message_.reset();
  AddStep({.done = true, .completion = completion, .breaks = !reliable});
  if (reliable) return Refuse(syndrome);
  refused_ = true;
  RunSteps();
}

// Discards a message that was cut short, and puts its receive request back.
void QueuePair::DropMessage() {
  batch_ = {};
  if (message_ && message_->receive) {
    PutBackReceive(*std::move(message_->receive));
  }
  message_.reset();
}

void QueuePair::SendAcknowledge(Syndrome syndrome, uint32_t psn) {
  auto packet = std::make_shared<Transport>();
  packet->operation = Operation::kAcknowledge;
  packet->syndrome = syndrome;
  packet->rnr_timer = attributes_.min_rnr_timer;
  packet->psn = psn;
  Transmit(std::move(packet));
}

void QueuePair::OnDatagram(const NodePort& port, uint16_t pkey_index,
                           const Packet& packet) {
  const Transport& datagram = *packet.transport;
  if (packet.q_key != attributes_.qkey) return hca_.OnBadQKey(port, packet);
  std::optional<verbs::ReceiveRequest> receive = TakeReceiveRequest();
  if (!receive) return;
  const auto ranges =
      hca_.keys().FindAll(receive->sges, init_.pd, verbs::access::kLocalWrite);
  if (!ranges.ok() || verbs::LengthOf(*ranges) < kGrhBytes + datagram.size) {
    return PutBackReceive(*std::move(receive));
  }
  verbs::MemoryTransfer transfer;
  if (packet.grh) {
    transfer.Add(verbs::PartOf(*ranges, 0, kGrhBytes),
                 GrhBytes(*packet.grh, datagram.Bytes() + 4), 0);
  }
  transfer.Add(verbs::PartOf(*ranges, kGrhBytes, datagram.size),
               datagram.message, datagram.offset);
  verbs::WorkCompletion completion{};
  completion.wr_id = receive->id;
  completion.opcode = verbs::wc_opcode::kReceive;
  completion.byte_len = static_cast<uint32_t>(kGrhBytes + datagram.size);
  completion.ex.imm_data = datagram.immediate;
  completion.qp_num = number_;
  completion.src_qp = packet.source_qpn;
  completion.wc_flags =
      (packet.grh ? verbs::wc_flag::kGrh : 0) |
      (datagram.has_immediate ? verbs::wc_flag::kWithImmediate : 0);
  completion.pkey_index = pkey_index;
  completion.slid = static_cast<uint16_t>(packet.slid);
  completion.sl = packet.sl;
  if (port.Owns(packet.dlid)) {
    completion.dlid_path_bits =
        static_cast<uint8_t>(static_cast<unsigned>(packet.dlid) -
                             static_cast<unsigned>(port.info.lid));
  }
  completion.port_num = port.number;
  WriteStep(std::move(transfer),
            {.completion = completion, .solicited = datagram.solicited});
}

std::optional<verbs::ReceiveRequest> QueuePair::TakeReceiveRequest() {
  return init_.srq == nullptr
             ? receives_.Take()
             : static_cast<verbs::SharedReceiveQueue*>(init_.srq)->Take();
}

void QueuePair::PutBackReceive(verbs::ReceiveRequest request) {
  if (init_.srq == nullptr) return receives_.PutBack(std::move(request));
  static_cast<verbs::SharedReceiveQueue*>(init_.srq)->PutBack(
      std::move(request));
}

verbs::WorkCompletion QueuePair::ReceiveCompletion(
    const Transport& request) const {
  verbs::WorkCompletion completion{};
  completion.wr_id = message_->receive->id;
  completion.opcode = message_->operation == Operation::kWrite
                          ? verbs::wc_opcode::kReceiveWriteWithImmediate
                          : verbs::wc_opcode::kReceive;
  completion.byte_len = static_cast<uint32_t>(message_->length);
  completion.ex.imm_data = request.immediate;
  completion.qp_num = number_;
  completion.src_qp = attributes_.dest_qp_num;
  completion.wc_flags =
      request.has_immediate ? verbs::wc_flag::kWithImmediate : 0;
  completion.pkey_index = attributes_.pkey_index;
  completion.slid = attributes_.ah_attr.dlid;
  completion.sl = attributes_.ah_attr.sl;
  completion.port_num = attributes_.port_num;
  return completion;
}

}  // namespace ibemu::fabric

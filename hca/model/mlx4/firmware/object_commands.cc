#include "hca/model/mlx4/firmware/object_commands.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "hca/prm/mlx4_registers.h"

namespace ibemu::hca::model::mlx4 {

using prm::Opcode;
using Status = prm::CommandStatus;

CommandReply ObjectCommands::Execute(const CommandRequest& request) {
  const uint32_t number = request.in_modifier & 0xffffff;
  switch (request.opcode) {
    case Opcode::kSw2HwMpt:
      return {mailboxes_.Give<prm::Mpt>(request, [&](const prm::Mpt& entry) {
        return parts_.memory.Start(request.in_modifier, entry);
      })};
    case Opcode::kHw2SwMpt: {
      const auto entry =
          parts_.core.CheckMpt(request.in_modifier) == Status::kOk
              ? parts_.memory.Find(request.in_modifier)
              : std::nullopt;
      const Status status = parts_.memory.Stop(request.in_modifier);
      return {status == Status::kOk ? mailboxes_.TakeBack(request, *entry)
                                    : status};
    }
    case Opcode::kQueryMpt: {
      const Status status = parts_.core.CheckMpt(request.in_modifier);
      if (status != Status::kOk) return {status};
      const auto entry = parts_.memory.Find(request.in_modifier);
      return {entry ? mailboxes_.Out(request, *entry) : Status::kInternalError};
    }
    case Opcode::kWriteMtt:
      return {WriteMtt(request)};
    case Opcode::kSyncTpt:
      return {};
    case Opcode::kMapEq:
      return {parts_.events.MapEvents(
          request.in_modifier & ~prm::kMapEqUnmap, request.in_param,
          (request.in_modifier & prm::kMapEqUnmap) != 0)};
    case Opcode::kSw2HwEq:
      return {mailboxes_.Give<prm::EqContext>(
          request, [&](const prm::EqContext& context) {
            return parts_.events.Start(number, context);
          })};
    case Opcode::kHw2SwEq: {
      if (parts_.completions.Uses(number)) return {Status::kResourceBusy};
      const ModelEq* queue = parts_.events.Find(number);
      const prm::EqContext context =
          queue == nullptr ? prm::EqContext{} : queue->context();
      const Status status = parts_.events.Stop(number);
      return {status == Status::kOk ? mailboxes_.TakeBack(request, context)
                                    : status};
    }
    case Opcode::kQueryEq: {
      const ModelEq* queue = parts_.events.Find(number);
      if (queue == nullptr) return {Status::kBadResourceState};
      return {mailboxes_.Out(request, queue->context())};
    }
    case Opcode::kSw2HwCq:
      return {mailboxes_.Give<prm::CqContext>(
          request, [&](const prm::CqContext& context) {
            return parts_.completions.Start(number, context);
          })};
    case Opcode::kModifyCq:
      return {mailboxes_.Give<prm::CqContext>(
          request, [&](const prm::CqContext& context) {
            return request.op_modifier == 0
                       ? parts_.completions.Resize(number, context)
                       : parts_.completions.Moderate(number, context);
          })};
    case Opcode::kHw2SwCq: {
      const ModelCq* queue = parts_.completions.Find(number);
      const prm::CqContext context =
          queue == nullptr ? prm::CqContext{} : queue->context();
      const Status status = parts_.completions.Stop(number);
      return {status == Status::kOk ? mailboxes_.TakeBack(request, context)
                                    : status};
    }
    case Opcode::kQueryCq: {
      const ModelCq* queue = parts_.completions.Find(number);
      if (queue == nullptr) return {Status::kBadResourceState};
      return {mailboxes_.Out(request, queue->context())};
    }
    case Opcode::kSw2HwSrq:
      return {mailboxes_.Give<prm::SrqContext>(
          request, [&](const prm::SrqContext& context) {
            return parts_.shared.Start(number, context);
          })};
    case Opcode::kHw2SwSrq: {
      const auto context = parts_.shared.Query(number);
      const Status status = parts_.shared.Stop(number);
      return {status == Status::kOk ? mailboxes_.TakeBack(request, *context)
                                    : status};
    }
    case Opcode::kQuerySrq: {
      const auto context = parts_.shared.Query(number);
      return {context ? mailboxes_.Out(request, *context)
                      : Status::kBadResourceState};
    }
    case Opcode::kArmSrq:
      return {
          parts_.shared.Arm(number, static_cast<uint16_t>(request.in_param))};
    case Opcode::kConfSpecialQp:
      return {parts_.queue_pairs.ConfigureSpecial(number)};
    default:
      return {QueuePairCommand(request)};
  }
}

Status ObjectCommands::WriteMtt(const CommandRequest& request) {
  constexpr size_t kHeader = wire::kBytes<prm::WriteMtt>;
  constexpr size_t kEntry = wire::kBytes<prm::MttEntry>;
  if (request.in_modifier == 0 ||
      request.in_modifier > (prm::kMailboxBytes - kHeader) / kEntry) {
    return Status::kBadParam;
  }
  const auto header = mailboxes_.In<prm::WriteMtt>(request);
  std::vector<std::byte> entries(request.in_modifier * kEntry);
  if (!header || !parts_.core.host.Read(request.in_param + kHeader, entries)) {
    return Status::kInternalError;
  }
  return parts_.memory.WriteMtts(header->first, entries);
}

// A QP with a shared receive queue: Linux's mlx4_ib leaves 0 - 4 in the byte
// that describes its own receive queue, so that byte is ignored.
Status ObjectCommands::TakeQpContext(const CommandRequest& request,
                                     prm::QpContext& context) const {
  std::array<std::byte, wire::kBytes<prm::QpContext>> bytes;
  if (!parts_.core.host.Read(request.in_param + prm::kQpContextInMailbox,
                             bytes)) {
    return Status::kInternalError;
  }
  if (wire::Decode<prm::QpContext>(bytes).srq) {
    bytes[prm::kQpReceiveQueueByte] = std::byte{0};
  }
  context = wire::Decode<prm::QpContext>(bytes);
  return ToBytes(context) == bytes ? Status::kOk : Status::kBadParam;
}

Status ObjectCommands::QueuePairCommand(const CommandRequest& request) {
  const uint32_t qpn = request.in_modifier & 0xffffff;
  if (request.opcode == Opcode::kQueryQp) {
    const auto context = parts_.queue_pairs.Query(qpn);
    if (!context) return Status::kBadResourceState;
    return WriteStructure(parts_.core.host,
                          request.out_param + prm::kQpContextInMailbox,
                          *context)
               ? Status::kOk
               : Status::kInternalError;
  }
  if (request.opcode == Opcode::k2RstQp || request.opcode == Opcode::k2ErrQp) {
    return parts_.queue_pairs.Modify(request.opcode, qpn, 0, {}, false);
  }
  std::array<std::byte, 4> optional;
  prm::QpContext context;
  if (const Status status = TakeQpContext(request, context);
      status != Status::kOk) {
    return status;
  }
  if (!parts_.core.host.Read(request.in_param, optional)) {
    return Status::kInternalError;
  }
  uint32_t mask = 0;
  for (std::byte byte : optional) mask = mask << 8 | static_cast<uint8_t>(byte);
  return parts_.queue_pairs.Modify(request.opcode, qpn, mask, context,
                                   (request.in_modifier & prm::kSqdEvent) != 0);
}

}  // namespace ibemu::hca::model::mlx4

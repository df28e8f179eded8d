#include "hca/model/mlx4/core/qp_transitions.h"

namespace ibemu::hca::model::mlx4 {

using prm::Opcode;
using prm::QpContextState;

std::optional<QpContextState> NextState(Opcode opcode, QpContextState from) {
  const auto only = [from](
                        QpContextState needed,
                        QpContextState next) -> std::optional<QpContextState> {
    if (from != needed) return std::nullopt;
    return next;
  };
  switch (opcode) {
    case Opcode::kRst2InitQp:
      return only(QpContextState::kReset, QpContextState::kInit);
    case Opcode::kInit2InitQp:
      return only(QpContextState::kInit, QpContextState::kInit);
    case Opcode::kInit2RtrQp:
      return only(QpContextState::kInit, QpContextState::kRtr);
    case Opcode::kRtr2RtsQp:
      return only(QpContextState::kRtr, QpContextState::kRts);
    case Opcode::kRts2RtsQp:
      return only(QpContextState::kRts, QpContextState::kRts);
    case Opcode::kSqErr2RtsQp:
      return only(QpContextState::kSqError, QpContextState::kRts);
    case Opcode::kRts2SqdQp:
      return only(QpContextState::kRts, QpContextState::kSqDrained);
    case Opcode::kSqd2SqdQp:
      return only(QpContextState::kSqDrained, QpContextState::kSqDrained);
    case Opcode::kSqd2RtsQp:
      return only(QpContextState::kSqDrained, QpContextState::kRts);
    case Opcode::k2ErrQp:
      return QpContextState::kError;
    case Opcode::k2RstQp:
      return QpContextState::kReset;
    default:
      return std::nullopt;
  }
}

namespace {

enum Services : uint8_t {
  kRc = 1 << 0,
  kUc = 1 << 1,
  kUd = 1 << 2,
  kMlx = 1 << 3,
};

uint8_t BitOf(prm::QpService service) {
  switch (service) {
    case prm::QpService::kRc:
      return kRc;
    case prm::QpService::kUc:
      return kUc;
    case prm::QpService::kUd:
      return kUd;
    case prm::QpService::kMlx:
      return kMlx;
  }
  return 0;
}

// Linux always names all three rights.
constexpr uint32_t kRights =
    prm::kOptRemoteRead | prm::kOptRemoteWrite | prm::kOptRemoteAtomic;
constexpr uint32_t kPath = prm::kOptPrimaryPath | prm::kOptSchedQueue;
constexpr uint32_t kMigration =
    prm::kOptAlternatePath | prm::kOptMigrationState | kRights;
constexpr uint32_t kReliableReceive = prm::kOptRraMax | prm::kOptRnrTimeout;
constexpr uint32_t kReliableSend = prm::kOptAckTimeout | prm::kOptRetryCount |
                                   prm::kOptRnrRetry | prm::kOptSraMax;
constexpr uint32_t kDatagram = prm::kOptPKeyIndex | prm::kOptQKey;

struct Components {
  Opcode opcode;
  uint8_t services;
  uint32_t optional;
};

// The port needs no bit: it is part of the path's schedule queue.
constexpr Components kComponents[] = {
    {Opcode::kRst2InitQp, kRc | kUc,
     prm::kOptPKeyIndex | prm::kOptSchedQueue | kRights},
    {Opcode::kRst2InitQp, kUd, kDatagram | prm::kOptSchedQueue},
    {Opcode::kRst2InitQp, kMlx, kDatagram},

    {Opcode::kInit2InitQp, kRc | kUc,
     prm::kOptPKeyIndex | prm::kOptSchedQueue | kRights},
    {Opcode::kInit2InitQp, kUd, kDatagram | prm::kOptSchedQueue},
    {Opcode::kInit2InitQp, kMlx, kDatagram},

    {Opcode::kInit2RtrQp, kRc,
     kPath | prm::kOptPKeyIndex | prm::kOptAlternatePath | kRights |
         kReliableReceive},
    {Opcode::kInit2RtrQp, kUc,
     kPath | prm::kOptPKeyIndex | prm::kOptAlternatePath | kRights},
    {Opcode::kInit2RtrQp, kUd | kMlx, kDatagram},

    {Opcode::kRtr2RtsQp, kRc, kReliableSend | kMigration | prm::kOptRnrTimeout},
    {Opcode::kRtr2RtsQp, kUc, kMigration},
    {Opcode::kRtr2RtsQp, kUd | kMlx, prm::kOptQKey},

    {Opcode::kRts2RtsQp, kRc, kMigration | prm::kOptRnrTimeout},
    {Opcode::kRts2RtsQp, kUc, kMigration},
    {Opcode::kRts2RtsQp, kUd | kMlx, prm::kOptQKey},

    {Opcode::kSqd2RtsQp, kRc, kMigration | prm::kOptRnrTimeout},
    {Opcode::kSqd2RtsQp, kUc, kMigration},
    {Opcode::kSqd2RtsQp, kUd | kMlx, prm::kOptQKey},

    {Opcode::kSqd2SqdQp, kRc,
     kPath | prm::kOptPKeyIndex | kReliableSend | kReliableReceive |
         kMigration},
    {Opcode::kSqd2SqdQp, kUc, kPath | prm::kOptPKeyIndex | kMigration},
    {Opcode::kSqd2SqdQp, kUd | kMlx, kDatagram},

    {Opcode::kSqErr2RtsQp, kUc, kRights},
    {Opcode::kSqErr2RtsQp, kUd | kMlx, prm::kOptQKey},
};

void TakePath(const prm::QpContext& given, prm::QpContext& context) {
  // The P_Key index and the timeout have bits of their own.
  const uint8_t pkey_index = context.primary.pkey_index;
  const uint8_t ack_timeout = context.primary.ack_timeout;
  context.primary = given.primary;
  context.primary.pkey_index = pkey_index;
  context.primary.ack_timeout = ack_timeout;
}

void TakeOptional(uint32_t optional, const prm::QpContext& given,
                  prm::QpContext& context) {
  const auto wanted = [optional](prm::QpOptional bit) {
    return (optional & bit) != 0;
  };
  if (wanted(prm::kOptPrimaryPath)) TakePath(given, context);
  if (wanted(prm::kOptSchedQueue)) {
    context.primary.sched_queue = given.primary.sched_queue;
  }
  if (wanted(prm::kOptPKeyIndex)) {
    context.primary.pkey_index = given.primary.pkey_index;
  }
  if (wanted(prm::kOptAckTimeout)) {
    context.primary.ack_timeout = given.primary.ack_timeout;
  }
  if (wanted(prm::kOptAlternatePath)) context.alternate = given.alternate;
  if (wanted(prm::kOptRemoteRead)) context.remote_read = given.remote_read;
  if (wanted(prm::kOptRemoteWrite)) context.remote_write = given.remote_write;
  if (wanted(prm::kOptRemoteAtomic)) {
    context.remote_atomic = given.remote_atomic;
  }
  if (wanted(prm::kOptQKey)) context.qkey = given.qkey;
  if (wanted(prm::kOptRnrTimeout)) context.min_rnr_nak = given.min_rnr_nak;
  if (wanted(prm::kOptSraMax)) context.log_sra_max = given.log_sra_max;
  if (wanted(prm::kOptRraMax)) context.log_rra_max = given.log_rra_max;
  if (wanted(prm::kOptMigrationState)) context.pm_state = given.pm_state;
  if (wanted(prm::kOptRetryCount)) context.retry_count = given.retry_count;
  if (wanted(prm::kOptRnrRetry)) context.rnr_retry = given.rnr_retry;
}

}  // namespace

uint32_t OptionalComponents(Opcode opcode, prm::QpService service) {
  const uint8_t bit = BitOf(service);
  for (const Components& row : kComponents) {
    if (row.opcode == opcode && (row.services & bit) != 0) return row.optional;
  }
  return 0;
}

void TakeContext(Opcode opcode, uint32_t optional, const prm::QpContext& given,
                 prm::QpContext& context) {
  switch (opcode) {
    case Opcode::kRst2InitQp:
      context = given;
      return;
    case Opcode::kInit2RtrQp:
      context.mtu = given.mtu;
      context.log_msg_max = given.log_msg_max;
      context.remote_qpn = given.remote_qpn;
      TakePath(given, context);
      context.log_rra_max = given.log_rra_max;
      context.next_receive_psn = given.next_receive_psn;
      context.min_rnr_nak = given.min_rnr_nak;
      break;
    case Opcode::kRtr2RtsQp:
      context.primary.ack_timeout = given.primary.ack_timeout;
      context.ack_request_freq = given.ack_request_freq;
      context.log_sra_max = given.log_sra_max;
      context.retry_count = given.retry_count;
      context.rnr_retry = given.rnr_retry;
      context.next_send_psn = given.next_send_psn;
      break;
    case Opcode::k2ErrQp:
    case Opcode::k2RstQp:
    case Opcode::kRts2SqdQp:
      return;
    default:
      break;
  }
  TakeOptional(optional, given, context);
}

}  // namespace ibemu::hca::model::mlx4

#include "hca/model/mlx4/firmware/firmware.h"

#include "hca/prm/mlx4_registers.h"

namespace ibemu::hca::model::mlx4 {

using prm::Opcode;
using Status = prm::CommandStatus;

// The stages in which a command is allowed, and the mailboxes that it has.
struct Firmware::Kind {
  Stage earliest = Stage::kUp;
  Stage latest = Stage::kUp;
  bool in = false, out = false;
  uint8_t op_modifiers = 1;      // the exclusive maximum
  bool out_is_optional = false;  // see prm::kNoOutbox
  uint8_t least_op_modifier = 0;
};

const Firmware::Kind* Firmware::KindOf(Opcode opcode) {
  constexpr Stage kAny = Stage::kReset;
  constexpr Stage kRuns = Stage::kRunning;
  constexpr Stage kUp = Stage::kUp;
  static constexpr Kind kQueryEarly{kAny, kUp, false, true};
  static constexpr Kind kQueryRunning{kRuns, kUp, false, true};
  static constexpr Kind kMapBoot{kAny, kAny, true, false};
  static constexpr Kind kBoot{kAny, kAny};
  static constexpr Kind kSettle{kRuns, kRuns};
  static constexpr Kind kSettleIn{kRuns, kRuns, true, false};
  static constexpr Kind kRunning{kRuns, kUp};
  static constexpr Kind kRunningIn{kRuns, kUp, true, false};
  static constexpr Kind kPlain{kUp, kUp};
  static constexpr Kind kPanic{kUp, kUp, false, false, 2};
  static constexpr Kind kIn{kUp, kUp, true, false};
  static constexpr Kind kModify{kUp, kUp, true, false, 2};
  static constexpr Kind kOut{kUp, kUp, false, true};
  static constexpr Kind kDiagnostics{kUp, kUp, false, true, 3};
  static constexpr Kind kBack{kUp, kUp, false, true, 2, true};
  static constexpr Kind kHash{kUp, kUp, true, false, 8};
  static constexpr Kind kMad{kUp, kUp, true, true, 16};
  switch (opcode) {
    case Opcode::kQueryFw:
      return &kQueryEarly;
    case Opcode::kMapFa:
      return &kMapBoot;
    case Opcode::kRunFw:
      return &kBoot;
    case Opcode::kUnmapFa: {
      static constexpr Kind kUnmap{kAny, kRuns};
      return &kUnmap;
    }
    case Opcode::kQueryDevCap:
    case Opcode::kQueryAdapter:
    case Opcode::kQueryPort:
      return &kQueryRunning;
    case Opcode::kModStatCfg: {
      // It sets with the input mailbox, and queries with the output mailbox.
      static constexpr Kind kConfigure{kRuns, kUp, true, true, 3};
      return &kConfigure;
    }
    case Opcode::kSetIcmSize:
    case Opcode::kUnmapIcmAux:
      return &kSettle;
    case Opcode::kMapIcmAux:
    case Opcode::kInitHca:
      return &kSettleIn;
    case Opcode::kMapIcm:
      return &kRunningIn;
    case Opcode::kUnmapIcm:
    case Opcode::kNop:
      return &kRunning;
    case Opcode::kCloseHca:
      return &kPanic;
    case Opcode::kQueryHca:
    case Opcode::kQueryEq:
    case Opcode::kQueryCq:
    case Opcode::kQueryQp:
    case Opcode::kQuerySrq:
    case Opcode::kQueryMpt:
    case Opcode::kReadMcg:
      return &kOut;
    case Opcode::kDiagRprt:
      return &kDiagnostics;
    case Opcode::kSw2HwMpt:
    case Opcode::kSw2HwEq:
    case Opcode::kSw2HwCq:
    case Opcode::kSw2HwSrq:
    case Opcode::kWriteMtt:
    case Opcode::kWriteMcg:
    case Opcode::kSetPort:
    case Opcode::kRst2InitQp:
    case Opcode::kInit2InitQp:
    case Opcode::kInit2RtrQp:
    case Opcode::kRtr2RtsQp:
    case Opcode::kRts2RtsQp:
    case Opcode::kSqErr2RtsQp:
    case Opcode::kRts2SqdQp:
    case Opcode::kSqd2SqdQp:
    case Opcode::kSqd2RtsQp:
      return &kIn;
    case Opcode::kModifyCq:
      return &kModify;
    case Opcode::kHw2SwMpt:
    case Opcode::kHw2SwEq:
    case Opcode::kHw2SwCq:
    case Opcode::kHw2SwSrq:
      return &kBack;
    case Opcode::k2RstQp: {
      // Linux always sends this op modifier, and no driver shows the meaning of
      // the others.
      static constexpr Kind kToReset{kUp,
                                     kUp,
                                     false,
                                     false,
                                     prm::kFromAnyState + 1,
                                     false,
                                     prm::kFromAnyState};
      return &kToReset;
    }
    case Opcode::kMadDemux: {
      static constexpr Kind kDemultiplex{kUp, kUp, false, true, 3};
      return &kDemultiplex;
    }
    case Opcode::kMgidHash:
      return &kHash;
    case Opcode::kMadIfc:
      return &kMad;
    case Opcode::k2ErrQp:
    case Opcode::kInitPort:
    case Opcode::kClosePort:
    case Opcode::kSyncTpt:
    case Opcode::kMapEq:
    case Opcode::kArmSrq:
    case Opcode::kConfSpecialQp:
      return &kPlain;
    case Opcode::kSensePort:
    case Opcode::kReadMtt:
      break;
  }
  return nullptr;
}

bool Firmware::TakesInbox(Opcode opcode) {
  const Kind* const kind = KindOf(opcode);
  return kind != nullptr && kind->in;
}

Status Firmware::Check(const Kind& kind, const CommandRequest& request) const {
  if (request.op_modifier >= kind.op_modifiers ||
      request.op_modifier < kind.least_op_modifier) {
    return Status::kBadOp;
  }
  if (stage() < kind.earliest || stage() > kind.latest) {
    return Status::kBadSysState;
  }
  const bool out = kind.out && !(kind.out_is_optional &&
                                 (request.op_modifier & prm::kNoOutbox) != 0);
  if ((kind.in && request.in_param % prm::kMailboxAlignment != 0) ||
      (out && request.out_param % prm::kMailboxAlignment != 0)) {
    return Status::kBadParam;
  }
  return Status::kOk;
}

CommandReply Firmware::Execute(const CommandRequest& request) {
  const Kind* kind = KindOf(request.opcode);
  if (kind == nullptr) return {Status::kBadOp};
  if (const Status status = Check(*kind, request); status != Status::kOk) {
    return {status};
  }
  if (const auto reply = bring_up_.Execute(request)) return *reply;
  if (const auto reply = management_.Execute(request)) return *reply;
  return objects_.Execute(request);
}

}  // namespace ibemu::hca::model::mlx4

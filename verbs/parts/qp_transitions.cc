#include "verbs/parts/qp_transitions.h"

#include <algorithm>
#include <array>

#include "absl/strings/str_format.h"
#include "base/status_macros.h"

namespace ibemu::verbs {
namespace {

using enum QpState;
using namespace qp_attribute;  // NOLINT: the table is made of them

// Bits, because some rows are for several types: these share columns of the
// specification's table.
enum Types : uint8_t {
  kRc = 1 << 0,
  kUc = 1 << 1,
  kUd = 1 << 2,
  kSpecial = 1 << 3,  // SMI and GSI
  kAll = kRc | kUc | kUd | kSpecial,
};

struct Row {
  QpState from, to;
  uint8_t types;
  uint32_t required, optional;
};

constexpr uint32_t kConnected =
    kAddress | kPathMtu | kDestinationQp | kReceivePsn;
constexpr uint32_t kReliableReceive = kMaxReadsHere | kMinRnrTimer;
constexpr uint32_t kReliableSend =
    kTimeout | kRetryCount | kRnrRetry | kMaxReads;
constexpr uint32_t kPath = kAlternatePath | kAccessFlags;
constexpr uint32_t kMigration = kPath | kMigrationState;

// Not in here: any state may become RESET, and any but RESET may become ERR,
// both without attributes.
constexpr std::array kRows = {
    Row{kReset, kInit, kRc | kUc, kPKeyIndex | kPort | kAccessFlags, 0},
    Row{kReset, kInit, kUd, kPKeyIndex | kPort | kQKey, 0},
    Row{kReset, kInit, kSpecial, kPKeyIndex | kQKey, 0},

    Row{kInit, kInit, kRc | kUc, 0, kPKeyIndex | kPort | kAccessFlags},
    Row{kInit, kInit, kUd, 0, kPKeyIndex | kPort | kQKey},
    Row{kInit, kInit, kSpecial, 0, kPKeyIndex | kQKey},

    Row{kInit, kReadyToReceive, kRc, kConnected | kReliableReceive,
        kPath | kPKeyIndex},
    Row{kInit, kReadyToReceive, kUc, kConnected, kPath | kPKeyIndex},
    Row{kInit, kReadyToReceive, kUd | kSpecial, 0, kPKeyIndex | kQKey},

    Row{kReadyToReceive, kReadyToSend, kRc, kSendPsn | kReliableSend,
        kCurrentState | kMigration | kMinRnrTimer},
    Row{kReadyToReceive, kReadyToSend, kUc, kSendPsn,
        kCurrentState | kMigration},
    Row{kReadyToReceive, kReadyToSend, kUd | kSpecial, kSendPsn,
        kCurrentState | kQKey},

    Row{kReadyToSend, kReadyToSend, kRc, 0,
        kCurrentState | kMigration | kMinRnrTimer},
    Row{kReadyToSend, kReadyToSend, kUc, 0, kCurrentState | kMigration},
    Row{kReadyToSend, kReadyToSend, kUd | kSpecial, 0, kCurrentState | kQKey},

    Row{kReadyToSend, kSendQueueDrain, kAll, 0, kNotifyDrained},

    Row{kSendQueueDrain, kReadyToSend, kRc, 0,
        kCurrentState | kMigration | kMinRnrTimer},
    Row{kSendQueueDrain, kReadyToSend, kUc, 0, kCurrentState | kMigration},
    Row{kSendQueueDrain, kReadyToSend, kUd | kSpecial, 0,
        kCurrentState | kQKey},

    Row{kSendQueueDrain, kSendQueueDrain, kRc, 0,
        kPort | kAddress | kReliableSend | kReliableReceive | kMigration |
            kPKeyIndex},
    Row{kSendQueueDrain, kSendQueueDrain, kUc, 0,
        kAddress | kMigration | kPKeyIndex},
    Row{kSendQueueDrain, kSendQueueDrain, kUd | kSpecial, 0,
        kPKeyIndex | kQKey},

    Row{kSendQueueError, kReadyToSend, kUc, 0, kCurrentState | kAccessFlags},
    Row{kSendQueueError, kReadyToSend, kUd | kSpecial, 0,
        kCurrentState | kQKey},
};

uint8_t BitOf(QpType type) {
  switch (type) {
    case QpType::kRc:
      return kRc;
    case QpType::kUc:
      return kUc;
    case QpType::kUd:
      return kUd;
    default:
      return kSpecial;
  }
}

}  // namespace

absl::Status CheckTransition(QpType type, QpState from, QpState to,
                             uint32_t mask) {
  const auto refuse = [&](std::string_view why) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "type %d, state %d to %d, attributes %#x: %s", static_cast<int>(type),
        static_cast<int>(from), static_cast<int>(to), mask, why));
  };
  if ((mask & kCurrentState) != 0 &&
      (from < kReadyToReceive || from > kSendQueueError)) {
    return refuse("no current state can be assumed here");
  }
  if (to == kReset || to == kError) {
    if (from == kReset && to == kError) return refuse("no such transition");
    if ((mask & ~kState) != 0) return refuse("takes no attributes");
    return absl::OkStatus();
  }
  const uint8_t bit = BitOf(type);
  const auto* const row =
      std::find_if(kRows.begin(), kRows.end(), [&](const Row& candidate) {
        return candidate.from == from && candidate.to == to &&
               (candidate.types & bit) != 0;
      });
  if (row == kRows.end()) return refuse("no such transition");
  if ((mask & row->required) != row->required) {
    return refuse(absl::StrFormat("needs %#x", row->required));
  }
  if ((mask & ~(row->required | row->optional | kState)) != 0) {
    return refuse(absl::StrFormat("allows %#x", row->required | row->optional));
  }
  return absl::OkStatus();
}

absl::StatusOr<QpState> NextState(QpType type, QpState state,
                                  const QpAttributes& attributes) {
  if (Names(attributes, kCurrentState) &&
      QpState{static_cast<uint8_t>(attributes.cur_qp_state)} != state) {
    return absl::InvalidArgumentError("not the current state");
  }
  const QpState to = Names(attributes, kState)
                         ? QpState{static_cast<uint8_t>(attributes.qp_state)}
                         : state;
  IBEMU_RETURN_IF_ERROR(
      CheckTransition(type, state, to, attributes.qp_attr_mask));
  return to;
}

}  // namespace ibemu::verbs

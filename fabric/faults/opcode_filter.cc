#include "fabric/faults/opcode_filter.h"

#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/absl_text.h"
#include "base/did_you_mean.h"
#include "wire/opcode.h"

namespace ibemu::fabric {
namespace {

namespace opcode = wire::opcode;

struct Service {
  std::string_view prefix;
  verbs::QpType type;
  uint8_t bits;
  uint32_t operations;  // that it has
};

constexpr uint32_t Bit(int operation) { return uint32_t{1} << operation; }
constexpr uint32_t Bits(int first, int last) {
  return Bit(last + 1) - Bit(first);
}

constexpr uint32_t kInvalidates =
    Bits(opcode::kSendLastInvalidate, opcode::kSendOnlyInvalidate);

constexpr Service kServices[] = {
    {"rc-", verbs::QpType::kRc, 1 << opcode::kReliableConnection,
     Bits(opcode::kSendFirst, opcode::kFetchAdd) | kInvalidates},
    {"uc-", verbs::QpType::kUc, 1 << opcode::kUnreliableConnection,
     Bits(opcode::kSendFirst, opcode::kWriteOnlyImmediate)},
    {"ud-", verbs::QpType::kUd, 1 << opcode::kUnreliableDatagram,
     Bits(opcode::kSendOnly, opcode::kSendOnlyImmediate)},
};
constexpr uint8_t kAllServices = 1 << opcode::kReliableConnection |
                                 1 << opcode::kUnreliableConnection |
                                 1 << opcode::kUnreliableDatagram;

// By operation.
constexpr std::string_view kOperations[] = {
    "send-first",
    "send-middle",
    "send-last",
    "send-last-immediate",
    "send-only",
    "send-only-immediate",
    "rdma-write-first",
    "rdma-write-middle",
    "rdma-write-last",
    "rdma-write-last-immediate",
    "rdma-write-only",
    "rdma-write-only-immediate",
    "rdma-read-request",
    "read-response-first",
    "read-response-middle",
    "read-response-last",
    "read-response-only",
    "acknowledge",
    "atomic-acknowledge",
    "compare-swap",
    "fetch-add",
    "",  // RESYNC, of reliable datagrams
    "send-last-invalidate",
    "send-only-invalidate",
};

struct Group {
  std::string_view name;
  uint32_t operations;
};
constexpr Group kGroups[] = {
    {"any", Bits(opcode::kSendFirst, opcode::kFetchAdd) | kInvalidates},
    {"send",
     Bits(opcode::kSendFirst, opcode::kSendOnlyImmediate) | kInvalidates},
    {"rdma-write", Bits(opcode::kWriteFirst, opcode::kWriteOnlyImmediate)},
    {"read-response",
     Bits(opcode::kReadResponseFirst, opcode::kReadResponseOnly)},
    {"atomic", Bits(opcode::kCompareSwap, opcode::kFetchAdd)},
    {"ack", Bit(opcode::kAcknowledge)},
};

struct Name {
  std::string text;
  OpcodeFilter filter;
};

std::vector<Name> AllNames() {
  std::vector<Name> names;
  for (const Group& group : kGroups) {
    names.push_back(
        {std::string(group.name),
         {.services = kAllServices, .operations = group.operations}});
  }
  for (const Service& service : kServices) {
    int number = 0;
    for (const std::string_view operation : kOperations) {
      const uint32_t bit = Bit(number++);
      if ((service.operations & bit) == 0) continue;
      names.push_back({absl::StrCat(Absl(service.prefix), Absl(operation)),
                       {.services = service.bits, .operations = bit}});
    }
  }
  return names;
}

const std::vector<Name>& Names() {
  static const auto* const names = new std::vector<Name>(AllNames());
  return *names;
}

}  // namespace

bool OpcodeFilter::Matches(uint8_t code) const {
  return (services >> (code >> opcode::kServiceShift) & 1) != 0 &&
         (operations >> (code & opcode::kOperationMask) & 1) != 0;
}

bool OpcodeFilter::IsOf(verbs::QpType type) const {
  for (const Service& service : kServices) {
    if (service.type != type) continue;
    return (services & service.bits) != 0 &&
           (operations & service.operations) != 0;
  }
  return false;
}

absl::StatusOr<OpcodeFilter> ParseOpcodeFilter(std::string_view name) {
  DidYouMean guess(name);
  for (const Name& known : Names()) {
    if (absl::EqualsIgnoreCase(known.text, Absl(name))) return known.filter;
    guess.Offer(known.text);
  }
  return absl::InvalidArgumentError(absl::StrFormat(
      "opcode \"%s\": there are any, send, rdma-write, read-response, atomic, "
      "ack, and those of the specification, as rc-send-only%s",
      name, guess.Question()));
}

std::string NameOf(const OpcodeFilter& filter) {
  for (const Name& known : Names()) {
    if (known.filter == filter) return known.text;
  }
  return "";
}

}  // namespace ibemu::fabric

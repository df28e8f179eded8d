#include "daemon/words/partition_text.h"

#include "absl/strings/numbers.h"
#include "absl/strings/str_format.h"
#include "base/absl_text.h"

namespace ibemu::daemon {
namespace {

constexpr uint32_t kFullMemberBit = 0x8000;
constexpr uint32_t kLargest = 0xffff;

}  // namespace

absl::StatusOr<uint16_t> ParsePartition(std::string_view text) {
  uint32_t pkey = 0;
  if (!absl::SimpleHexAtoi(Absl(text), &pkey) || pkey > kLargest ||
      (pkey & ~kFullMemberBit) == 0) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "\"%s\" is no P_Key of a partition: write four hexadecimal digits, as "
        "in 8001",
        text));
  }
  return static_cast<uint16_t>(pkey & ~kFullMemberBit);
}

std::string PartitionText(uint16_t partition) {
  return absl::StrFormat("%04x", partition | kFullMemberBit);
}

}  // namespace ibemu::daemon

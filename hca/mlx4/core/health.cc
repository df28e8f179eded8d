#include "hca/mlx4/core/health.h"

#include <algorithm>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/status_macros.h"
#include "hca/bus/big_endian.h"
#include "hca/bus/pci_config.h"
#include "hca/mlx4/core/presence.h"

namespace ibemu::hca::mlx4 {
namespace {

// The largest valid code of a BAR, which has two bits: 0 is BAR 0, and 1 is BAR
// 2.
constexpr uint8_t kLastBarCode = 1;

}  // namespace

absl::StatusOr<Health> Health::Create(PciFunction& function,
                                      const prm::QueryFw& fw) {
  if (fw.error_buf_bar > kLastBarCode) {
    return absl::FailedPreconditionError(absl::StrFormat(
        "the firmware says that its error buffer is in a BAR with number %d, "
        "and there are 0 (BAR 0) and 1 (BAR 2)",
        fw.error_buf_bar));
  }
  IBEMU_ASSIGN_OR_RETURN(Bar* const bar,
                         function.OpenBar(fw.error_buf_bar * 2));
  const uint64_t bytes = uint64_t{fw.error_buf_size} * 4;
  if (fw.error_buf_start % 4 != 0 || fw.error_buf_start > bar->size() ||
      bytes > bar->size() - fw.error_buf_start) {
    return absl::FailedPreconditionError(absl::StrFormat(
        "the firmware says that its error buffer is at 0x%x in BAR %d, which "
        "has 0x%x bytes",
        fw.error_buf_start, fw.error_buf_bar * 2, bar->size()));
  }
  return Health(function, *bar, fw.error_buf_start, fw.error_buf_size);
}

absl::Status Health::Check() const {
  IBEMU_RETURN_IF_ERROR(CheckPresence(*function_));
  if ((function_->ReadConfig(pci_config::kCommand, 2) &
       pci_config::kCommandBusMaster) == 0) {
    return absl::UnavailableError(
        "somebody else has reset the adapter, or taken the right to be bus "
        "master from it");
  }
  // The first word tells whether there is an error; the rest is for the report.
  if (words_ == 0 || ReadBe32(*bar_, offset_) == 0) return absl::OkStatus();
  std::vector<uint32_t> words;
  for (uint32_t i = 0; i < words_; ++i) {
    words.push_back(ReadBe32(*bar_, offset_ + 4 * size_t{i}));
  }
  // The adapter may have gone since configuration space was read.
  const auto is_ones = [](uint32_t word) { return word == kAllOnes; };
  if (std::ranges::all_of(words, is_ones)) return GoneFromBus();
  std::string text;
  for (const uint32_t word : words) {
    absl::StrAppendFormat(&text, "%s%08x", text.empty() ? "" : " ", word);
  }
  return absl::UnavailableError(
      absl::StrCat("the adapter's firmware met a catastrophic error: ", text));
}

}  // namespace ibemu::hca::mlx4

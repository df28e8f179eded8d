#include "hca/mlx4/health.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/status_macros.h"
#include "hca/bus/big_endian.h"

namespace ibemu::hca::mlx4 {

absl::StatusOr<Health> Health::Create(PciFunction& function,
                                      const prm::QueryFw& fw) {
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
  return Health(*bar, fw.error_buf_start, fw.error_buf_size);
}

absl::Status Health::Check() const {
  // The first word is enough to know; the rest is for the report.
  if (words_ == 0 || ReadBe32(*bar_, offset_) == 0) return absl::OkStatus();
  std::string text;
  for (uint32_t i = 0; i < words_; ++i) {
    absl::StrAppendFormat(&text, "%s%08x", i == 0 ? "" : " ",
                          ReadBe32(*bar_, offset_ + 4 * size_t{i}));
  }
  return absl::UnavailableError(
      absl::StrCat("the adapter's firmware met a catastrophic error: ", text));
}

}  // namespace ibemu::hca::mlx4

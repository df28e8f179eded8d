#include "daemon/words/packet_effects.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/absl_text.h"

namespace ibemu::daemon {

std::vector<std::string> EffectTexts(const fabric::LinkFaults& faults,
                                     std::string_view delay_word) {
  std::vector<std::string> parts;
  for (const ChanceWord& chance : kChanceWords) {
    const double value = faults.*chance.chance;
    if (value > 0) {
      parts.push_back(absl::StrFormat("%s %g%%", chance.word, 100 * value));
    }
  }
  if (faults.ber > 0) parts.push_back(absl::StrFormat("ber %g", faults.ber));
  if (faults.delay > absl::ZeroDuration()) {
    parts.push_back(absl::StrCat(Absl(delay_word), " ",
                                 absl::FormatDuration(faults.delay)));
  }
  if (faults.jitter > absl::ZeroDuration()) {
    parts.push_back(absl::FormatDuration(faults.jitter));
  }
  return parts;
}

}  // namespace ibemu::daemon

#include "fabric/faults/bit_errors.h"

#include <cmath>
#include <limits>

namespace ibemu::fabric {

BitErrors::BitErrors(double rate, Random random)
    : rate_(rate), random_(random), gap_(DrawGap()) {}

uint64_t BitErrors::Count(uint64_t bits) {
  uint64_t errors = 0;
  while (gap_ < bits) {
    bits -= gap_ + 1;
    gap_ = DrawGap();
    ++errors;
  }
  gap_ -= bits;
  return errors;
}

// The geometric distribution, by inversion.
uint64_t BitErrors::DrawGap() {
  constexpr uint64_t kNever = std::numeric_limits<uint64_t>::max();
  if (rate_ <= 0) return kNever;
  const double uniform =
      std::ldexp(static_cast<double>((random_.Next() >> 11) + 1), -53);
  const double gap = std::log(uniform) / std::log1p(-rate_);
  return gap < 0x1p63 ? static_cast<uint64_t>(gap) : kNever;
}

}  // namespace ibemu::fabric

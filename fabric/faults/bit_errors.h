// A bad cable: each bit that crosses it may be read wrong.
#ifndef IBEMU_FABRIC_FAULTS_BIT_ERRORS_H_
#define IBEMU_FABRIC_FAULTS_BIT_ERRORS_H_

#include <cstdint>

#include "base/random.h"

namespace ibemu::fabric {

// Bit errors of a chance of their own each, none depends on another.
class BitErrors {
 public:
  // `rate`: of the bits, 0 to 1.
  BitErrors(double rate, Random random);

  // How many of the next `bits` are wrong.
  uint64_t Count(uint64_t bits);

 private:
  // How many good bits there are before the next wrong one.  One draw an error,
  // not one a bit: a rate of 1e-12 is of interest.
  uint64_t DrawGap();

  double rate_;
  Random random_;
  uint64_t gap_;
};

}  // namespace ibemu::fabric

#endif  // IBEMU_FABRIC_FAULTS_BIT_ERRORS_H_

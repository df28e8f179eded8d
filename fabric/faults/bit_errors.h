// BitErrors: random bit errors of a bad cable.
#ifndef IBEMU_FABRIC_FAULTS_BIT_ERRORS_H_
#define IBEMU_FABRIC_FAULTS_BIT_ERRORS_H_

#include <cstdint>

#include "base/random.h"

namespace ibemu::fabric {

// A source of independent bit errors: every bit has the same probability of
// being wrong.
class BitErrors {
 public:
  // `rate`: the probability of an error per bit, from 0 to 1.
  BitErrors(double rate, Random random);

  // Returns the number of wrong bits among the next `bits`.
  uint64_t Count(uint64_t bits);

 private:
  // Draws the number of good bits before the next wrong one.  One draw per
  // error instead of one per bit makes rates such as 1e-12 cheap.
  uint64_t DrawGap();

  double rate_;
  Random random_;
  uint64_t gap_;
};

}  // namespace ibemu::fabric

#endif  // IBEMU_FABRIC_FAULTS_BIT_ERRORS_H_

// The vendor's number of an error in a completion.
#ifndef IBEMU_HCA_MODEL_MLX4_TRANSPORT_VENDOR_SYNDROME_H_
#define IBEMU_HCA_MODEL_MLX4_TRANSPORT_VENDOR_SYNDROME_H_

#include <cstdint>

#include "hca/prm/mlx4_completion.h"

namespace ibemu::hca::model::mlx4 {

// Returns what goes with `syndrome` in public reports of ConnectX adapters; no
// document says so.  0 where none is known.
constexpr uint8_t VendorSyndromeOf(prm::CqeSyndrome syndrome) {
  using enum prm::CqeSyndrome;
  switch (syndrome) {
    case kLocalProtection:
      return 0x51;
    case kLocalQpOperation:
      return 0x70;
    case kTransportRetryExceeded:
      return 0x81;
    case kRnrRetryExceeded:
      return 0x87;
    case kRemoteAccess:
      return 0x88;
    case kRemoteOperation:
      return 0x89;
    case kRemoteInvalidRequest:
      return 0x8a;
    case kFlushed:
      return 0xf9;
    default:
      return 0;
  }
}

}  // namespace ibemu::hca::model::mlx4

#endif  // IBEMU_HCA_MODEL_MLX4_TRANSPORT_VENDOR_SYNDROME_H_

// VendorError: the meaning of the number in a work completion's vendor_err.
#ifndef IBEMU_VERBS_VENDOR_ERROR_H_
#define IBEMU_VERBS_VENDOR_ERROR_H_

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace ibemu::verbs {

// A VendorError is a value of ibv_wc::vendor_err as a ConnectX gives it.  No
// public document lists them: each pairing of value and status is one that
// public reports of such adapters show, one of which is named.
struct VendorError {
  uint32_t value;
  uint32_t status;          // as wc_status has it
  bool given = false;       // with this status, by adapters that are not real
  std::string_view cause;   // a sentence without a full stop
  std::string_view report;  // where it was seen
};

// Returns those that are known, by rising values.
std::span<const VendorError> VendorErrors();

// Returns nothing if the value is not known.
std::optional<VendorError> FindVendorError(uint32_t value);

// Returns the value that is given with this status; 0 if none is known.
uint32_t VendorErrorOf(uint32_t status);

}  // namespace ibemu::verbs

#endif  // IBEMU_VERBS_VENDOR_ERROR_H_

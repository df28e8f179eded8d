// Both ends of the cable, for MADs of a vendor class.
#ifndef IBEMU_TESTS_E2E_UMAD_ABI_VENDOR_ENDS_H_
#define IBEMU_TESTS_E2E_UMAD_ABI_VENDOR_ENDS_H_

#include <vector>

#include "umad.h"

namespace umad_abi {

// `here` sends, `there` has an agent for these methods of kVendor.
struct VendorEnds {
  explicit VendorEnds(const std::vector<int>& methods = {kSend})
      : receiver(there.Register(
            {.mgmt_class = kVendor, .methods = methods, .oui = kOui})) {}

  Umad here{0};
  Umad there{1};
  int sender = here.Register({});
  int receiver;
};

}  // namespace umad_abi

#endif  // IBEMU_TESTS_E2E_UMAD_ABI_VENDOR_ENDS_H_

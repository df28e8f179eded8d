// ProtectionDomain: a protection domain of the software channel adapter.
#ifndef IBEMU_FABRIC_SOFT_HCA_PROTECTION_DOMAIN_H_
#define IBEMU_FABRIC_SOFT_HCA_PROTECTION_DOMAIN_H_

#include <cstdint>

#include "verbs/provider.h"

namespace ibemu::fabric {

// A protection domain, which knows the process that owns it.
struct ProtectionDomain : verbs::Pd {
  explicit ProtectionDomain(uint64_t owner) : process(owner) {}
  const uint64_t process;
};

}  // namespace ibemu::fabric

#endif  // IBEMU_FABRIC_SOFT_HCA_PROTECTION_DOMAIN_H_

// AdapterIdentityOf(): the adapter that verbs name for a profile.
#ifndef IBEMU_CUSE_FUSE_ADAPTER_IDENTITY_H_
#define IBEMU_CUSE_FUSE_ADAPTER_IDENTITY_H_

#include "sysfs/profile.h"
#include "verbs/adapter_identity.h"

namespace ibemu::cuse {

// Returns the identity that QUERY_DEVICE tells of adapters of `profile`, the
// same as sysfs.
inline verbs::AdapterIdentity AdapterIdentityOf(sysfs::Profile profile) {
  const sysfs::ProfileFacts& facts = sysfs::FactsOf(profile);
  const auto [major, minor, patch] = facts.firmware;
  return {.vendor_id = facts.vendor_oui,
          .vendor_part_id = facts.device,
          .fw_ver = uint64_t{major} << 32 | uint64_t{minor} << 16 | patch};
}

}  // namespace ibemu::cuse

#endif  // IBEMU_CUSE_FUSE_ADAPTER_IDENTITY_H_

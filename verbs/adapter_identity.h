// AdapterIdentity: the numbers of vendor, part and firmware that verbs tell.
#ifndef IBEMU_VERBS_ADAPTER_IDENTITY_H_
#define IBEMU_VERBS_ADAPTER_IDENTITY_H_

#include <cstdint>

namespace ibemu::verbs {

// An AdapterIdentity is what QUERY_DEVICE calls an adapter.  Programs
// (perftest, UCX) take from it which provider of libibverbs drives the adapter,
// and call that provider's own functions.  So it is the adapter of the PCI
// function in sysfs, whoever made the one that NodeInfo tells of.
struct AdapterIdentity {
  uint32_t vendor_id = 0;  // an OUI
  uint32_t vendor_part_id = 0;
  // major << 32 | minor << 16 | patch.  What verbs::Provider knows comes first.
  uint64_t fw_ver = 0;
};

}  // namespace ibemu::verbs

#endif  // IBEMU_VERBS_ADAPTER_IDENTITY_H_

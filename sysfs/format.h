// InfiniBand values as Linux writes them in sysfs
// (drivers/infiniband/core/sysfs.c), without a newline.
#ifndef IBEMU_SYSFS_FORMAT_H_
#define IBEMU_SYSFS_FORMAT_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "mad/wire/port_info.h"
#include "wire/types.h"

namespace ibemu::sysfs {

// "fc6a:1c03:0082:db00"
std::string FormatGuid(wire::Guid guid);

// "fe80:0000:0000:0000:fc6a:1c03:0082:db00"
std::string FormatGid(const wire::Gid& gid);

// "4: ACTIVE"
std::string FormatState(int state);

// "5: LinkUp"
std::string FormatPhysicalState(int state);

// "400 Gb/sec (4X NDR)".  An unknown speed counts as SDR.  FDR10 has QDR's code
// in PortInfo: the caller knows from elsewhere (see IsFdr10()) and says so in
// `fdr10`.
//
// Errors: InvalidArgument if LinkWidthActive is not one width.
absl::StatusOr<std::string> FormatRate(const mad::PortInfo& info, bool fdr10);

}  // namespace ibemu::sysfs

#endif  // IBEMU_SYSFS_FORMAT_H_

// What a process has mapped.
#ifndef IBEMU_CUSE_CLIENT_MAPPED_RANGE_H_
#define IBEMU_CUSE_CLIENT_MAPPED_RANGE_H_

#include <sys/types.h>

#include <cstdint>

#include "absl/status/status.h"

namespace ibemu::cuse {

// Whether pages could be pinned as pin_user_pages() in mm/gup.c does it (since
// Linux 6.2: before, reading took a writable page, too): all of the range is
// mapped, with the right to read or write it, and no file ends before it.  No
// page is brought in, so the time depends on the number of mappings, not on
// their size.  On a worker only: the end of a file is found by reading there.
//
// Errors: DataLoss.
absl::Status CheckMapped(pid_t process, uint64_t start, uint64_t length,
                         bool writable);

}  // namespace ibemu::cuse

#endif  // IBEMU_CUSE_CLIENT_MAPPED_RANGE_H_

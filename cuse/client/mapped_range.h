// CheckMapped(): a check of the memory that a process has mapped.
#ifndef IBEMU_CUSE_CLIENT_MAPPED_RANGE_H_
#define IBEMU_CUSE_CLIENT_MAPPED_RANGE_H_

#include <sys/types.h>

#include <cstdint>

#include "absl/status/status.h"

namespace ibemu::cuse {

// Checks that pages could be pinned as pin_user_pages() in mm/gup.c does it
// (since Linux 6.2; before, even reading needed a writable page).  This means
// that all of the range is mapped, with the right to read or write it, and that
// no file ends before the range does.  No page is brought in, so the time
// depends on the number of mappings, not on their size.  To be called only on a
// worker, because it finds the end of a file by reading there.
//
// Errors: DataLoss.
absl::Status CheckMapped(pid_t process, uint64_t start, uint64_t length,
                         bool writable);

}  // namespace ibemu::cuse

#endif  // IBEMU_CUSE_CLIENT_MAPPED_RANGE_H_

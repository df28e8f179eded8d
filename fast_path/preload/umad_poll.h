// poll() of one umad file through its rings.
#ifndef IBEMU_FAST_PATH_PRELOAD_UMAD_POLL_H_
#define IBEMU_FAST_PATH_PRELOAD_UMAD_POLL_H_

#include <poll.h>

#include <cstdint>
#include <optional>

#include "fast_path/preload/attached_files.h"

namespace ibemu::fast_path {

// Does what poll() of this one entry does, as far as the rings tell: waits at
// most `timeout_ms` (below 0: for ever) for what it asks for.  Returns what
// poll() returns; EINTR as errno if a signal was handled.  A thread may be
// cancelled in it.  Returns nothing if the kernel has to say it, which then has
// `timeout_ms`, what is left of it, to wait.
//
// REQUIRES: the entry is writable memory.
std::optional<int> PollUmad(AttachedFiles& files, pollfd& entry,
                            int& timeout_ms);

}  // namespace ibemu::fast_path

#endif  // IBEMU_FAST_PATH_PRELOAD_UMAD_POLL_H_

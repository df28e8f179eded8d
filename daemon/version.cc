#include "daemon/version.h"

namespace ibemu::daemon {

const char* Version() { return IBEMU_VERSION; }

}  // namespace ibemu::daemon

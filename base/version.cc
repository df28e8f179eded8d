#include "base/version.h"

namespace ibemu {

const char* Version() { return IBEMU_VERSION; }

}  // namespace ibemu

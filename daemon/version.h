// Which release this is.
#ifndef IBEMU_DAEMON_VERSION_H_
#define IBEMU_DAEMON_VERSION_H_

namespace ibemu::daemon {

const char* Version();  // "0.1.0", of meson.build

}  // namespace ibemu::daemon

#endif  // IBEMU_DAEMON_VERSION_H_

// What the command line says of a daemon.
#ifndef IBEMU_DAEMON_DAEMON_OPTIONS_H_
#define IBEMU_DAEMON_DAEMON_OPTIONS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "daemon/adapters/hca_access.h"
#include "daemon/web/web_address.h"
#include "sysfs/view.h"

namespace ibemu::daemon {

struct DaemonOptions {
  // --backend=hca: these, and no fabric.
  std::vector<HcaChoice> adapters;

  std::string topology = "back-to-back";  // SPEC: a file or a generator
  std::string sm = "builtin";             // none, static or builtin
  std::optional<uint64_t> seed;           // drawn when absent
  // Path of the control socket.  Empty: "default" in SocketDirectory() for
  // ibemud, a free name there for a private daemon.
  std::string socket;
  bool check = false;  // load and verify only

  // --front-end=cuse: the devices of `hosts`, for the whole machine.
  bool system_wide = false;
  std::vector<std::string> hosts;  // none: the first adapter
  bool cover_sys_class = true;     // else the sysfs entries are at kSystemMount
  int major_number = sysfs::kMajor;  // 0: the kernel chooses

  std::optional<WebAddress> web;  // --http
};

}  // namespace ibemu::daemon

#endif  // IBEMU_DAEMON_DAEMON_OPTIONS_H_

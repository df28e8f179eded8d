// The options of a daemon, as its command line gives them.
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

// The beginning of a private daemon's errors that are about `listen`.
inline constexpr char kListenFault[] = "listen: ";

// A DaemonOptions is the command line of ibemud(8), and what `ibemu run`,
// `ibemu up` and ibemu-hca-model give a private daemon.  The names of options
// beside the fields are ibemud's.
struct DaemonOptions {
  // The adapters of --backend=hca.  If there are any, there is no fabric.
  std::vector<HcaChoice> adapters;

  // --join: the daemon whose fabric has the hosts of `joined_hosts`, as
  // Authority::Find() takes it; there is no subnet here then.  Empty: none.
  std::string join;
  std::vector<std::string> joined_hosts;
  // --listen: where other machines may join this one's fabric.
  std::optional<std::string> listen;
  // --encrypt: with `listen`, have packets of queue pairs encrypted, too.
  bool encrypt = false;
  // --exact: packets between joined hosts all go through this daemon.
  bool exact = false;
  // --journal: the file by which the subnet outlives the daemon.
  std::optional<std::string> journal;
  // --certs: the folder of this machine's certificates; empty: the usual one.
  std::string certificates;

  std::string topology = "back-to-back";  // a file or a generator's SPEC
  std::string sm = "builtin";             // none, static or builtin
  std::optional<uint64_t> seed;           // if absent, a random one
  // A network or a file; if absent, AddressPlan::kUsual for a fabric, and no
  // addresses for real adapters.
  std::optional<std::string> addresses;
  // The path of the control socket.  If it is empty, ibemud takes "default" in
  // SocketDirectory(), and a private daemon a free name there.
  std::string socket;
  bool check = false;  // only load and verify

  // Options of --front-end=cuse: the devices of `hosts`, for the whole machine.
  bool system_wide = false;
  std::vector<std::string> hosts;  // if empty, the first adapter
  sysfs::Profile profile = sysfs::Profile::kQib;
  bool cover_sys_class = true;  // else sysfs entries are only at kSystemMount
  int major_number = sysfs::kMajor;  // 0: the kernel chooses

  std::optional<WebAddress> web;  // --http
};

}  // namespace ibemu::daemon

#endif  // IBEMU_DAEMON_DAEMON_OPTIONS_H_

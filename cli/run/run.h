// `ibemu run`: one command, run as if on a host of the fabric.
#ifndef IBEMU_CLI_RUN_RUN_H_
#define IBEMU_CLI_RUN_RUN_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "daemon/adapters/hca_access.h"
#include "launch/child.h"

namespace ibemu::cli {

// The value of --outside for no way out of the network of --net.
inline constexpr char kNoOutside[] = "none";

// A RunOptions is the command line of `ibemu run`: which daemon serves the run,
// which hosts the command sees, and the command itself.
struct RunOptions {
  // Options of the private daemon.  None of them goes together with `fabric`.
  // `adapters` (--backend=hca) excludes the other ones but `addresses`: the
  // command sees all of these adapters, and `hosts` is empty.
  std::vector<daemon::HcaChoice> adapters;
  // `join`: the daemon of which `hosts`, not empty then, are taken over
  // (DaemonOptions::join); it excludes the five below.
  std::optional<std::string> join;
  std::string certificates;             // DaemonOptions::certificates
  std::optional<std::string> topology;  // default "back-to-back"
  std::optional<std::string> sm;
  std::optional<uint64_t> seed;
  std::optional<std::string> addresses;  // DaemonOptions's

  // A running daemon: a name, or the path of its socket (it has a slash).
  // Without it and without all above, IBEMU_FABRIC counts: so a nested
  // run finds the fabric of the outer one.
  std::optional<std::string> fabric;

  // The hosts whose adapters the command sees.  Empty: that of IBEMU_HOST if
  // the fabric is IBEMU_FABRIC's, else the daemon's default (the first CA).
  std::vector<std::string> hosts;
  std::optional<std::string> profile;  // default: ChooseProfile()'s
  std::string device_name = "ibemu%d";

  // The command sees no adapter, not even the machine's; nothing above and
  // none of `hostname`, `net` and `state` goes together with it.
  bool no_adapter = false;

  // The name of the host that the command believes itself on; default: the
  // first one's of `hosts`.  "-": the machine's, and its boot id.
  std::optional<std::string> hostname;

  // The command has a network of its own: an interface ib0 of the hosts' first
  // port, and no other than those of ports.
  bool net = false;
  // With `net`: P_Keys of further partitions, in which each of those ports has
  // an interface, too.
  std::vector<std::string> partitions;
  // With `net`: names of virtual switches of Ethernet, on each of which each of
  // those ports has an interface, too.
  std::vector<std::string> switches;
  bool connected = false;  // with `net`: in IPoIB's connected mode

  // With `net`: who connects that network to the machine's, a name of
  // launch::OutsidePrograms(), or kNoOutside.
  std::string outside = kNoOutside;

  // The directory that keeps what opensm and its kind write below /var.
  // Without it they have private directories where the user may not write.
  std::optional<std::string> state;

  // Programs of the command get a library that takes their calls past FUSE.
  bool fast_path = true;

  // "batch": the command is scheduled as SCHED_BATCH, so that whom it wakes
  // does not take its processor.  "inherit": as the launcher is.
  std::string sched = "inherit";

  // When the command has ended, says on stderr why work requests of its hosts
  // failed meanwhile.
  bool explain = false;
  // The same of what of their queue pairs would fail or hang on hardware.
  bool lint = false;

  // Without it, the command is ended when its devices go with the daemon.
  bool keep = false;

  std::vector<std::string> command;  // not empty
};

// Runs the command and returns what main() returns: the command's exit status,
// or one of the constants of child.h after one sentence on stderr.  A command
// that a signal killed makes this process die of the same signal.
//
// Must be called by a process with one thread; it leaves that process in new
// namespaces, so nothing else should be done in it afterwards.
int RunCommand(const RunOptions& options);

}  // namespace ibemu::cli

#endif  // IBEMU_CLI_RUN_RUN_H_

// OutsideProgram: the program that hands the packets of a network namespace on
// to the machine's network.
#ifndef IBEMU_LAUNCH_NETWORK_OUTSIDE_PROGRAM_H_
#define IBEMU_LAUNCH_NETWORK_OUTSIDE_PROGRAM_H_

#include <sys/types.h>

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ibemu::launch {

// An OutsideProgram joins the network namespace of a process, makes an
// interface tap0 there, and opens a socket of the machine for each connection
// that comes out of it.
struct OutsideProgram {
  std::string_view name;         // of its command
  std::string_view package;      // of Debian
  std::string_view name_server;  // that it answers for
  bool joins_roots;              // a namespace that root made
};

// Returns the programs that are known, the one to take first at the front.
std::span<const OutsideProgram> OutsidePrograms();

// Returns the program of that name; null if there is none.
const OutsideProgram* FindOutsideProgram(std::string_view name);

// Returns true if the program is in a directory of `path`, "/usr/bin:/bin", and
// may be executed.
bool IsInstalled(const OutsideProgram& program, std::string_view path);

// Returns the program's command line, for the network namespace of a process.
std::vector<std::string> OutsideCommand(const OutsideProgram& program,
                                        pid_t process);

// Returns a new /etc/resolv.conf, from the machine's: other name servers.
std::string WithNameServer(std::string_view resolver,
                           std::string_view name_server);

// Returns true if there is a default route.  The texts are those of
// /proc/net/route and /proc/net/ipv6_route.
bool HasDefaultRoute(std::string_view ipv4, std::string_view ipv6);

}  // namespace ibemu::launch

#endif  // IBEMU_LAUNCH_NETWORK_OUTSIDE_PROGRAM_H_

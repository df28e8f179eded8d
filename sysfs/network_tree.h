// The class of network interfaces.
#ifndef IBEMU_SYSFS_NETWORK_TREE_H_
#define IBEMU_SYSFS_NETWORK_TREE_H_

#include "sysfs/tree.h"
#include "sysfs/view.h"

namespace ibemu::sysfs {

inline constexpr char kNetworks[] = "class/net";

// Adds the class to `root`, with the loopback interface, which is the
// machine's "devices/virtual/net/lo".
void AddNetworks(Entry& root);

// Adds the directory of an interface below its device's PCI function, and its
// link in the class.
void AddNetwork(Entry& root, const ViewDevice& device,
                const NetworkInterface& network);

}  // namespace ibemu::sysfs

#endif  // IBEMU_SYSFS_NETWORK_TREE_H_

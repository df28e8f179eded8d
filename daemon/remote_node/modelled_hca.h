// A modelled adapter in this process.
#ifndef IBEMU_DAEMON_REMOTE_NODE_MODELLED_HCA_H_
#define IBEMU_DAEMON_REMOTE_NODE_MODELLED_HCA_H_

#include <memory>

#include "absl/status/statusor.h"
#include "daemon/adapters/hca_access.h"
#include "hca/bus/pci_function.h"
#include "loop/loop.h"

namespace ibemu::daemon {

// A strict ConnectX-3 whose cable is a node of another daemon's fabric, and the
// function of it.  When that daemon goes, the adapter meets a catastrophic
// error.  `loop` must outlive it.
//
// Errors: Client::Connect()'s, those of `node_link.attach`; InvalidArgument for
// a node that is no such adapter.
absl::StatusOr<std::unique_ptr<hca::PciFunction>> PlugInModelledHca(
    const HcaModelChoice& choice, Loop& loop);

}  // namespace ibemu::daemon

#endif  // IBEMU_DAEMON_REMOTE_NODE_MODELLED_HCA_H_

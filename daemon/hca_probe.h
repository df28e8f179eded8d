// ibemu hca-probe: first contact with a real adapter.
#ifndef IBEMU_DAEMON_HCA_PROBE_H_
#define IBEMU_DAEMON_HCA_PROBE_H_

#include <string>

#include "absl/status/statusor.h"
#include "base/timers.h"
#include "hca/bus/pause.h"
#include "hca/bus/pci_function.h"

namespace ibemu::daemon {

// Resets the adapter, asks its firmware what there is, and gives it up again,
// as it was after the reset; what it said, for people.
//
// Errors: hca::mlx4::Adapter::Inquire()'s.
absl::StatusOr<std::string> ProbeHca(hca::PciFunction& function, Timers& timers,
                                     hca::Pause pause);

}  // namespace ibemu::daemon

#endif  // IBEMU_DAEMON_HCA_PROBE_H_

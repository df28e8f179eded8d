// The command `ibemu hca-probe`: a first contact with a real adapter.
#ifndef IBEMU_DAEMON_ADAPTERS_HCA_PROBE_H_
#define IBEMU_DAEMON_ADAPTERS_HCA_PROBE_H_

#include <string_view>

#include "absl/status/status.h"
#include "base/timers.h"
#include "hca/bus/pause.h"
#include "hca/bus/pci_function.h"
#include "hca/families.h"

namespace ibemu::daemon {

// Calls hca::ProbeDevice(), and prints the driver's notes as lines with "note:
// " in front.  `name` is the name that tools have for the adapter, which is put
// in front of errors, too.
absl::Status ProbeHca(hca::PciFunction& function, std::string_view name,
                      Timers& timers, hca::Pause pause,
                      const hca::Print& print);

}  // namespace ibemu::daemon

#endif  // IBEMU_DAEMON_ADAPTERS_HCA_PROBE_H_

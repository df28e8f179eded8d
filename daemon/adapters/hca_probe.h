// ibemu hca-probe: first contact with a real adapter.
#ifndef IBEMU_DAEMON_ADAPTERS_HCA_PROBE_H_
#define IBEMU_DAEMON_ADAPTERS_HCA_PROBE_H_

#include <string_view>

#include "absl/status/status.h"
#include "base/timers.h"
#include "hca/bus/pause.h"
#include "hca/bus/pci_function.h"
#include "hca/families.h"

namespace ibemu::daemon {

// hca::ProbeDevice(), and what else is to be told as "note: ".  `name`: how
// tools call the adapter, which stands before errors, too.
absl::Status ProbeHca(hca::PciFunction& function, std::string_view name,
                      Timers& timers, hca::Pause pause,
                      const hca::Print& print);

// To standard output, at once: what comes next may take a minute.
void PrintNow(std::string_view text);

}  // namespace ibemu::daemon

#endif  // IBEMU_DAEMON_ADAPTERS_HCA_PROBE_H_

#include "daemon/adapters/hca_probe.h"

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/absl_text.h"
#include "hca/driver/driven_adapter.h"

namespace ibemu::daemon {

absl::Status ProbeHca(hca::PciFunction& function, std::string_view name,
                      Timers& timers, hca::Pause pause,
                      const hca::Print& print) {
  hca::DeviceOptions options;
  options.pause = std::move(pause);
  options.note = [&print](std::string_view note) {
    print(absl::StrCat("note: ", Absl(note), "\n"));
  };
  options.name = name;
  absl::Status probed =
      hca::ProbeDevice(function, timers, std::move(options), print);
  if (probed.ok()) return probed;
  return absl::Status(probed.code(),
                      absl::StrCat(Absl(name), ": ", probed.message()));
}

}  // namespace ibemu::daemon

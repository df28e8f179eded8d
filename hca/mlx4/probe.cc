#include "hca/mlx4/probe.h"

#include <memory>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "hca/bus/pci_config.h"
#include "hca/mlx4/core/mlx4_adapter.h"
#include "hca/mlx4/inquiry_text.h"

namespace ibemu::hca::mlx4 {

absl::Status Probe(PciFunction& function, Timers& timers, DeviceOptions options,
                   const std::function<void(std::string_view)>& print) {
  print(
      DeviceText(
          static_cast<uint16_t>(function.ReadConfig(pci_config::kVendor, 2)),
          static_cast<uint16_t>(function.ReadConfig(pci_config::kDevice, 2))) +
      "\n");
  std::string dump;
  absl::StatusOr<std::unique_ptr<Mlx4Adapter>> adapter = Mlx4Adapter::Inquire(
      function, timers, std::move(options), [&](const FirmwareAnswer& answer) {
        print(AnswerText(answer));
        dump += AnswerDump(answer);
      });
  // The adapter is brought down before the bytes are printed, so that its
  // errors are reported before them.
  if (adapter.ok()) adapter->reset();
  if (!dump.empty()) print(absl::StrCat("the same in bytes\n", dump));
  return adapter.status();
}

}  // namespace ibemu::hca::mlx4

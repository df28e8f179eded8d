#include "daemon/hca_probe.h"

#include <memory>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/absl_text.h"
#include "base/status_macros.h"
#include "hca/bus/pci_config.h"
#include "hca/mlx4/adapter.h"
#include "hca/mlx4/inquiry_text.h"

namespace ibemu::daemon {

absl::StatusOr<std::string> ProbeHca(hca::PciFunction& function, Timers& timers,
                                     hca::Pause pause) {
  using hca::mlx4::Adapter;
  namespace pci_config = hca::pci_config;
  std::string text;
  hca::mlx4::AdapterOptions options;
  options.pause = std::move(pause);
  options.note = [&text](std::string_view note) {
    absl::StrAppend(&text, "note: ", Absl(note), "\n");
  };
  IBEMU_ASSIGN_OR_RETURN(
      std::unique_ptr<Adapter> adapter,
      Adapter::Inquire(function, timers, std::move(options)));
  absl::StrAppend(
      &text,
      hca::mlx4::DeviceText(
          static_cast<uint16_t>(function.ReadConfig(pci_config::kVendor, 2)),
          static_cast<uint16_t>(function.ReadConfig(pci_config::kDevice, 2))),
      "\n", hca::mlx4::InquiryText(adapter->firmware()));
  // What goes wrong on the way down is told, too.
  adapter.reset();
  return text;
}

}  // namespace ibemu::daemon

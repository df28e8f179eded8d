#include "daemon/hca_access.h"

#include <optional>
#include <string_view>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "base/absl_text.h"
#include "base/did_you_mean.h"
#include "base/status_macros.h"
#include "hca/bus/pci_sysfs.h"
#include "hca/bus/sysfs_pci.h"
#include "hca/bus/vfio_pci.h"
#include "hca/mlx4/adapter.h"

namespace ibemu::daemon {
namespace {

// "pci", "0000:3b:00.0".
struct HcaWord {
  std::string_view name, value;
};

HcaWord SplitWord(std::string_view word) {
  const size_t equals = word.find('=');
  if (equals == std::string_view::npos) return {.name = word, .value = ""};
  return {.name = word.substr(0, equals), .value = word.substr(equals + 1)};
}

}  // namespace

absl::StatusOr<HcaOptions> HcaOptions::Parse(
    const std::vector<std::string>& words) {
  HcaOptions options;
  bool has_address = false;
  for (const std::string& text : words) {
    const HcaWord word = SplitWord(text);
    if (word.name == "pci") {
      IBEMU_ASSIGN_OR_RETURN(options.address,
                             hca::PciAddress::Parse(word.value));
      has_address = true;
    } else if (word.name == "access") {
      if (word.value != "vfio" && word.value != "sysfs") {
        return absl::InvalidArgumentError(
            absl::StrCat(text, ": there are \"vfio\" and \"sysfs\""));
      }
      options.by_sysfs = word.value == "sysfs";
    } else {
      DidYouMean guess(word.name);
      for (const char* known : {"pci", "access"}) guess.Offer(known);
      return absl::InvalidArgumentError(absl::StrCat(
          "there is no parameter \"", Absl(word.name), "\"", guess.Question()));
    }
  }
  if (!has_address) {
    return absl::InvalidArgumentError(
        "pci=DDDD:BB:DD.F is missing: which adapter (\"lspci -D -d 15b3:\" "
        "lists Mellanox's)");
  }
  return options;
}

absl::StatusOr<std::unique_ptr<hca::PciFunction>> OpenHca(
    const HcaOptions& options) {
  const hca::PciSysfs sysfs;
  IBEMU_ASSIGN_OR_RETURN(const hca::PciFacts facts,
                         sysfs.Read(options.address));
  if (const absl::Status known =
          hca::mlx4::CheckDevice(facts.vendor, facts.device);
      !known.ok()) {
    return absl::Status(known.code(), absl::StrCat(options.address.Text(), ": ",
                                                   known.message()));
  }
  if (options.by_sysfs) return hca::SysfsPci::Open(sysfs, facts);
  return hca::VfioPci::Open(facts);
}

hca::Pause SleepingPause() {
  return [](absl::Duration span) { absl::SleepFor(span); };
}

}  // namespace ibemu::daemon

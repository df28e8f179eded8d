#include "daemon/adapters/hca_access.h"

#include <initializer_list>
#include <set>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "base/absl_text.h"
#include "base/did_you_mean.h"
#include "base/status_macros.h"
#include "hca/bus/pci_sysfs.h"
#include "hca/bus/sysfs_pci.h"
#include "hca/bus/vfio_pci.h"
#include "hca/families.h"

namespace ibemu::daemon {
namespace {

// One word of a command line: "pci" and "0000:3b:00.0".
struct HcaWord {
  std::string_view name, value;
};

HcaWord SplitWord(std::string_view word) {
  const size_t equals = word.find('=');
  if (equals == std::string_view::npos) return {.name = word, .value = ""};
  return {.name = word.substr(0, equals), .value = word.substr(equals + 1)};
}

absl::Status UnknownWord(std::string_view name,
                         std::initializer_list<std::string_view> known) {
  DidYouMean guess(name);
  for (const std::string_view word : known) guess.Offer(word);
  return absl::InvalidArgumentError(absl::StrCat(
      "there is no parameter \"", Absl(name), "\"", guess.Question()));
}

absl::Status MissingAddress() {
  return absl::InvalidArgumentError(
      "pci=DDDD:BB:DD.F is missing: which adapter (\"lspci -D -d 15b3:\" "
      "lists Mellanox's)");
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
      return UnknownWord(word.name, {"pci", "access"});
    }
  }
  if (!has_address) return MissingAddress();
  return options;
}

absl::StatusOr<HcaModelChoice> HcaModelChoice::Parse(std::string_view value) {
  const bool is_path = value.starts_with('/') || value.starts_with('.');
  const size_t slash = is_path ? value.rfind('/') : value.find('/');
  if (slash == std::string_view::npos || slash == 0 ||
      slash + 1 == value.size()) {
    return absl::InvalidArgumentError(
        absl::StrCat("model=", Absl(value),
                     ": it is FABRIC/NODE, the name (or socket) of another "
                     "ibemud and a node of its fabric"));
  }
  return HcaModelChoice{.fabric = std::string(value.substr(0, slash)),
                        .node = std::string(value.substr(slash + 1))};
}

absl::StatusOr<std::vector<HcaChoice>> ParseHcaChoices(
    const std::vector<std::string>& words) {
  std::vector<HcaChoice> choices;
  std::set<std::string> names;
  for (size_t i = 0; i < words.size(); ++i) {
    const HcaWord word = SplitWord(words[i]);
    if (word.name == "access") {
      return absl::InvalidArgumentError(
          absl::StrCat(words[i], ": it comes after the pci= of its adapter"));
    }
    if (word.name == "model") {
      IBEMU_ASSIGN_OR_RETURN(HcaModelChoice model,
                             HcaModelChoice::Parse(word.value));
      choices.emplace_back(std::move(model));
    } else if (word.name != "pci") {
      return UnknownWord(word.name, {"pci", "access", "model"});
    } else {
      // The words after it belong to this adapter, unless they name another
      // one.
      std::vector<std::string> own = {words[i]};
      while (i + 1 < words.size() && SplitWord(words[i + 1]).name == "access") {
        own.push_back(words[++i]);
      }
      IBEMU_ASSIGN_OR_RETURN(HcaOptions options, HcaOptions::Parse(own));
      choices.emplace_back(options);
    }
    const std::string name = HcaName(choices.back());
    if (!names.insert(name).second) {
      return absl::InvalidArgumentError(
          absl::StrCat(name, ": this adapter is named twice"));
    }
  }
  if (choices.empty()) return MissingAddress();
  return choices;
}

std::vector<std::string> HcaWords(const std::vector<HcaChoice>& choices) {
  std::vector<std::string> words;
  for (const HcaChoice& choice : choices) {
    const auto* const real = std::get_if<HcaOptions>(&choice);
    words.push_back(
        absl::StrCat(real == nullptr ? "model=" : "pci=", HcaName(choice)));
    if (real != nullptr && real->by_sysfs) words.emplace_back("access=sysfs");
  }
  return words;
}

std::string HcaName(const HcaChoice& choice) {
  if (const auto* const real = std::get_if<HcaOptions>(&choice)) {
    return real->address.Text();
  }
  const auto& model = std::get<HcaModelChoice>(choice);
  return absl::StrCat(model.fabric, "/", model.node);
}

absl::StatusOr<std::unique_ptr<hca::PciFunction>> OpenHca(
    const HcaOptions& options, const hca::PciSysfs& sysfs) {
  IBEMU_ASSIGN_OR_RETURN(const hca::PciFacts facts,
                         sysfs.Read(options.address));
  // Virtual functions are refused first: their device ids would give an error
  // that says less.
  IBEMU_RETURN_IF_ERROR(hca::CheckPhysical(facts));
  if (const absl::Status known = hca::CheckDevice(facts.vendor, facts.device);
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

hca::Pause WithHeartbeat(hca::Pause pause, std::function<void()> alive) {
  return [pause = std::move(pause), alive = std::move(alive),
          since = absl::ZeroDuration()](absl::Duration span) mutable {
    pause(span);
    since += span;
    if (since < kHeartbeat) return;
    since = absl::ZeroDuration();
    alive();
  };
}

}  // namespace ibemu::daemon

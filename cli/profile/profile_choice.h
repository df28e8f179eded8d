// The profile that adapters have when nobody says --profile.
#ifndef IBEMU_CLI_PROFILE_PROFILE_CHOICE_H_
#define IBEMU_CLI_PROFILE_PROFILE_CHOICE_H_

#include <optional>
#include <string>

#include "cli/profile/provider_files.h"
#include "sysfs/view.h"

namespace ibemu::cli {

// A profile, and the provider of libibverbs on account of which it was chosen.
struct ProfileChoice {
  sysfs::Profile profile = sysfs::Profile::kQib;
  std::string provider{};  // "ipathverbs"; empty: no provider would drive it
  std::string reason{};    // the fact that decided, as the end of a sentence
};

// Returns qib if libibverbs has ipathverbs, else hfi1 if it has hfi1verbs, else
// qib, which then has no verbs.
ProfileChoice ChooseProfile(const ProviderFiles& files);

// The same for this machine, unless `asked` is there: then what it names.
std::string ProfileOr(const std::optional<std::string>& asked);

}  // namespace ibemu::cli

#endif  // IBEMU_CLI_PROFILE_PROFILE_CHOICE_H_

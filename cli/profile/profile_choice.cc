#include "cli/profile/profile_choice.h"

#include <algorithm>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "sysfs/profile.h"

namespace ibemu::cli {
namespace {

constexpr char kIpath[] = "ipathverbs", kHfi1[] = "hfi1verbs";

bool IsNamed(const ProviderFiles& files, const std::string& provider) {
  return std::ranges::find(files.drivers, provider) != files.drivers.end();
}

// The number after "rdmav" is that of libibverbs' interface to its providers.
bool HasLibrary(const ProviderFiles& files, const std::string& provider) {
  const std::string start = absl::StrCat("lib", provider, "-rdmav");
  return std::ranges::any_of(files.libraries, [&](std::string_view library) {
    return library.starts_with(start) && library.ends_with(".so");
  });
}

bool IsThere(const ProviderFiles& files, const std::string& provider) {
  return IsNamed(files, provider) && HasLibrary(files, provider);
}

// Returns what there is, as the object of "libibverbs has", of a provider that
// is not there.
std::string LackOf(const ProviderFiles& files, const std::string& provider) {
  if (IsNamed(files, provider)) {
    return absl::StrCat(provider, " in /etc/libibverbs.d without its library");
  }
  if (HasLibrary(files, provider)) {
    return absl::StrCat("the library of ", provider,
                        " without its name in /etc/libibverbs.d");
  }
  return absl::StrCat("no ", provider);
}

}  // namespace

ProfileChoice ChooseProfile(const ProviderFiles& files) {
  if (IsThere(files, kIpath)) {
    return {.profile = sysfs::Profile::kQib,
            .provider = kIpath,
            .reason = absl::StrCat("libibverbs has ", kIpath)};
  }
  const std::string lack = LackOf(files, kIpath);
  if (IsThere(files, kHfi1)) {
    return {.profile = sysfs::Profile::kHfi1,
            .provider = kHfi1,
            .reason = absl::StrCat("libibverbs has ", kHfi1, " and ", lack)};
  }
  return {.profile = sysfs::Profile::kQib,
          .reason = absl::StrCat("libibverbs has ", lack, " and ",
                                 LackOf(files, kHfi1))};
}

std::string ProfileOr(const std::optional<std::string>& asked) {
  if (asked) return *asked;
  return std::string(
      sysfs::ProfileName(ChooseProfile(ReadProviderFiles("")).profile));
}

}  // namespace ibemu::cli

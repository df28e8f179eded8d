#include "launch/supervisor/client_identity.h"

#include <linux/capability.h>
#include <sys/fsuid.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "base/absl_text.h"

namespace ibemu::launch {
namespace {

using Numbers = std::vector<uint32_t>;

// The numbers after "NAME:" in a line of /proc/TID/status.
std::optional<Numbers> NumbersOf(std::string_view status,
                                 std::string_view name) {
  for (absl::string_view line : absl::StrSplit(Absl(status), '\n')) {
    if (!absl::ConsumePrefix(&line, Absl(name))) continue;
    Numbers numbers;
    for (const absl::string_view word :
         absl::StrSplit(line, absl::ByAnyChar(" \t"), absl::SkipEmpty())) {
      uint32_t number = 0;
      if (!absl::SimpleAtoi(word, &number)) return std::nullopt;
      numbers.push_back(number);
    }
    return numbers;
  }
  return std::nullopt;
}

// glibc's own would change the groups of all threads.
bool SetGroups(const std::vector<gid_t>& groups) {
  return syscall(SYS_setgroups, groups.size(), groups.data()) == 0;
}

// setfsuid() and setfsgid() always return the previous id, so a second call
// tells whether the first one succeeded.
bool SetFileUser(uid_t user) {
  setfsuid(user);
  return setfsuid(static_cast<uid_t>(-1)) == static_cast<int>(user);
}
bool SetFileGroup(gid_t group) {
  setfsgid(group);
  return setfsgid(static_cast<gid_t>(-1)) == static_cast<int>(group);
}

std::vector<gid_t> OwnGroups() {
  const int most = std::max(0, getgroups(0, nullptr));
  std::vector<gid_t> groups(static_cast<size_t>(most));
  const int count = getgroups(most, groups.data());
  groups.resize(static_cast<size_t>(std::max(0, count)));
  std::ranges::sort(groups);
  return groups;
}

__user_cap_header_struct ThisThread() {
  return {_LINUX_CAPABILITY_VERSION_3, 0};
}

}  // namespace

std::optional<ClientIdentity> ClientIdentity::Parse(std::string_view status) {
  const std::optional<Numbers> process = NumbersOf(status, "Tgid:");
  const std::optional<Numbers> users = NumbersOf(status, "Uid:");
  const std::optional<Numbers> group = NumbersOf(status, "Gid:");
  std::optional<Numbers> groups = NumbersOf(status, "Groups:");
  // Real, effective, saved, and that of the file system.
  if (!process || process->size() != 1 || !users || users->size() != 4 ||
      !group || group->size() != 4 || !groups) {
    return std::nullopt;
  }
  std::ranges::sort(*groups);
  return ClientIdentity{.process = static_cast<pid_t>(process->front()),
                        .user = users->front(),
                        .file_user = users->back(),
                        .file_group = group->back(),
                        .groups = *std::move(groups)};
}

std::optional<ClientIdentity> ClientIdentity::Of(pid_t tid) {
  std::ifstream file(absl::StrCat("/proc/", tid, "/status"));
  const std::string status{std::istreambuf_iterator<char>(file), {}};
  return Parse(status);
}

ActingAs::ActingAs(const ClientIdentity& client)
    : own_user_(geteuid()), own_group_(getegid()), own_groups_(OwnGroups()) {
  __user_cap_header_struct thread = ThisThread();
  ok_ = syscall(SYS_capget, &thread, own_capabilities_) == 0 && Become(client);
}

ActingAs::~ActingAs() {
  __user_cap_header_struct thread = ThisThread();
  if (syscall(SYS_capset, &thread, own_capabilities_) != 0 ||
      !SetFileUser(own_user_) || !SetFileGroup(own_group_) ||
      (other_groups_ && !SetGroups(own_groups_))) {
    std::abort();
  }
}

bool ActingAs::Become(const ClientIdentity& client) {
  // In a plain user's namespace nobody can change them.
  if (client.groups != own_groups_) {
    if (!SetGroups(client.groups)) return false;
    other_groups_ = true;
  }
  if (!SetFileGroup(client.file_group) || !SetFileUser(client.file_user)) {
    return false;
  }
  Capabilities none[2] = {own_capabilities_[0], own_capabilities_[1]};
  for (Capabilities& half : none) half.effective = 0;
  __user_cap_header_struct thread = ThisThread();
  return syscall(SYS_capset, &thread, none) == 0;
}

}  // namespace ibemu::launch

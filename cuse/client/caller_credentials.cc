#include "cuse/client/caller_credentials.h"

#include <elf.h>
#include <linux/capability.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstddef>
#include <cstring>
#include <fstream>
#include <iterator>
#include <sstream>
#include <utility>

#include "cuse/client/proc_path.h"

namespace ibemu::cuse {
namespace {

constexpr std::string_view kNoCapabilities = "CapPrm:\t0000000000000000\n";

// Returns the line of `status` that begins with `name`, with its end; `name`
// has the line break before it.
std::string_view LineOf(std::string_view status, std::string_view name) {
  const size_t before = status.find(name);
  if (before == status.npos) return {};
  const size_t end = status.find('\n', before + 1);
  if (end == status.npos) return {};
  return status.substr(before + 1, end - before);
}

using Ids = std::array<uint64_t, 4>;  // real, effective, saved, file system

Ids IdsOf(const std::string& lines, std::string_view name) {
  const std::string text = "\n" + lines;
  std::istringstream line{
      std::string(LineOf(text, name).substr(name.size() - 1))};
  Ids ids{};
  for (uint64_t& id : ids) line >> id;
  return ids;
}

// Returns an empty string if we may not look.  This touches none of the
// thread's pages: the kernel keeps a copy.
std::string AuxvOf(pid_t tid) {
  std::ifstream file(ProcPath(tid, "auxv").data());
  return std::string{std::istreambuf_iterator<char>(file), {}};
}

// Looks for AT_SECURE among entries of a type and a value.
template <class Word>
std::optional<bool> SecureAmong(std::string_view auxv) {
  std::array<Word, 2> entry{};
  for (; auxv.size() >= sizeof entry; auxv.remove_prefix(sizeof entry)) {
    std::memcpy(entry.data(), auxv.data(), sizeof entry);
    if (entry[0] == AT_SECURE) return entry[1] != 0;
  }
  return std::nullopt;
}

}  // namespace

bool Credentials::IsSecure(std::string_view auxv) {
  // No type needs more than 32 bits, and the first value is not 0.
  std::array<uint32_t, 2> first{};
  if (auxv.size() >= sizeof first) {
    std::memcpy(first.data(), auxv.data(), sizeof first);
  }
  return (first[1] == 0 ? SecureAmong<uint64_t>(auxv)
                        : SecureAmong<uint32_t>(auxv))
      .value_or(true);
}

bool Credentials::IsPlain() const {
  if (LineOf("\n" + lines, "\nCapPrm:") != kNoCapabilities) {
    return false;
  }
  for (const std::string_view name : {"\nUid:", "\nGid:"}) {
    const Ids ids = IdsOf(lines, name);
    if (ids != Ids{ids[0], ids[0], ids[0], ids[0]}) return false;
  }
  return true;
}

bool Credentials::ActsAs(uid_t user, gid_t group) const {
  return IdsOf(lines, "\nUid:")[3] == user &&
         IdsOf(lines, "\nGid:")[3] == group;
}

std::string Credentials::LinesOf(std::string_view status) {
  std::string lines;
  for (const std::string_view name :
       {"\nUid:", "\nGid:", "\nGroups:", "\nCapInh:", "\nCapPrm:", "\nCapEff:",
        "\nCapBnd:", "\nCapAmb:"}) {
    const std::string_view line = LineOf(status, name);
    if (line.empty()) return {};
    lines += line;
  }
  return lines;
}

std::optional<CallerCredentials::Signs> CallerCredentials::SignsOf(pid_t tid) {
  Signs signs;
  struct stat status {};
  struct stat directory {};
  __user_cap_header_struct thread{_LINUX_CAPABILITY_VERSION_3, tid};
  std::array<__user_cap_data_struct, 2> sets{};
  // By its path, for only then the kernel brings the owner up to date.
  if (stat(ProcPath(tid, "status").data(), &status) != 0) return std::nullopt;
  // Only root may stand for others.
  if (status.st_uid != 0) {
    directory = status;
  } else if (stat(ProcPath(tid, "").data(), &directory) != 0) {
    return std::nullopt;
  }
  if (syscall(SYS_capget, &thread, sets.data()) != 0) {
    return std::nullopt;
  }
  signs.inode = status.st_ino;
  signs.made_seconds = status.st_ctim.tv_sec;
  signs.made_nanoseconds = status.st_ctim.tv_nsec;
  signs.owner = status.st_uid;
  signs.owner_group = status.st_gid;
  signs.user = directory.st_uid;
  signs.group = directory.st_gid;
  signs.capabilities = {sets[0].effective,   sets[0].permitted,
                        sets[0].inheritable, sets[1].effective,
                        sets[1].permitted,   sets[1].inheritable};
  struct stat executable {};
  if (stat(ProcPath(tid, "exe").data(), &executable) == 0) {
    signs.device = executable.st_dev;
    signs.executable = executable.st_ino;
  }
  size_t size = 0;
  if (syscall(SYS_get_robust_list, tid, &signs.robust_list, &size) != 0) {
    signs.robust_list = 0;
  }
  return signs;
}

std::optional<Credentials> CallerCredentials::Read(pid_t tid,
                                                   const Signs& signs) {
  std::ifstream file(ProcPath(tid, "status").data());
  const std::string status{std::istreambuf_iterator<char>(file), {}};
  Credentials credentials{.lines = Credentials::LinesOf(status),
                          .user_namespace = {},
                          .owner = signs.owner,
                          .owner_group = signs.owner_group,
                          .program = {},
                          .secure = false};
  if (signs.owner != signs.user) {
    credentials.program = AuxvOf(tid);
    credentials.secure = Credentials::IsSecure(credentials.program);
  }
  if (credentials.lines.empty()) return std::nullopt;
  if (credentials.lines.find(kNoCapabilities) != std::string::npos) {
    return credentials;
  }
  std::array<char, 64> name{};
  const ssize_t size =
      readlink(ProcPath(tid, "ns/user").data(), name.data(), name.size());
  if (size <= 0) return std::nullopt;
  credentials.user_namespace.assign(name.data(), static_cast<size_t>(size));
  return credentials;
}

const Credentials* CallerCredentials::Of(pid_t tid) {
  constexpr size_t kMany = 4096;
  // The kernel has no number for a thread of another namespace.
  if (tid <= 0) return nullptr;
  const std::optional<Signs> signs = SignsOf(tid);
  if (!signs) return nullptr;
  const auto known = known_.find(tid);
  if (known != known_.end() && known->second.signs == *signs) {
    return &known->second.credentials;
  }
  std::optional<Credentials> credentials = Read(tid, *signs);
  if (!credentials) return nullptr;
  if (known_.size() == kMany && known == known_.end()) {
    known_.erase(known_.begin());
  }
  Known& entry = known_[tid];
  entry = {*signs, *std::move(credentials)};
  return &entry.credentials;
}

}  // namespace ibemu::cuse

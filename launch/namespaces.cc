#include "launch/namespaces.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/status_macros.h"
#include "base/unique_fd.h"

namespace ibemu::launch {
namespace {

// The number in a sysctl file, or `absent`.
int Sysctl(const char* path, int absent) {
  std::ifstream file(path);
  int value = absent;
  if (!(file >> value)) return absent;
  return value;
}

absl::Status WriteProc(const char* path, std::string_view text) {
  const UniqueFd fd(open(path, O_WRONLY | O_CLOEXEC));
  if (fd.valid() && write(fd.get(), text.data(), text.size()) ==
                        static_cast<ssize_t>(text.size())) {
    return absl::OkStatus();
  }
  return NamespacesForbidden(ReadNamespacePolicy(), errno);
}

// The plain user keeps his own ids, the only ones that he may map.
absl::Status EnterUserNamespace(int kinds) {
  const uid_t uid = geteuid();
  const gid_t gid = getegid();
  if (unshare(CLONE_NEWUSER | kinds) != 0) {
    return NamespacesForbidden(ReadNamespacePolicy(), errno);
  }
  IBEMU_RETURN_IF_ERROR(
      WriteProc("/proc/self/uid_map", absl::StrFormat("%d %d 1\n", uid, uid)));
  IBEMU_RETURN_IF_ERROR(WriteProc("/proc/self/setgroups", "deny\n"));
  return WriteProc("/proc/self/gid_map",
                   absl::StrFormat("%d %d 1\n", gid, gid));
}

}  // namespace

NamespacePolicy ReadNamespacePolicy() {
  NamespacePolicy policy;
  policy.forbidden_by_sysctl =
      Sysctl("/proc/sys/kernel/unprivileged_userns_clone", 1) == 0;
  policy.restricted_by_apparmor =
      Sysctl("/proc/sys/kernel/apparmor_restrict_unprivileged_userns", 0) == 1;
  policy.none_left = Sysctl("/proc/sys/user/max_user_namespaces", 1) == 0;
  policy.no_network_left = Sysctl("/proc/sys/user/max_net_namespaces", 1) == 0;
  return policy;
}

absl::Status NamespacesForbidden(const NamespacePolicy& policy, int error) {
  constexpr char kWhat[] = "user namespaces are forbidden to plain users";
  if (policy.forbidden_by_sysctl) {
    return absl::PermissionDeniedError(absl::StrCat(
        kWhat,
        ": allow them with \"sysctl kernel.unprivileged_userns_clone=1\" (as "
        "root), or run ibemu as root"));
  }
  if (policy.none_left) {
    return absl::PermissionDeniedError(absl::StrCat(
        kWhat,
        ": allow them with \"sysctl user.max_user_namespaces=1000\" (as root), "
        "or run ibemu as root"));
  }
  if (policy.no_network_left && (error == ENOSPC || error == EUSERS)) {
    return absl::PermissionDeniedError(
        "no network namespace may be made: allow them with \"sysctl "
        "user.max_net_namespaces=1000\" (as root)");
  }
  if (policy.restricted_by_apparmor) {
    return absl::PermissionDeniedError(absl::StrCat(
        kWhat,
        " by AppArmor: allow them with \"sysctl "
        "kernel.apparmor_restrict_unprivileged_userns=0\" (as root), or run "
        "ibemu as root"));
  }
  if (error == ENOSPC || error == EUSERS) {
    return absl::PermissionDeniedError(
        "no user namespace is left: they may not be nested deeper than 32, "
        "and sysctl user.max_user_namespaces limits their number");
  }
  if (error == EINVAL) {
    return absl::PermissionDeniedError(
        "the root directory is no mount point: before a chroot to it, bind it "
        "on itself with \"mount --bind\"");
  }
  return absl::PermissionDeniedError(absl::StrCat(
      "namespaces can't be made here (", std::strerror(error),
      "): a chroot, a seccomp filter or a security module forbids them; run "
      "ibemu outside of it, or start the container with \"--cap-add SYS_ADMIN "
      "--security-opt apparmor=unconfined --device /dev/fuse\""));
}

absl::StatusOr<Privilege> EnterNamespaces(Network network) {
  const int kinds = CLONE_NEWNS | (network == Network::kOwn ? CLONE_NEWNET : 0);
  auto privilege = Privilege::kMounts;
  if (unshare(kinds) != 0) {
    IBEMU_RETURN_IF_ERROR(EnterUserNamespace(kinds));
    privilege = Privilege::kUserNamespace;
  }
  // Slave: what the machine mounts later appears here, but not the reverse.
  if (mount(nullptr, "/", nullptr, MS_REC | MS_SLAVE, nullptr) != 0) {
    return NamespacesForbidden(ReadNamespacePolicy(), errno);
  }
  return privilege;
}

}  // namespace ibemu::launch

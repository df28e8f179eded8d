#include "launch/hardening.h"

#include <linux/capability.h>
#include <seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <memory>

namespace ibemu::launch {

absl::Status DropCapabilities(uint64_t kept) {
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) {
    return absl::ErrnoToStatus(errno, "PR_SET_NO_NEW_PRIVS");
  }
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  std::array<__user_cap_data_struct, 2> sets{};
  if (syscall(SYS_capget, &header, sets.data()) != 0) {
    return absl::ErrnoToStatus(errno, "capget");
  }
  // The bounding set comes first, since lowering it is itself a privilege.  For
  // a number past the last capability, the kernel returns EINVAL.
  for (int capability = 0; capability < 64; ++capability) {
    if ((kept >> capability & 1) != 0) continue;
    if (prctl(PR_CAPBSET_DROP, capability, 0, 0, 0) != 0) break;
  }
  prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
  for (__user_cap_data_struct& set : sets) {
    set.effective &= static_cast<uint32_t>(kept);
    set.permitted &= static_cast<uint32_t>(kept);
    set.inheritable = 0;
    kept >>= 32;
  }
  if (syscall(SYS_capset, &header, sets.data()) != 0) {
    return absl::ErrnoToStatus(errno, "capset");
  }
  return absl::OkStatus();
}

absl::Status ForbidSystemCalls() {
  const std::unique_ptr<void, decltype(&seccomp_release)> filter(
      seccomp_init(SCMP_ACT_ALLOW), seccomp_release);
  if (filter == nullptr) return absl::InternalError("seccomp_init");
  for (const int call : {SCMP_SYS(execve),
                         SCMP_SYS(execveat),
                         SCMP_SYS(mount),
                         SCMP_SYS(umount2),
                         SCMP_SYS(pivot_root),
                         SCMP_SYS(chroot),
                         SCMP_SYS(move_mount),
                         SCMP_SYS(open_tree),
                         SCMP_SYS(fsopen),
                         SCMP_SYS(fsmount),
                         SCMP_SYS(setns),
                         SCMP_SYS(unshare),
                         SCMP_SYS(init_module),
                         SCMP_SYS(finit_module),
                         SCMP_SYS(delete_module),
                         SCMP_SYS(kexec_load),
                         SCMP_SYS(reboot),
                         SCMP_SYS(swapon),
                         SCMP_SYS(swapoff),
                         SCMP_SYS(bpf),
                         SCMP_SYS(perf_event_open),
                         SCMP_SYS(userfaultfd),
                         SCMP_SYS(add_key),
                         SCMP_SYS(request_key),
                         SCMP_SYS(keyctl),
                         SCMP_SYS(open_by_handle_at),
                         SCMP_SYS(acct),
                         SCMP_SYS(iopl),
                         SCMP_SYS(ioperm),
                         SCMP_SYS(setuid),
                         SCMP_SYS(setgid),
                         SCMP_SYS(setresuid),
                         SCMP_SYS(setresgid)}) {
    const int error =
        seccomp_rule_add(filter.get(), SCMP_ACT_ERRNO(EPERM), call, 0);
    if (error != 0) return absl::ErrnoToStatus(-error, "seccomp_rule_add");
  }
  const int error = seccomp_load(filter.get());
  if (error != 0) return absl::ErrnoToStatus(-error, "seccomp_load");
  return absl::OkStatus();
}

}  // namespace ibemu::launch

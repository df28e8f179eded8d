#include "daemon/seccomp.h"

#include <linux/netlink.h>
#include <seccomp.h>
#include <sys/socket.h>

#include <cerrno>
#include <memory>

#include "absl/status/status.h"

namespace ibemu::daemon {
namespace {

absl::Status Failed(int error) {
  return absl::ErrnoToStatus(-error, "installing the seccomp filter");
}

}  // namespace

absl::Status RefuseRdmaNetlink() {
  const std::unique_ptr<void, void (*)(scmp_filter_ctx)> filter(
      seccomp_init(SCMP_ACT_ALLOW), &seccomp_release);
  if (filter == nullptr) return Failed(-ENOMEM);
  const struct {
    scmp_filter_attr name;
    uint32_t value;
  } attributes[] = {
      {SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_ALLOW},
      {SCMP_FLTATR_CTL_NNP, 0},
  };
  for (const auto& [name, value] : attributes) {
    if (const int error = seccomp_attr_set(filter.get(), name, value);
        error != 0) {
      return Failed(error);
    }
  }
  int error =
      seccomp_rule_add(filter.get(), SCMP_ACT_ERRNO(EPROTONOSUPPORT),
                       SCMP_SYS(socket), 2, SCMP_A0_32(SCMP_CMP_EQ, AF_NETLINK),
                       SCMP_A2_32(SCMP_CMP_EQ, NETLINK_RDMA));
  if (error == 0) error = seccomp_load(filter.get());
  return error == 0 ? absl::OkStatus() : Failed(error);
}

}  // namespace ibemu::daemon

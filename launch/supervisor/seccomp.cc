#include "launch/supervisor/seccomp.h"

#include <fcntl.h>
#include <linux/netlink.h>
#include <rdma/ib_user_verbs.h>
#include <seccomp.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>

namespace ibemu::launch {
namespace {

using Filter = std::unique_ptr<void, void (*)(scmp_filter_ctx)>;

absl::Status Failed(int error) {
  return absl::ErrnoToStatus(-error, "installing the seccomp filter");
}

// Keeps the first error.
class Rules {
 public:
  explicit Rules(scmp_filter_ctx filter) : filter_(filter) {}

  void Set(scmp_filter_attr name, uint32_t value) {
    Note(seccomp_attr_set(filter_, name, value));
  }
  void Add(uint32_t action, int call,
           std::initializer_list<scmp_arg_cmp> when) {
    Note(seccomp_rule_add_array(filter_, action, call,
                                static_cast<unsigned>(when.size()),
                                when.begin()));
  }
  int error() const { return error_; }

 private:
  void Note(int error) {
    if (error_ == 0) error_ = error;
  }

  scmp_filter_ctx filter_;
  int error_ = 0;
};

void AddNodeRules(Rules& rules, NodeFds fds) {
  // Upper halves of registers are nobody's business.
  constexpr uint64_t kInt = 0xffffffff;
  constexpr uint64_t kCreateCqBytes =
      sizeof(ib_uverbs_cmd_hdr) + sizeof(ib_uverbs_create_cq);
  const auto flags = [](unsigned argument) {
    constexpr uint64_t kLargeFile = 0100000;  // glibc's O_LARGEFILE is 0
    constexpr uint64_t kEither = kLargeFile | O_CLOEXEC | O_NONBLOCK;
    return SCMP_CMP(argument, SCMP_CMP_MASKED_EQ, kInt & ~kEither, O_RDWR);
  };
  const scmp_arg_cmp node =
      SCMP_A0(SCMP_CMP_MASKED_EQ, kInt & ~static_cast<uint64_t>(fds.count - 1),
              static_cast<uint64_t>(fds.first));
  const auto empty_path = [](unsigned argument) {
    return SCMP_CMP(argument, SCMP_CMP_MASKED_EQ, AT_EMPTY_PATH, AT_EMPTY_PATH);
  };
  rules.Add(SCMP_ACT_NOTIFY, SCMP_SYS(openat), {flags(2)});
#ifdef SYS_open
  rules.Add(SCMP_ACT_NOTIFY, SCMP_SYS(open), {flags(1)});
#endif
  rules.Add(SCMP_ACT_NOTIFY, SCMP_SYS(fstat), {node});
  rules.Add(SCMP_ACT_NOTIFY, SCMP_SYS(newfstatat), {node, empty_path(3)});
  rules.Add(SCMP_ACT_NOTIFY, SCMP_SYS(statx), {node, empty_path(2)});
  rules.Add(SCMP_ACT_NOTIFY, SCMP_SYS(write),
            {node, SCMP_A2(SCMP_CMP_EQ, kCreateCqBytes)});
}

// The listener of the filter that was loaded; -1 if it has none.
absl::StatusOr<UniqueFd> Load(std::optional<NodeFds> nodes) {
  const Filter filter(seccomp_init(SCMP_ACT_ALLOW), &seccomp_release);
  if (filter == nullptr) return Failed(-ENOMEM);
  Rules rules(filter.get());
  rules.Set(SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_ALLOW);
  rules.Set(SCMP_FLTATR_CTL_NNP, 0);
  rules.Add(SCMP_ACT_ERRNO(EPROTONOSUPPORT), SCMP_SYS(socket),
            {SCMP_A0_32(SCMP_CMP_EQ, AF_NETLINK),
             SCMP_A2_32(SCMP_CMP_EQ, NETLINK_RDMA)});
  if (nodes) AddNodeRules(rules, *nodes);
  if (rules.error() != 0) return Failed(rules.error());
  if (const int error = seccomp_load(filter.get()); error != 0) {
    return Failed(error);
  }
  return UniqueFd(nodes ? seccomp_notify_fd(filter.get()) : -1);
}

}  // namespace

NodeFds NodeFdsFor(unsigned long limit) {
  constexpr unsigned kMax = 512;
  const auto end =
      static_cast<unsigned>(std::clamp<unsigned long>(limit, 1, FD_SETSIZE));
  const unsigned count = std::clamp(std::bit_floor(end) / 2, 1u, kMax);
  return {.first = static_cast<int>((end / count - 1) * count),
          .count = static_cast<int>(count)};
}

absl::StatusOr<UniqueFd> FilterSystemCalls(NodeFds fds) {
  absl::StatusOr<UniqueFd> listener = Load(fds);
  return listener.ok() ? std::move(listener) : Load(std::nullopt);
}

absl::Status HideKernelAdapters() { return Load(std::nullopt).status(); }

}  // namespace ibemu::launch

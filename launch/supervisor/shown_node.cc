#include "launch/supervisor/shown_node.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <fstream>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/absl_text.h"
#include "launch/mounts.h"
#include "launch/supervisor/fd_path.h"

namespace ibemu::launch {
namespace {

constexpr char kNodeDirectory[] = "/dev/infiniband";

// The node of that name, written as the kernel does.
std::optional<ShownNode> NodeNamed(std::string_view name) {
  if (name == sysfs::kRdmaCmNode) {
    return ShownNode{.name = std::string(name), .number = sysfs::kRdmaCm};
  }
  constexpr std::string_view kVerbs = "uverbs";
  int number = 0;
  if (!name.starts_with(kVerbs) ||
      !absl::SimpleAtoi(Absl(name.substr(kVerbs.size())), &number) ||
      number < 0 || number >= sysfs::kMaxViewDevices ||
      name != absl::StrCat(Absl(kVerbs), number)) {
    return std::nullopt;
  }
  return ShownNode{.name = std::string(name),
                   .number = {sysfs::kMajor, sysfs::kFirstUverbs + number},
                   .verbs = true};
}

// Whether `fd` may be opened: no device that does things at open(), no FIFO
// that waits.
bool IsFileOfFuse(const UniqueFd& fd) {
  struct statfs file_system {};
  struct stat status {};
  return fd.valid() && fstatfs(fd.get(), &file_system) == 0 &&
         file_system.f_type == FUSE_SUPER_MAGIC &&
         fstat(fd.get(), &status) == 0 && S_ISREG(status.st_mode);
}

UniqueFd Resolve(const UniqueFd& directory, const std::string& path,
                 uint64_t flags, uint64_t resolve) {
  open_how how{};
  how.flags = flags | O_PATH | O_CLOEXEC | O_NOFOLLOW;
  how.resolve = resolve | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS;
  return UniqueFd(static_cast<int>(
      syscall(SYS_openat2, directory.get(), path.c_str(), &how, sizeof how)));
}

// Whether the mount that `fd` is on is one of `ibemu run`, the outer one or one
// within.  Who imitates it may open what is there himself.
bool IsOnOurMount(pid_t tid, const UniqueFd& fd) {
  struct statx status {};
  if (statx(fd.get(), "", AT_EMPTY_PATH, STATX_MNT_ID, &status) != 0 ||
      (status.stx_mask & STATX_MNT_ID) == 0) {
    return false;
  }
  const std::string id = absl::StrCat(status.stx_mnt_id, " ");
  std::ifstream mounts(absl::StrCat("/proc/", tid, "/mountinfo"));
  for (std::string line; std::getline(mounts, line);) {
    if (line.starts_with(id)) {
      return line.find(absl::StrCat(" - ", kFuseType, " ")) != line.npos;
    }
  }
  return false;
}

}  // namespace

std::optional<ShownNode> ShownNode::AtPath(std::string_view path) {
  const std::string_view directory = kNodeDirectory;
  if (!path.starts_with(directory)) return std::nullopt;
  path.remove_prefix(directory.size());
  if (!path.starts_with('/')) return std::nullopt;
  return NodeNamed(path.substr(1));
}

UniqueFd ShownNode::OpenFor(pid_t tid, const ClientIdentity& client,
                            uint64_t flags) const {
  const UniqueFd root(open(absl::StrCat("/proc/", tid, "/root").c_str(),
                           O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (!root.valid()) return UniqueFd();
  UniqueFd directory;
  UniqueFd inode;
  {
    const ActingAs acting(client);
    if (!acting.ok()) return UniqueFd();
    directory = Resolve(root, kNodeDirectory, O_DIRECTORY, RESOLVE_IN_ROOT);
    if (!directory.valid()) return UniqueFd();
    // RESOLVE_NO_XDEV: a file that somebody mounted there is not ours.
    inode = Resolve(directory, absl::StrCat(".", name), 0,
                    RESOLVE_BENEATH | RESOLVE_NO_XDEV);
  }
  if (!IsFileOfFuse(inode) || !IsOnOurMount(tid, directory)) return UniqueFd();
  const ActingAs acting(client);
  if (!acting.ok()) return UniqueFd();
  return UniqueFd(
      open(PathOfOwn(inode).c_str(),
           O_RDWR | O_CLOEXEC | static_cast<int>(flags & O_NONBLOCK)));
}

std::optional<OpenNode> OpenNode::Of(pid_t tid, uint64_t fd) {
  UniqueFd inode(open(PathOfFd(tid, fd).c_str(), O_PATH | O_CLOEXEC));
  if (!IsFileOfFuse(inode)) return std::nullopt;
  std::array<char, 256> name{};
  const ssize_t size =
      readlink(PathOfOwn(inode).c_str(), name.data(), name.size());
  if (size < 0) return std::nullopt;
  std::string_view target(name.data(), static_cast<size_t>(size));
  // Somebody has looked the path up since, and got another inode.
  constexpr std::string_view kForgotten = " (deleted)";
  if (target.ends_with(kForgotten)) target.remove_suffix(kForgotten.size());
  // The name of what can be opened (cuse::TreeNode).
  const size_t slash = target.rfind("/.");
  if (slash == target.npos) return std::nullopt;
  std::optional<ShownNode> node = NodeNamed(target.substr(slash + 2));
  if (!node) return std::nullopt;
  return OpenNode{std::move(inode), *std::move(node)};
}

}  // namespace ibemu::launch

#include "launch/system_mounts.h"

#include <fcntl.h>
#include <mntent.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/absl_text.h"
#include "base/status_macros.h"
#include "launch/cuse_nodes.h"
#include "launch/mount_plan.h"
#include "launch/mounts.h"

namespace ibemu::launch {
namespace {

// Everybody passes through the directory of root's sockets, for whom links in
// /sys/class lead there; nobody may look into it.
constexpr mode_t kMode = 0711;

std::string Above() {
  return std::filesystem::path(kSystemMount).parent_path();
}

absl::Status InUse(std::string_view cure) {
  return absl::FailedPreconditionError(
      absl::StrCat(kSystemMount, " is in use: ", Absl(cure)));
}

bool IsOurs(const mntent& mount) {
  const std::string_view place = mount.mnt_dir;
  return std::string_view(mount.mnt_fsname) == kMountSource &&
         (place == kSystemMount || place.starts_with(kSysClass));
}

// The first mounted first.
std::vector<std::string> OurMounts() {
  std::vector<std::string> places;
  const std::unique_ptr<FILE, int (*)(FILE*)> table(
      setmntent("/proc/self/mounts", "re"), &endmntent);
  if (table == nullptr) return places;
  mntent entry;
  char text[4096];
  while (const mntent* mount =
             getmntent_r(table.get(), &entry, text, sizeof text)) {
    if (IsOurs(*mount)) places.emplace_back(mount->mnt_dir);
  }
  return places;
}

// Returns true if a daemon has left its mount, and so has who was to unmount.
// The kernel knows attributes for some time, but asks for these each time.
bool IsAbandoned() {
  struct statfs answer {};
  return statfs(kSystemMount, &answer) != 0 && errno == ENOTCONN;
}

}  // namespace

absl::StatusOr<UniqueFd> ClaimSystemMounts() {
  const std::string above = Above();
  if ((mkdir(above.c_str(), kMode) != 0 && errno != EEXIST) ||
      chmod(above.c_str(), kMode) != 0) {
    return absl::ErrnoToStatus(errno, above);
  }
  UniqueFd claim(open(above.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!claim.valid()) return absl::ErrnoToStatus(errno, above);
  if (flock(claim.get(), LOCK_EX | LOCK_NB) != 0) {
    return InUse("another ibemud --front-end=cuse runs");
  }
  return claim;
}

absl::Status MountSystem(int fuse) {
  if (IsAbandoned()) UnmountSystem();
  if (mkdir(kSystemMount, kMode) != 0 && errno != EEXIST) {
    return absl::ErrnoToStatus(errno, kSystemMount);
  }
  struct stat outside;
  struct stat inside;
  if (stat(Above().c_str(), &outside) != 0 ||
      stat(kSystemMount, &inside) != 0 || outside.st_dev != inside.st_dev) {
    return InUse(
        absl::StrCat("another ibemud --front-end=cuse runs, or \"umount -l ",
                     kSystemMount, "\" helps"));
  }
  return MountFuse(fuse, kSystemMount, /*for_everybody=*/true);
}

absl::Status CoverSysClass() {
  IBEMU_ASSIGN_OR_RETURN(const auto served,
                         NamesIn(absl::StrCat(kSystemMount, kSysClass)));
  IBEMU_ASSIGN_OR_RETURN(const auto machine, NamesIn(kSysClass));
  return CarryOut(PlanSystemView(served, machine));
}

void UnmountSystem() {
  // Aborts the connection, so that no look-up below waits for a daemon that
  // has died; the mount itself is busy as a rule.
  umount2(kSystemMount, MNT_FORCE);
  const std::vector<std::string> places = OurMounts();
  // Lazily: a program may stand in there.
  for (auto place = places.rbegin(); place != places.rend(); ++place) {
    umount2(place->c_str(), MNT_DETACH);
  }
  RemoveHiddenNodes();
}

}  // namespace ibemu::launch

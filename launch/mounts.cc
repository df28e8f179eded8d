#include "launch/mounts.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/status_macros.h"

namespace ibemu::launch {
namespace {

using Kind = MountStep::Kind;

absl::StatusOr<std::string> ReadLink(int directory, const char* name) {
  char target[PATH_MAX];
  const ssize_t length = readlinkat(directory, name, target, sizeof(target));
  if (length < 0) return absl::ErrnoToStatus(errno, name);
  return std::string(target, static_cast<size_t>(length));
}

absl::StatusOr<DirectoryEntry> Look(int directory, const dirent& found) {
  DirectoryEntry entry;
  entry.name = found.d_name;
  struct stat status = {};
  if (fstatat(directory, found.d_name, &status, AT_SYMLINK_NOFOLLOW) != 0) {
    return absl::ErrnoToStatus(errno, found.d_name);
  }
  if (S_ISLNK(status.st_mode)) {
    entry.kind = DirectoryEntry::Kind::kLink;
    IBEMU_ASSIGN_OR_RETURN(entry.target, ReadLink(directory, found.d_name));
  } else if (!S_ISDIR(status.st_mode)) {
    entry.kind = DirectoryEntry::Kind::kOther;
  }
  return entry;
}

absl::StatusOr<std::vector<DirectoryEntry>> List(const std::string& path) {
  const std::unique_ptr<DIR, int (*)(DIR*)> directory(opendir(path.c_str()),
                                                      &closedir);
  if (directory == nullptr) return absl::ErrnoToStatus(errno, path);
  std::vector<DirectoryEntry> entries;
  while (const dirent* found = readdir(directory.get())) {
    const std::string_view name = found->d_name;
    if (name == "." || name == "..") continue;
    // An entry may go while we look: a terminal that is closed.
    absl::StatusOr<DirectoryEntry> entry = Look(dirfd(directory.get()), *found);
    if (entry.ok()) entries.push_back(*std::move(entry));
  }
  return entries;
}

bool IsDirectory(const std::string& path) {
  struct stat status = {};
  return stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode);
}

// A device may be unplugged between our look and the step that repeats it.
bool SourceHasGone(const MountStep& step) {
  return step.kind == Kind::kBind && access(step.source.c_str(), F_OK) != 0 &&
         errno == ENOENT;
}

absl::Status StepFailed(const MountStep& step, int error) {
  if (step.kind == Kind::kOverlay && error == ENODEV) {
    return absl::FailedPreconditionError(
        "the kernel has no overlay file system: load it with \"modprobe "
        "overlay\" (as root)");
  }
  return absl::ErrnoToStatus(error, ToString(step));
}

// These return 0, or -1 and errno, as the system calls.

int WriteText(const char* path, const std::string& text) {
  const UniqueFd file(open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644));
  if (!file.valid()) return -1;
  const ssize_t written = write(file.get(), text.data(), text.size());
  if (written == static_cast<ssize_t>(text.size())) return 0;
  if (written >= 0) errno = ENOSPC;
  return -1;
}

// An overlay that takes writes; in user namespaces since Linux 5.11.
int Cover(const std::string& source, const std::string& target) {
  const std::string options =
      absl::StrCat("userxattr,lowerdir=", target, ",upperdir=", source,
                   ",workdir=", WorkDirectory(source));
  if (mount(kMountSource, target.c_str(), "overlay", MS_NOSUID | MS_NODEV,
            options.c_str()) == 0) {
    return 0;
  }
  return mount(source.c_str(), target.c_str(), nullptr, MS_BIND, nullptr);
}

int Take(const MountStep& step) {
  const char* source = step.source.c_str();
  const char* target = step.target.c_str();
  switch (step.kind) {
    case Kind::kTmpfs:
      return mount(kMountSource, target, "tmpfs", MS_NOSUID,
                   absl::StrCat("mode=0755,nr_inodes=65536,size=",
                                step.source.empty() ? "4m" : step.source)
                       .c_str());
    case Kind::kDirectory:
      if (mkdir(target, 0755) == 0) return 0;
      return errno == EEXIST && IsDirectory(step.target) ? 0 : -1;
    case Kind::kFile:
      return UniqueFd(open(target, O_WRONLY | O_CREAT | O_CLOEXEC, 0644))
                     .valid()
                 ? 0
                 : -1;
    case Kind::kText:
      return WriteText(target, step.source);
    case Kind::kLink:
      return symlink(source, target);
    case Kind::kBind:
      return mount(source, target, nullptr, MS_BIND | MS_REC, nullptr);
    case Kind::kMove:
      return mount(source, target, nullptr, MS_MOVE, nullptr);
    case Kind::kOverlay:
      return mount(kMountSource, target, "overlay",
                   MS_RDONLY | MS_NOSUID | MS_NODEV | MS_NOEXEC,
                   absl::StrCat("lowerdir=", step.source).c_str());
    case Kind::kCover:
      return Cover(step.source, step.target);
  }
  errno = EINVAL;
  return -1;
}

}  // namespace

absl::StatusOr<UniqueFd> OpenFuse() {
  UniqueFd fuse(open("/dev/fuse", O_RDWR | O_CLOEXEC));
  if (fuse.valid()) return fuse;
  switch (errno) {
    case ENOENT:
    case ENODEV:
    case ENXIO:
      return absl::NotFoundError(
          "/dev/fuse is missing: load it with \"modprobe fuse\" (as root); a "
          "container needs \"--device /dev/fuse\"");
    case EACCES:
    case EPERM:
      return absl::PermissionDeniedError(
          "/dev/fuse may not be opened: allow it with \"chmod 666 /dev/fuse\" "
          "(as root; udev does it by default); a container needs \"--device "
          "/dev/fuse\"");
    default:
      return absl::ErrnoToStatus(errno, "/dev/fuse");
  }
}

bool InsideRun() {
  struct statfs stage = {};
  return statfs(kStage, &stage) == 0 && stage.f_type == TMPFS_MAGIC &&
         IsDirectory(absl::StrCat(kStage, "/class"));
}

absl::StatusOr<MachineFacts> LookAtMachine() {
  if (!IsDirectory(kStage)) {
    return absl::FailedPreconditionError(absl::StrCat(
        kStage, " is missing: mount sysfs with \"mount -t sysfs sysfs /sys\""));
  }
  MachineFacts facts;
  facts.nested = InsideRun();
  std::ifstream(facts.nested ? kMachineBootId : kBootId) >> facts.boot_id;
  facts.has_dev_infiniband = IsDirectory("/dev/infiniband");
  if (!facts.has_dev_infiniband) {
    IBEMU_ASSIGN_OR_RETURN(facts.dev, List("/dev"));
  }
  const std::string sys = facts.nested ? kStage : "/sys";
  IBEMU_ASSIGN_OR_RETURN(facts.devices, List(sys + "/devices"));
  IBEMU_ASSIGN_OR_RETURN(facts.classes, List(sys + "/class"));
  return facts;
}

StateFacts LookAtState() {
  const auto look = [](const std::string& parent, const char* name) {
    const std::string path = absl::StrCat(parent, "/", name);
    // Root need not make what it may make.
    const bool exists = IsDirectory(path);
    return StateDirectory{
        .name = name,
        .exists = exists,
        .writable = access((exists ? path : parent).c_str(), W_OK) == 0};
  };
  StateFacts facts;
  if (IsDirectory("/var/cache")) {
    facts.caches = {look("/var/cache", "opensm"),
                    look("/var/cache", "ibutils")};
  }
  facts.log = look("/var", "log");
  for (const char* name : {"opensm.log", "opensm-subnet.lst", "ibacm.log"}) {
    const std::string path = absl::StrCat("/var/log/", name);
    if (access(path.c_str(), F_OK) == 0 && access(path.c_str(), W_OK) != 0) {
      facts.locked_logs.push_back(name);
    }
  }
  return facts;
}

void CleanUp(const MountPlan& plan) {
  for (const MountStep& step : plan) {
    if (step.kind != Kind::kCover) continue;
    umount2(step.target.c_str(), MNT_DETACH);
    const std::string work = WorkDirectory(step.source);
    rmdir(absl::StrCat(work, "/work").c_str());
    rmdir(work.c_str());
  }
}

absl::StatusOr<ServedFacts> LookAtServed() {
  ServedFacts facts;
  const std::string sys = absl::StrCat(kFuseMount, "/sys");
  IBEMU_ASSIGN_OR_RETURN(facts.classes, NamesIn(sys + "/class"));
  IBEMU_ASSIGN_OR_RETURN(facts.devices, NamesIn(sys + "/devices"));
  return facts;
}

absl::StatusOr<std::vector<std::string>> NamesIn(const std::string& path) {
  IBEMU_ASSIGN_OR_RETURN(const std::vector<DirectoryEntry> entries, List(path));
  std::vector<std::string> names;
  names.reserve(entries.size());
  for (const DirectoryEntry& entry : entries) names.push_back(entry.name);
  return names;
}

absl::Status MountFuse(int fuse, const char* place, bool for_everybody) {
  // The kernel checks file modes, as it does for real device nodes.
  const std::string options = absl::StrFormat(
      "fd=%d,rootmode=40000,user_id=%d,group_id=%d,default_permissions%s", fuse,
      geteuid(), getegid(), for_everybody ? ",allow_other" : "");
  if (mount(kMountSource, place, kFuseType, MS_NOSUID | MS_NODEV,
            options.c_str()) == 0) {
    return absl::OkStatus();
  }
  if (errno == EPERM || errno == EACCES) {
    return absl::PermissionDeniedError(
        "FUSE may not be mounted here: a container needs \"--cap-add SYS_ADMIN "
        "--security-opt apparmor=unconfined\"");
  }
  return absl::ErrnoToStatus(errno, "mounting FUSE");
}

absl::Status CarryOut(const MountPlan& plan) {
  for (const MountStep& step : plan) {
    if (Take(step) == 0) continue;
    const int error = errno;
    if (!SourceHasGone(step)) return StepFailed(step, error);
  }
  return absl::OkStatus();
}

}  // namespace ibemu::launch

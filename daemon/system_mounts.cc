#include "daemon/system_mounts.h"

#include <fcntl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <filesystem>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "daemon/mounts.h"

namespace ibemu::daemon {
namespace {

using Kind = MountStep::Kind;

constexpr std::string_view kRdmaPrefix = "infiniband";
constexpr char kClasses[] = "/sys/class";

std::string ServedClasses() { return absl::StrCat(kSystemMount, kClasses); }

absl::StatusOr<std::vector<std::string>> NamesIn(const std::string& path) {
  std::vector<std::string> names;
  std::error_code error;
  for (std::filesystem::directory_iterator entry(path, error), end;
       !error && entry != end; entry.increment(error)) {
    names.push_back(entry->path().filename());
  }
  if (error) return absl::ErrnoToStatus(error.value(), path);
  std::sort(names.begin(), names.end());
  return names;
}

// What the keeper tells: this once the file system is mounted, then, at the
// end of its work, what went wrong.
constexpr char kMounted = '\x06';  // begins no sentence

// Everybody passes through the directory of root's sockets, for whom links in
// /sys/class lead there; nobody may look into it.
absl::Status PreparePlace() {
  const std::string above = std::filesystem::path(kSystemMount).parent_path();
  for (const char* place : {above.c_str(), kSystemMount}) {
    if (mkdir(place, 0711) != 0 && errno != EEXIST) {
      return absl::ErrnoToStatus(errno, place);
    }
  }
  if (chmod(above.c_str(), 0711) != 0) {
    return absl::ErrnoToStatus(errno, above);
  }
  struct stat outside;
  struct stat inside;
  if (stat(above.c_str(), &outside) != 0 || stat(kSystemMount, &inside) != 0 ||
      outside.st_dev != inside.st_dev) {
    return absl::FailedPreconditionError(absl::StrCat(
        kSystemMount, " is in use: another ibemud --front-end=cuse runs, or \"",
        "umount -l ", kSystemMount, "\" helps"));
  }
  return absl::OkStatus();
}

// Mounts, and remembers what is to be undone.
absl::Status Show(int fuse, bool overlay, int news, MountPlan& taken) {
  IBEMU_RETURN_IF_ERROR(MountFuse(fuse, kSystemMount, /*for_everybody=*/true));
  close(fuse);  // the daemon's alone: when it ends, nobody waits for answers
  taken.push_back({Kind::kBind, "", kSystemMount});
  (void)!write(news, &kMounted, 1);
  if (!overlay) return absl::OkStatus();
  IBEMU_ASSIGN_OR_RETURN(const auto served, NamesIn(ServedClasses()));
  IBEMU_ASSIGN_OR_RETURN(const auto machine, NamesIn(kClasses));
  for (const MountStep& step : PlanSystemView(served, machine)) {
    IBEMU_RETURN_IF_ERROR(CarryOut({step}));
    taken.push_back(step);
  }
  return absl::OkStatus();
}

// Lazily: a program may stand in there.
void TakeAway(const MountPlan& taken) {
  for (auto step = taken.rbegin(); step != taken.rend(); ++step) {
    umount2(step->target.c_str(), MNT_DETACH);
  }
}

// The keeper's whole life.
void Keep(int fuse, bool overlay, UniqueFd life, UniqueFd news) {
  // A terminal's signals are for the daemon.
  setsid();
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE}) {
    std::signal(signal, SIG_IGN);
  }
  MountPlan taken;
  const absl::Status status = Show(fuse, overlay, news.get(), taken);
  const std::string told(status.message());
  (void)!write(news.get(), told.data(), told.size());
  news.Reset();
  if (status.ok()) {
    char byte;
    while (read(life.get(), &byte, 1) < 0 && errno == EINTR) continue;
  }
  TakeAway(taken);
}

}  // namespace

MountPlan PlanSystemView(const std::vector<std::string>& served_classes,
                         const std::vector<std::string>& machine_classes) {
  MountPlan plan;
  const auto is_rdma = [](const std::string& name) {
    return name.starts_with(kRdmaPrefix);
  };
  const auto has = [&](const std::string& name) {
    return std::find(machine_classes.begin(), machine_classes.end(), name) !=
           machine_classes.end();
  };
  const bool all_there = std::all_of(
      served_classes.begin(), served_classes.end(),
      [&](const auto& name) { return !is_rdma(name) || has(name); });
  // sysfs takes no new directory; an overlay supplies the places to bind to.
  if (!all_there) {
    plan.push_back({Kind::kOverlay,
                    absl::StrCat(ServedClasses(), ":", kClasses), kClasses});
  }
  for (const std::string& name : served_classes) {
    if (!is_rdma(name)) continue;
    plan.push_back({Kind::kBind, absl::StrCat(ServedClasses(), "/", name),
                    absl::StrCat(kClasses, "/", name)});
  }
  return plan;
}

absl::StatusOr<MountKeeper> MountKeeper::Fork(int fuse, bool overlay) {
  IBEMU_RETURN_IF_ERROR(PreparePlace());
  std::array<int, 2> life;
  std::array<int, 2> news;
  if (pipe2(life.data(), O_CLOEXEC) != 0) {
    return absl::ErrnoToStatus(errno, "pipe");
  }
  UniqueFd life_read(life[0]), life_write(life[1]);
  if (pipe2(news.data(), O_CLOEXEC) != 0) {
    return absl::ErrnoToStatus(errno, "pipe");
  }
  UniqueFd news_read(news[0]), news_write(news[1]);
  const pid_t child = fork();
  if (child < 0) return absl::ErrnoToStatus(errno, "fork");
  if (child == 0) {
    life_write.Reset();
    news_read.Reset();
    Keep(fuse, overlay, std::move(life_read), std::move(news_write));
    _exit(0);
  }
  news_write.Reset();
  MountKeeper keeper(std::move(life_write), std::move(news_read));
  // Before there is a mount, reading from the descriptor fails.
  char mounted = 0;
  const ssize_t got = read(keeper.fd(), &mounted, 1);
  if (got == 1 && mounted == kMounted) return keeper;
  const std::string first(&mounted, got == 1 ? 1 : 0);
  return absl::FailedPreconditionError(
      absl::StrCat(first, keeper.Result().message()));
}

absl::Status MountKeeper::Result() {
  std::string told(4096, '\0');
  const ssize_t length = read(news_.get(), told.data(), told.size());
  news_.Reset();
  if (length == 0) return absl::OkStatus();
  if (length < 0) return absl::ErrnoToStatus(errno, "the mounts' keeper");
  told.resize(static_cast<size_t>(length));
  return absl::FailedPreconditionError(told);
}

}  // namespace ibemu::daemon

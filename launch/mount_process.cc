#include "launch/mount_process.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "launch/system_mounts.h"

namespace ibemu::launch {
namespace {

// What the process that mounts says when the file system is mounted, and when
// its work is done; an error's text in place of either begins otherwise.
constexpr char kMounted = '\x06', kShown = '\x07';

void Tell(int news, char message) { (void)!write(news, &message, 1); }

void Tell(int news, const absl::Status& error) {
  (void)!write(news, error.message().data(), error.message().size());
}

absl::Status Show(int fuse, bool cover, int news) {
  close(fuse);  // the daemon's alone: when it ends, nobody waits for answers
  Tell(news, kMounted);
  return cover ? CoverSysClass() : absl::OkStatus();
}

// The whole life of that process.
void Mount(int fuse, bool cover, const UniqueFd& life, const UniqueFd& news) {
  // A terminal's signals are for the daemon.
  setsid();
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE}) {
    std::signal(signal, SIG_IGN);
  }
  const absl::StatusOr<UniqueFd> claim = ClaimSystemMounts();
  const absl::Status mounted = claim.ok() ? MountSystem(fuse) : claim.status();
  if (!mounted.ok()) return Tell(news.get(), mounted);
  const absl::Status shown = Show(fuse, cover, news.get());
  if (!shown.ok()) {
    Tell(news.get(), shown);
  } else {
    Tell(news.get(), kShown);
    char byte;
    while (read(life.get(), &byte, 1) < 0 && errno == EINTR) continue;
  }
  UnmountSystem();
}

}  // namespace

absl::StatusOr<MountProcess> MountProcess::Fork(int fuse, bool cover) {
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
    Mount(fuse, cover, life_read, news_write);
    _exit(0);
  }
  news_write.Reset();
  MountProcess process(child, std::move(life_write), std::move(news_read));
  // Before there is a mount, reading from the descriptor fails.
  char mounted = 0;
  const ssize_t got = read(process.fd(), &mounted, 1);
  if (got == 1 && mounted == kMounted) return process;
  const std::string first(&mounted, got == 1 ? 1 : 0);
  return absl::FailedPreconditionError(
      absl::StrCat(first, process.Result().message()));
}

MountProcess::MountProcess(MountProcess&& other) noexcept
    : process_(std::exchange(other.process_, 0)),
      life_(std::move(other.life_)),
      news_(std::move(other.news_)) {}

MountProcess& MountProcess::operator=(MountProcess&& other) noexcept {
  std::swap(process_, other.process_);
  std::swap(life_, other.life_);
  std::swap(news_, other.news_);
  return *this;
}

MountProcess::~MountProcess() {
  if (process_ == 0) return;
  life_.Reset();
  while (waitpid(process_, nullptr, 0) < 0 && errno == EINTR) continue;
}

absl::Status MountProcess::Result() const {
  std::string told(4096, '\0');
  const ssize_t length = read(news_.get(), told.data(), told.size());
  if (length < 0) return absl::ErrnoToStatus(errno, "the process that mounts");
  told.resize(static_cast<size_t>(length));
  if (told == std::string(1, kShown)) return absl::OkStatus();
  return absl::FailedPreconditionError(
      told.empty() ? "the process that mounts was killed" : told);
}

}  // namespace ibemu::launch

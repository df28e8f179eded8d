#include "control/control_socket.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <set>
#include <string_view>
#include <system_error>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "base/absl_text.h"
#include "base/status_macros.h"

namespace ibemu::control {
namespace {

constexpr int kBacklog = 64;
constexpr char kLockSuffix[] = ".lock";
constexpr char kSocketSuffix[] = ".sock";
constexpr char kPrivatePrefix[] = "run-";

std::string LockPath(const std::string& path) {
  return absl::StrCat(path, kLockSuffix);
}

// Returns the owner for people, "process 1234".  The lock itself is what
// counts.
std::string Owner(int lock) {
  std::array<char, 16> text;
  const ssize_t size = pread(lock, text.data(), text.size(), 0);
  int pid = 0;
  const std::string_view digits(text.data(),
                                size > 0 ? static_cast<size_t>(size) : 0);
  return absl::SimpleAtoi(Absl(digits), &pid) ? absl::StrCat("process ", pid)
                                              : "another process";
}

// In /tmp anybody may have been there before us.
absl::Status CheckOwner(const struct stat& status, const std::string& path) {
  if (status.st_uid == geteuid()) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat(path, ": it belongs to user ", status.st_uid,
                   ": choose a place where nobody else may make files"));
}

absl::Status Taken(const std::string& path, int lock) {
  return absl::AlreadyExistsError(absl::StrCat(
      path, ": a daemon is running there already (", Owner(lock),
      "): join it with \"ibemu run --fabric\", end it, or choose another "
      "--name"));
}

// The path of a daemon that lives as long as a run: process ids are unique on
// this machine, and the directory is not shared with another.
std::string PrivateSocketPath(const std::string& directory, pid_t pid) {
  return absl::StrCat(directory, "/", kPrivatePrefix, pid, kSocketSuffix);
}

// Removes what such daemons left in `directory` when they and their runs were
// killed.
void RemovePrivateRemains(const std::string& directory) {
  std::set<pid_t> owners;
  std::error_code ignored;
  for (const auto& entry :
       std::filesystem::directory_iterator(directory, ignored)) {
    const std::string name = entry.path().filename();
    absl::string_view rest = name;
    pid_t pid = 0;
    absl::ConsumeSuffix(&rest, kLockSuffix);
    if (absl::ConsumePrefix(&rest, kPrivatePrefix) &&
        absl::ConsumeSuffix(&rest, kSocketSuffix) &&
        absl::SimpleAtoi(rest, &pid)) {
      owners.insert(pid);
    }
  }
  owners.erase(getpid());  // which is about to take its name
  for (const pid_t pid : owners) {
    RemoveRemains(PrivateSocketPath(directory, pid));
  }
}

}  // namespace

absl::StatusOr<ControlSocket> ControlSocket::Claim(std::string path) {
  const std::string lock_path = LockPath(path);
  while (true) {
    UniqueFd lock(open(lock_path.c_str(),
                       O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
    if (!lock.valid()) return absl::ErrnoToStatus(errno, lock_path);
    struct stat held;
    if (fstat(lock.get(), &held) != 0) {
      return absl::ErrnoToStatus(errno, lock_path);
    }
    // Whoever owns it could lock it, too, or put another one in its place.
    IBEMU_RETURN_IF_ERROR(CheckOwner(held, lock_path));
    if (flock(lock.get(), LOCK_EX | LOCK_NB) != 0) {
      return Taken(path, lock.get());
    }
    // The last owner may have removed the file between our open and flock.
    struct stat named;
    if (stat(lock_path.c_str(), &named) != 0 || held.st_ino != named.st_ino ||
        held.st_dev != named.st_dev) {
      continue;
    }
    const std::string pid = absl::StrCat(getpid(), "\n");
    if (ftruncate(lock.get(), 0) != 0 ||
        pwrite(lock.get(), pid.data(), pid.size(), 0) < 0) {
      return absl::ErrnoToStatus(errno, lock_path);
    }
    return ControlSocket(std::move(path), std::move(lock));
  }
}

absl::StatusOr<ControlSocket> ControlSocket::ClaimPrivate(
    const std::string& directory) {
  // Who sweeps takes each lock that is free, as one is whose owner is just
  // about to take it.
  const UniqueFd alone(
      open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!alone.valid() || flock(alone.get(), LOCK_EX) != 0) {
    return absl::ErrnoToStatus(errno, directory);
  }
  RemovePrivateRemains(directory);
  return Claim(PrivateSocketPath(directory, getpid()));
}

ControlSocket::ControlSocket(std::string path, UniqueFd lock)
    : path_(std::move(path)), lock_(std::move(lock)) {}

ControlSocket::~ControlSocket() {
  if (!lock_.valid()) return;  // moved from
  if (socket_.valid() && !adopted_) unlink(path_.c_str());
  unlink(LockPath(path_).c_str());
}

absl::StatusOr<ControlSocket> ControlSocket::Adopt(UniqueFd listening) {
  sockaddr_un address{};
  socklen_t size = sizeof address;
  int listens = 0;
  socklen_t listens_size = sizeof listens;
  if (getsockname(listening.get(), reinterpret_cast<sockaddr*>(&address),
                  &size) != 0 ||
      address.sun_family != AF_UNIX || address.sun_path[0] == '\0' ||
      getsockopt(listening.get(), SOL_SOCKET, SO_ACCEPTCONN, &listens,
                 &listens_size) != 0 ||
      listens == 0) {
    return absl::InvalidArgumentError(
        "the control socket that was passed is not a unix socket with a path "
        "that listens");
  }
  fcntl(listening.get(), F_SETFL, O_NONBLOCK);
  IBEMU_ASSIGN_OR_RETURN(ControlSocket adopted, Claim(address.sun_path));
  adopted.socket_ = std::move(listening);
  adopted.adopted_ = true;
  return adopted;
}

absl::Status ControlSocket::Listen() {
  if (adopted_) return absl::OkStatus();
  struct stat status;
  if (lstat(path_.c_str(), &status) == 0) {
    if (!S_ISSOCK(status.st_mode)) {
      return absl::FailedPreconditionError(
          absl::StrCat(path_, ": it exists and is no socket"));
    }
    IBEMU_RETURN_IF_ERROR(CheckOwner(status, path_));
    unlink(path_.c_str());
  }
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path_.size() >= sizeof address.sun_path) {
    return absl::InvalidArgumentError(
        absl::StrCat(path_, ": too long for a socket"));
  }
  std::memcpy(address.sun_path, path_.data(), path_.size());

  UniqueFd made(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!made.valid()) return absl::ErrnoToStatus(errno, "socket");
  // The umask is set before bind(), so that there is no moment in which another
  // user could connect.
  const mode_t umask_before = umask(0177);
  const int bound =
      bind(made.get(), reinterpret_cast<sockaddr*>(&address), sizeof address);
  const int error = errno;
  umask(umask_before);
  if (bound != 0) return absl::ErrnoToStatus(error, path_);
  socket_ = std::move(made);
  if (listen(socket_.get(), kBacklog) != 0) {
    return absl::ErrnoToStatus(errno, path_);
  }
  return absl::OkStatus();
}

void RemoveRemains(const std::string& path) {
  const absl::StatusOr<ControlSocket> claimed = ControlSocket::Claim(path);
  if (claimed.ok()) unlink(path.c_str());
}

}  // namespace ibemu::control

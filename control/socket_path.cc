#include "control/socket_path.h"

#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace ibemu::control {
namespace {

std::string Variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

bool IsName(std::string_view text) {
  return !text.empty() && text.front() != '.' &&
         std::all_of(text.begin(), text.end(), [](unsigned char c) {
           return absl::ascii_isalnum(c) || c == '.' || c == '_' || c == '-';
         });
}

bool MayCreateIn(const char* directory) {
  return access(directory, W_OK | X_OK) == 0;
}

}  // namespace

std::string SocketDirectory() {
  if (geteuid() == 0) return "/run/ibemu";
  // After su(1) the variable may still name another user's directory.
  const std::string runtime = Variable("XDG_RUNTIME_DIR");
  struct stat status;
  if (!runtime.empty() && stat(runtime.c_str(), &status) == 0 &&
      S_ISDIR(status.st_mode) && status.st_uid == geteuid()) {
    return absl::StrCat(runtime, "/ibemu");
  }
  const char* const parent =
      !MayCreateIn("/tmp") && MayCreateIn("/dev/shm") ? "/dev/shm" : "/tmp";
  return absl::StrCat(parent, "/ibemu-", geteuid());
}

absl::Status PrepareSocketDirectory(const std::string& directory) {
  if (mkdir(directory.c_str(), 0700) != 0 && errno != EEXIST) {
    return absl::ErrnoToStatus(errno, directory);
  }
  struct stat status;
  if (lstat(directory.c_str(), &status) != 0) {
    return absl::ErrnoToStatus(errno, directory);
  }
  const auto fault = [&](const std::string& what) {
    return absl::FailedPreconditionError(absl::StrCat(
        directory, ": ", what, ": ",
        // root's directory is the same whatever the variable says.
        geteuid() == 0 ? "remove it, or choose another place with \"ibemud "
                         "--socket=PATH\" and --fabric=PATH"
                       : "let XDG_RUNTIME_DIR name a directory of yours"));
  };
  if (!S_ISDIR(status.st_mode)) return fault("it is not a directory");
  if (status.st_uid != geteuid()) {
    return fault(absl::StrCat("it belongs to user ", status.st_uid));
  }
  // Passing through is harmless (see MountProcess): a socket is 0600.
  if ((status.st_mode & 0066) != 0) {
    return fault(
        absl::StrFormat("others may look into it (mode %04o, not 0700 or 0711)",
                        status.st_mode & 07777));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::string> SocketPath(std::string_view fabric) {
  std::string wanted(fabric);
  if (wanted.empty()) wanted = Variable("IBEMU_FABRIC");
  if (wanted.empty()) wanted = "default";
  if (wanted.find('/') == std::string::npos) {
    if (!IsName(wanted)) {
      return absl::InvalidArgumentError(absl::StrCat(
          "\"", wanted,
          "\" is not a fabric's name: letters, digits, '.', '_' and '-', or a "
          "path with a slash"));
    }
    wanted = absl::StrCat(SocketDirectory(), "/", wanted, ".sock");
  }
  constexpr size_t kLongest = sizeof(sockaddr_un::sun_path) - 1;
  if (wanted.size() > kLongest) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "%s: a socket's path has at most %d bytes, this one has %d", wanted,
        kLongest, wanted.size()));
  }
  return wanted;
}

}  // namespace ibemu::control

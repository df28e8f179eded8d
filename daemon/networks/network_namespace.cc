#include "daemon/networks/network_namespace.h"

#include <sys/stat.h>

#include <string>

#include "absl/strings/str_cat.h"

namespace ibemu::daemon {

std::optional<NetworkNamespace> NetworkNamespaceOf(pid_t pid) {
  struct stat status;
  const std::string path = absl::StrCat("/proc/", pid, "/ns/net");
  if (pid <= 0 || stat(path.c_str(), &status) != 0) return std::nullopt;
  return NetworkNamespace{status.st_dev, status.st_ino};
}

}  // namespace ibemu::daemon

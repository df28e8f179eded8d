#include "launch/cuse_nodes.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string_view>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/absl_text.h"
#include "base/unique_fd.h"

namespace ibemu::launch {
namespace {

constexpr char kNodes[] = "/dev/infiniband";
constexpr std::string_view kHidden = ".removed-";

std::string Node(const std::string& name) {
  return absl::StrCat("/dev/", name);
}

std::string Hidden(const std::string& name) {
  const std::filesystem::path node = Node(name);
  return node.parent_path() /
         absl::StrCat(Absl(kHidden), node.filename().string());
}

// Sends a uevent, if it can: where there is no sysfs, there is no udev either.
// It does not go through /sys/class, where an overlay would ask this very
// daemon.
void TellUdev(sysfs::DeviceNumber number, std::string_view action) {
  const std::string path = absl::StrFormat(
      "/sys/dev/char/%d:%d/uevent", number.major_number, number.minor_number);
  const UniqueFd event(open(path.c_str(), O_WRONLY | O_CLOEXEC));
  (void)!write(event.get(), action.data(), action.size());
}

absl::Status Rename(const std::string& from, const std::string& to) {
  return std::rename(from.c_str(), to.c_str()) == 0
             ? absl::OkStatus()
             : absl::ErrnoToStatus(errno, from);
}

// Returns the driver that has `major_number`: "infiniband_mad" if ib_umad is
// loaded.
std::optional<std::string> OwnerOf(int major_number) {
  std::ifstream devices("/proc/devices");
  std::string heading;
  std::getline(devices, heading);  // "Character devices:"
  int number = 0;
  std::string owner;
  while (devices >> number >> owner) {
    if (number == major_number) return owner;
  }
  return std::nullopt;
}

}  // namespace

sysfs::DeviceNumber NumberOf(const std::string& name) {
  struct stat node = {};
  stat(Node(name).c_str(), &node);
  return {static_cast<int>(major(node.st_rdev)),
          static_cast<int>(minor(node.st_rdev))};
}

bool HasNode(const std::string& name) {
  return access(Node(name).c_str(), F_OK) == 0;
}

absl::Status WhyRefused(const std::string& name, int major_number) {
  const std::string node = Node(name);
  if (HasNode(name)) {
    return absl::AlreadyExistsError(absl::StrCat(
        node, ": the name is in use, by a real adapter or another ibemud"));
  }
  const std::optional<std::string> owner = OwnerOf(major_number);
  return absl::AlreadyExistsError(absl::StrFormat(
      "%s: the kernel refuses character device number %d%s: choose another "
      "with --major=N, or let the kernel choose with --major=0",
      node, major_number,
      owner ? absl::StrCat(", which belongs to \"", *owner, "\"") : ""));
}

absl::Status HideNode(const std::string& name) {
  TellUdev(NumberOf(name), "remove");
  return Rename(Node(name), Hidden(name));
}

absl::Status ShowNode(const std::string& name) {
  absl::Status shown = Rename(Hidden(name), Node(name));
  TellUdev(NumberOf(name), "add");
  return shown;
}

void RemoveHiddenNode(const std::string& name) { unlink(Hidden(name).c_str()); }

void RemoveHiddenNodes() {
  std::error_code error;
  for (std::filesystem::directory_iterator node(kNodes, error), end;
       !error && node != end; node.increment(error)) {
    if (node->path().filename().string().starts_with(kHidden)) {
      unlink(node->path().c_str());
    }
  }
}

}  // namespace ibemu::launch

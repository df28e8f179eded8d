#include "daemon/networks/tun_device.h"

#include <fcntl.h>
#include <linux/if.h>
#include <linux/if_tun.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/uio.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"

namespace ibemu::daemon {
namespace {

constexpr unsigned kMisc = 10, kTun = 200;  // Documentation/admin-guide/devices
constexpr off_t kNoOffset = -1;

bool IsTun(int fd) {
  struct stat status;
  return fstat(fd, &status) == 0 && S_ISCHR(status.st_mode) &&
         status.st_rdev == makedev(kMisc, kTun);
}

// For a file name and for JSON; the kernel allows more.
bool IsPlainName(std::string_view name) {
  return !name.empty() && name != "." && name != ".." &&
         std::ranges::all_of(name, [](char c) {
           return absl::ascii_isalnum(static_cast<unsigned char>(c)) ||
                  c == '.' || c == '-' || c == '_';
         });
}

// Returns call(flags), with flags such that it does not wait.  O_NONBLOCK would
// be the client's to clear; before Linux 6.4 there is nothing better.
template <class Call>
ssize_t WithoutWaiting(int fd, Call&& call) {
  const ssize_t size = call(RWF_NOWAIT);
  if (size >= 0 || errno != EOPNOTSUPP) return size;
  if (fcntl(fd, F_SETFL, O_NONBLOCK) != 0) return -1;
  return call(0);
}

}  // namespace

absl::StatusOr<TunDevice> TunDevice::Adopt(UniqueFd fd, Kind kind) {
  if (!fd.valid()) {
    return absl::InvalidArgumentError("no /dev/net/tun came with the request");
  }
  if (!IsTun(fd.get())) {
    return absl::InvalidArgumentError(
        "the descriptor that came with the request is no /dev/net/tun");
  }
  ifreq request{};
  if (ioctl(fd.get(), TUNGETIFF, &request) != 0) {
    return absl::InvalidArgumentError(
        "the /dev/net/tun that came with the request has no device");
  }
  const int flags = static_cast<unsigned short>(request.ifr_flags);
  constexpr int kKind = IFF_TUN | IFF_TAP | IFF_NO_PI | IFF_VNET_HDR;
  const int wanted = kind == Kind::kIp ? IFF_TUN : IFF_TAP;
  if ((flags & kKind) != (wanted | IFF_NO_PI)) {
    return absl::InvalidArgumentError(
        absl::StrCat("the device that came with the request is none of ",
                     kind == Kind::kIp ? "IP packets alone (IFF_TUN"
                                       : "frames alone (IFF_TAP",
                     ", IFF_NO_PI)"));
  }
  const std::string name(request.ifr_name, strnlen(request.ifr_name, IFNAMSIZ));
  if (!IsPlainName(name)) {
    return absl::InvalidArgumentError(
        "the name of the device that came with the request has others than "
        "letters, digits, dots, hyphens and underscores");
  }
  return TunDevice(std::move(fd), name);
}

absl::StatusOr<std::span<const std::byte>> TunDevice::Read(
    std::span<std::byte> buffer) {
  const iovec place{buffer.data(), buffer.size()};
  const ssize_t size = WithoutWaiting(fd_.get(), [&](int flags) {
    return preadv2(fd_.get(), &place, 1, kNoOffset, flags);
  });
  // It tells the size of a packet that it cuts off.
  if (size > 0) {
    return buffer.first(std::min(static_cast<size_t>(size), buffer.size()));
  }
  if (size < 0 && (errno == EAGAIN || errno == EINTR)) {
    return std::span<const std::byte>();
  }
  return absl::UnavailableError("the network device is gone");
}

void TunDevice::Write(std::span<const std::byte> packet) {
  const iovec place{const_cast<std::byte*>(packet.data()), packet.size()};
  WithoutWaiting(fd_.get(), [&](int flags) {
    return pwritev2(fd_.get(), &place, 1, kNoOffset, flags);
  });
}

void TunDevice::SetCarrier(bool carrier) {
  const int value = carrier ? 1 : 0;
  ioctl(fd_.get(), TUNSETCARRIER, &value);  // since Linux 5.0
}

}  // namespace ibemu::daemon

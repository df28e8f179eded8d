#include "launch/network/network_devices.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <netinet/ether.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "launch/namespaces.h"
#include "launch/network/address_netlink.h"

namespace ibemu::launch {
namespace {

constexpr char kTun[] = "/dev/net/tun";

ifreq RequestFor(const std::string& name) {
  ifreq request{};
  name.copy(request.ifr_name, IFNAMSIZ - 1);
  return request;
}

absl::Status TunFailed(int error) {
  switch (error) {
    case ENOENT:
    case ENODEV:
    case ENXIO:
      return absl::NotFoundError(
          "/dev/net/tun is missing: load it with \"modprobe tun\" (as root); a "
          "container needs \"--device /dev/net/tun\"");
    default:
      return absl::PermissionDeniedError(absl::StrCat(
          "/dev/net/tun may not be used (", std::strerror(error),
          "): allow it with \"chmod 666 /dev/net/tun\" (as root; udev does it "
          "by default); a container needs \"--device /dev/net/tun\""));
  }
}

// Sets the MTU, and brings the interface up.
absl::Status Raise(int socket, const std::string& name, int mtu) {
  ifreq request = RequestFor(name);
  request.ifr_mtu = mtu;
  if (mtu != 0 && ioctl(socket, SIOCSIFMTU, &request) != 0) {
    return absl::ErrnoToStatus(errno, absl::StrCat("the MTU of ", name));
  }
  request = RequestFor(name);
  if (ioctl(socket, SIOCGIFFLAGS, &request) != 0) {
    return absl::ErrnoToStatus(errno, name);
  }
  request.ifr_flags = static_cast<short>(request.ifr_flags | IFF_UP);
  if (ioctl(socket, SIOCSIFFLAGS, &request) != 0) {
    return absl::ErrnoToStatus(errno, absl::StrCat("bringing up ", name));
  }
  return absl::OkStatus();
}

absl::Status SetMac(int socket, const std::string& name,
                    const std::string& text) {
  const ether_addr* const address = ether_aton(text.c_str());
  if (address == nullptr) {
    return absl::InvalidArgumentError(absl::StrCat(text, " is no MAC address"));
  }
  ifreq request = RequestFor(name);
  request.ifr_hwaddr.sa_family = ARPHRD_ETHER;
  std::memcpy(request.ifr_hwaddr.sa_data, address, sizeof *address);
  if (ioctl(socket, SIOCSIFHWADDR, &request) != 0) {
    return absl::ErrnoToStatus(errno, absl::StrCat("the address of ", name));
  }
  return absl::OkStatus();
}

// Without an effect where the file is missing or may not be written.
void WriteSetting(const std::string& path, std::string_view text) {
  const UniqueFd file(open(path.c_str(), O_WRONLY | O_CLOEXEC));
  if (file.valid()) (void)!write(file.get(), text.data(), text.size());
}

}  // namespace

absl::StatusOr<UniqueFd> MakeNetworkDevice(const std::string& name,
                                           NetworkDeviceKind kind) {
  UniqueFd tun(open(kTun, O_RDWR | O_NONBLOCK | O_CLOEXEC));
  if (!tun.valid()) return TunFailed(errno);
  ifreq request = RequestFor(name);
  constexpr short kTunFlags = IFF_TUN | IFF_NO_PI;
  constexpr short kTapFlags = IFF_TAP | IFF_NO_PI;
  request.ifr_flags = kind == NetworkDeviceKind::kIpoib ? kTunFlags : kTapFlags;
  if (ioctl(tun.get(), TUNSETIFF, &request) != 0) return TunFailed(errno);
  if (kind == NetworkDeviceKind::kEthernet) return tun;
  // What programs that look for InfiniBand look at.
  if (ioctl(tun.get(), TUNSETLINK, ARPHRD_INFINIBAND) != 0) {
    return absl::ErrnoToStatus(errno, "TUNSETLINK");
  }
  return tun;
}

absl::Status BringUpNetwork(const std::vector<NetworkDevice>& devices) {
  const UniqueFd socket(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (!socket.valid()) return absl::ErrnoToStatus(errno, "socket");
  IBEMU_RETURN_IF_ERROR(Raise(socket.get(), "lo", 0));
  // A new namespace lets nobody ping without a privilege; Debian, everybody.
  // Of a user namespace, there are no groups but its own.
  for (const gid_t last : {getegid(), gid_t{0x7fffffff}}) {
    WriteSetting("/proc/sys/net/ipv4/ping_group_range",
                 absl::StrCat(last == getegid() ? last : 0, " ", last));
  }
  IBEMU_ASSIGN_OR_RETURN(const AddressNetlink netlink, AddressNetlink::Open());
  for (const NetworkDevice& device : devices) {
    if (!device.mac.empty()) {
      IBEMU_RETURN_IF_ERROR(SetMac(socket.get(), device.name, device.mac));
    } else {
      // From its own address it is told who can't be reached; what comes so
      // from others does not get this far.
      WriteSetting(absl::StrCat("/proc/sys/net/ipv4/conf/", device.name,
                                "/accept_local"),
                   "1");
    }
    const std::string ipv6 =
        absl::StrCat("/proc/sys/net/ipv6/conf/", device.name);
    WriteSetting(ipv6 + "/disable_ipv6", "0");
    // There is no router to be found.
    WriteSetting(ipv6 + "/router_solicitations", "0");
    IBEMU_RETURN_IF_ERROR(Raise(socket.get(), device.name, device.mtu));
    for (const std::string& address : device.addresses) {
      const absl::Status added = netlink.Add(device.name, address);
      if (absl::IsUnimplemented(added)) continue;  // a kernel without IPv6
      IBEMU_RETURN_IF_ERROR(added);
    }
  }
  return absl::OkStatus();
}

absl::Status TryNetwork() {
  IBEMU_RETURN_IF_ERROR(EnterNamespaces(Network::kOwn).status());
  return MakeNetworkDevice("ib0", NetworkDeviceKind::kIpoib).status();
}

}  // namespace ibemu::launch

#include "launch/network/address_netlink.h"

#include <arpa/inet.h>
#include <linux/if_addr.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <optional>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace ibemu::launch {
namespace {

struct AddressWithPrefix {
  int family = 0;
  std::array<uint8_t, 16> address{};
  size_t bytes = 0;  // of the address
  int prefix = 0;
};

std::optional<AddressWithPrefix> Parse(const std::string& text) {
  const size_t slash = text.find('/');
  AddressWithPrefix network;
  if (slash == std::string::npos ||
      !absl::SimpleAtoi(text.substr(slash + 1), &network.prefix)) {
    return std::nullopt;
  }
  const std::string address = text.substr(0, slash);
  for (const int family : {AF_INET, AF_INET6}) {
    network.family = family;
    network.bytes = family == AF_INET ? 4 : 16;
    if (inet_pton(family, address.c_str(), network.address.data()) != 1) {
      continue;
    }
    const int bits = static_cast<int>(network.bytes) * 8;
    if (network.prefix < 0 || network.prefix > bits) return std::nullopt;
    return network;
  }
  return std::nullopt;
}

// A request for one address, as the kernel reads it.
struct Request {
  nlmsghdr header{};
  ifaddrmsg message{};
  std::array<std::byte, 64> attributes{};

  void Add(unsigned short type, const uint8_t* value, size_t size) {
    const size_t at =
        NLMSG_ALIGN(header.nlmsg_len) - NLMSG_LENGTH(sizeof message);
    const rtattr attribute{static_cast<unsigned short>(RTA_LENGTH(size)), type};
    std::memcpy(attributes.data() + at, &attribute, sizeof attribute);
    std::memcpy(attributes.data() + at + RTA_LENGTH(0), value, size);
    header.nlmsg_len = static_cast<uint32_t>(NLMSG_ALIGN(header.nlmsg_len) +
                                             RTA_ALIGN(RTA_LENGTH(size)));
  }
};
static_assert(offsetof(Request, message) == NLMSG_LENGTH(0));
static_assert(offsetof(Request, attributes) == NLMSG_LENGTH(sizeof(ifaddrmsg)));

std::array<uint8_t, 16> BroadcastOf(const AddressWithPrefix& network) {
  std::array<uint8_t, 16> last = network.address;
  for (int bit = network.prefix; bit < 32; ++bit) {
    last[static_cast<size_t>(bit / 8)] |= static_cast<uint8_t>(0x80 >> bit % 8);
  }
  return last;
}

Request RequestOf(const AddressWithPrefix& network, unsigned index) {
  Request request;
  request.header.nlmsg_len = NLMSG_LENGTH(sizeof request.message);
  request.header.nlmsg_type = RTM_NEWADDR;
  request.header.nlmsg_flags =
      NLM_F_REQUEST | NLM_F_ACK | NLM_F_CREATE | NLM_F_EXCL;
  request.message.ifa_family = static_cast<uint8_t>(network.family);
  request.message.ifa_prefixlen = static_cast<uint8_t>(network.prefix);
  request.message.ifa_flags = network.family == AF_INET6 ? IFA_F_NODAD : 0;
  request.message.ifa_index = index;
  request.Add(IFA_LOCAL, network.address.data(), network.bytes);
  request.Add(IFA_ADDRESS, network.address.data(), network.bytes);
  if (network.family == AF_INET && network.prefix < 31) {
    request.Add(IFA_BROADCAST, BroadcastOf(network).data(), network.bytes);
  }
  return request;
}

}  // namespace

absl::StatusOr<AddressNetlink> AddressNetlink::Open() {
  UniqueFd netlink(socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE));
  if (!netlink.valid()) return absl::ErrnoToStatus(errno, "netlink");
  return AddressNetlink(std::move(netlink));
}

absl::Status AddressNetlink::Add(const std::string& interface,
                                 const std::string& address) const {
  const auto network = Parse(address);
  if (!network) {
    return absl::InvalidArgumentError(
        absl::StrCat(address, " is no address of an interface"));
  }
  const auto fails = [&](int error) {
    return absl::ErrnoToStatus(
        error, absl::StrCat("giving ", interface, " the address ", address));
  };
  const unsigned index = if_nametoindex(interface.c_str());
  if (index == 0) return fails(errno);
  const Request request = RequestOf(*network, index);
  sockaddr_nl kernel{};
  kernel.nl_family = AF_NETLINK;
  if (sendto(socket_.get(), &request, request.header.nlmsg_len, 0,
             reinterpret_cast<const sockaddr*>(&kernel), sizeof kernel) < 0) {
    return fails(errno);
  }
  struct {
    nlmsghdr header;
    nlmsgerr error;
    std::array<std::byte, 512> rest;
  } answer{};
  if (recv(socket_.get(), &answer, sizeof answer, 0) < 0) return fails(errno);
  if (answer.header.nlmsg_type != NLMSG_ERROR) return fails(EPROTO);
  return answer.error.error == 0 ? absl::OkStatus()
                                 : fails(-answer.error.error);
}

}  // namespace ibemu::launch

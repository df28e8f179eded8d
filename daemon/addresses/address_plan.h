// AddressPlan: the IP addresses of each port.
#ifndef IBEMU_DAEMON_ADDRESSES_ADDRESS_PLAN_H_
#define IBEMU_DAEMON_ADDRESSES_ADDRESS_PLAN_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "daemon/adapters/adapters.h"
#include "wire/ip_address.h"

namespace ibemu::daemon {

// An AddressPlan knows the addresses of the ports of a daemon's adapters.  It
// is a value: numbered, or as it was told with Add().
class AddressPlan {
 public:
  // The interface that an address leads to: a port's first one (ib0), or that
  // of a further partition (ib0.8001).
  struct Owner {
    AdapterId adapter{};
    int port = 0;
    // The P_Key of the further partition, without the bit of full members; 0:
    // it is the first interface.
    uint16_t partition = 0;
    // NOLINTNEXTLINE(modernize-use-nullptr): the compiler's own comparison
    auto operator<=>(const Owner&) const = default;
  };
  struct HostAddress {
    wire::IpAddress address;
    AdapterId adapter{};
    // The name of a host that is none of the daemon's: AddElsewhere().
    std::string elsewhere{};
    std::optional<wire::IpNetwork> link_local{};  // of such a host
  };

  // Of hosts, in the /etc/hosts of a run.  Each look-up of a name reads it.
  static constexpr size_t kMaxNames = 4096;

  // The network of the usual plan.
  static constexpr wire::IpNetwork kUsual = {
      .address = wire::IpAddress::Ipv4(0xc6120000), .prefix = 15};
  // The network in which a plan by number has the further partitions.
  static constexpr wire::IpNetwork kPartitions = {
      .address = wire::IpAddress::Ipv4(0x64400000), .prefix = 10};

  // A plan in which nobody has an address.
  AddressPlan() = default;

  // Returns a plan by number.  The halves of `network`, which is of IPv4, are
  // two rails: port 1 of the n-th of `adapters` has the n-th address of the
  // lower half, its port 2 the n-th of the upper one, and other ports have
  // none.  Both have fd1b:e000:0:PORT::n/64, too.  Adapters beyond the last
  // address have none.
  //
  // In partition p each has fd1b:e000:p:PORT::n/64 and, if p is at most 31, the
  // n-th address of 100.(64+p).0.0/16 by port 1 and of 100.(96+p).0.0/16 by
  // port 2: unless `network` or some address of Add() is among those.
  static AddressPlan Numbered(const wire::IpNetwork& network,
                              const std::vector<AdapterId>& adapters);

  // Gives an interface one more address.
  //
  // Errors: AlreadyExists, some interface has it: OwnerOf() tells which.
  absl::Status Add(Owner owner, const wire::IpNetwork& network);
  // Returns the interface that Add() gave `address`, or null.
  const Owner* OwnerOf(const wire::IpAddress& address) const;

  // Returns the interface that has `address`, however it came to it, if there
  // is one.
  std::optional<Owner> PortWith(const wire::IpAddress& address) const;

  // Adds a host of the subnet whose adapter another daemon has.  Its addresses
  // are nobody's here: others only need to know them.
  void AddElsewhere(const wire::IpAddress& address,
                    const std::optional<wire::IpNetwork>& link_local,
                    std::string name) {
    elsewhere_.push_back({.address = address,
                          .elsewhere = std::move(name),
                          .link_local = link_local});
  }

  // The addresses of an interface, IPv4 first.
  std::vector<wire::IpNetwork> AddressesOf(Owner owner) const;

  // Returns the address of an adapter in IPv4's link-local network (RFC 3927)
  // by its place in a plan by number, 169.254.1.0/16 of the first, or as it was
  // set; nothing where there is none.
  std::optional<wire::IpNetwork> LinkLocalOf(AdapterId adapter) const;
  void SetLinkLocal(AdapterId adapter, const wire::IpNetwork& network) {
    link_locals_[adapter] = network;
  }

  // Returns the adapters that have an IPv4 address, each with its first one, in
  // the order of the addresses, then those elsewhere, at most `limit` in all.
  // Of a further partition, those with IPv6 alone are among them, and none
  // elsewhere.
  std::vector<HostAddress> Hosts(size_t limit, uint16_t partition = 0) const;

 private:
  // Returns the IPv4 network of the interfaces of a partition by a port of that
  // number, if a plan by number has one.
  std::optional<wire::IpNetwork> RailOf(int port, uint16_t partition) const;
  // What a plan by number would give an interface.
  std::vector<wire::IpNetwork> NumberedOf(Owner owner) const;
  // Returns the interface to which a plan by number would give `address`.
  std::optional<Owner> NumberedWith(const wire::IpAddress& address) const;

  wire::IpNetwork network_{};        // of a plan by number
  bool has_partitions_ = true;       // kPartitions is not used otherwise
  std::vector<AdapterId> numbered_;  // in that order
  std::vector<uint32_t> numbers_;    // by adapter; 0: none
  std::map<Owner, std::vector<wire::IpNetwork>> added_;
  std::map<wire::IpAddress, Owner> owners_;  // of `added_`
  std::vector<HostAddress> elsewhere_;
  std::map<AdapterId, wire::IpNetwork> link_locals_;  // that were set
};

}  // namespace ibemu::daemon

#endif  // IBEMU_DAEMON_ADDRESSES_ADDRESS_PLAN_H_

#include "daemon/addresses/load_addresses.h"

#include <cstddef>
#include <fstream>
#include <iterator>
#include <optional>
#include <set>

#include "absl/strings/str_cat.h"
#include "daemon/addresses/address_file.h"
#include "daemon/words/partition_text.h"
#include "wire/ip_text.h"

namespace ibemu::daemon {
namespace {

absl::Status CheckNetwork(const wire::IpNetwork& network, size_t adapters) {
  const std::string option = "--addresses=" + NetworkText(network);
  if (adapters == 0) {
    return absl::InvalidArgumentError(absl::StrCat(
        option, ": there is no subnet to number: name addresses in a file"));
  }
  if (!network.address.is_ipv4()) {
    return absl::InvalidArgumentError(
        absl::StrCat(option, ": a network is of IPv4: name others in a file"));
  }
  // Two rails; the first and the last address of each is nobody's.
  const int bits = 32 - network.prefix - 1;
  const size_t room = bits < 2 ? 0 : (size_t{1} << bits) - 2;
  if (room < adapters) {
    return absl::InvalidArgumentError(
        absl::StrCat(option, ": ", adapters,
                     " channel adapters do not fit into half of it (", room,
                     " addresses): take a shorter prefix"));
  }
  const uint32_t hosts =
      network.prefix == 0 ? ~uint32_t{0} : ~uint32_t{0} >> network.prefix;
  if ((network.address.ipv4() & hosts) != 0) {
    return absl::InvalidArgumentError(absl::StrCat(
        option, ": a network has no bits beyond its prefix: ",
        wire::NetworkText(
            {wire::IpAddress::Ipv4(network.address.ipv4() & ~hosts),
             network.prefix})));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<AddressPlan> LoadAddresses(
    const std::string& choice, Adapters& adapters,
    const std::vector<AdapterId>& numbered) {
  if (const std::optional<wire::IpNetwork> network =
          wire::ParseNetwork(choice)) {
    const absl::Status fits = CheckNetwork(*network, numbered.size());
    if (!fits.ok()) return fits;
    return AddressPlan::Numbered(*network, numbered);
  }
  std::ifstream file(choice);
  if (!file) {
    return absl::NotFoundError(absl::StrCat(
        "--addresses=", choice,
        ": this is neither a file that can be read nor a network such as "
        "10.0.0.0/8"));
  }
  return ParseAddressFile(std::string(std::istreambuf_iterator<char>(file), {}),
                          choice, adapters);
}

absl::Status Replace(const std::vector<topology::PortAddresses>& addresses,
                     const Adapters& adapters, AddressPlan& plan) {
  if (addresses.empty()) return absl::OkStatus();
  const auto owner_of = [](const topology::PortAddresses& port) {
    return AddressPlan::Owner{static_cast<AdapterId>(port.node), port.port};
  };
  std::set<AddressPlan::Owner> replaced;
  for (const topology::PortAddresses& port : addresses) {
    replaced.insert(owner_of(port));
  }
  const AddressPlan before = plan;
  for (const topology::PortAddresses& port : addresses) {
    for (const wire::IpNetwork& network : port.networks) {
      const auto other = before.PortWith(network.address);
      // Of IPv4, the plan leaves out partitions then.
      const bool yields =
          other && other->partition != 0 && network.address.is_ipv4();
      if (other && !yields && !replaced.contains(*other)) {
        return absl::InvalidArgumentError(absl::StrCat(
            "the topology gives ", AddressText(network.address), " to ",
            adapters.description(owner_of(port).adapter), "/",
            static_cast<int>(port.port), ", but by number it is ",
            adapters.description(other->adapter), "/", other->port,
            other->partition == 0
                ? ""
                : absl::StrCat(":", PartitionText(other->partition)),
            "'s: give that port another address, too"));
      }
      if (absl::Status added = plan.Add(owner_of(port), network); !added.ok()) {
        return added;
      }
    }
  }
  return absl::OkStatus();
}

}  // namespace ibemu::daemon

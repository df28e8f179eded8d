#include "daemon/addresses/load_addresses.h"

#include <cstddef>
#include <fstream>
#include <iterator>
#include <optional>

#include "absl/strings/str_cat.h"
#include "daemon/addresses/address_file.h"
#include "daemon/addresses/address_text.h"

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
        NetworkText({wire::IpAddress::Ipv4(network.address.ipv4() & ~hosts),
                     network.prefix})));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<AddressPlan> LoadAddresses(
    const std::string& choice, Adapters& adapters,
    const std::vector<AdapterId>& numbered) {
  if (const std::optional<wire::IpNetwork> network = ParseNetwork(choice)) {
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

}  // namespace ibemu::daemon

#include "topology/draft_addresses.h"

#include <map>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/absl_text.h"
#include "wire/ip_text.h"

namespace ibemu::topology {
namespace {

class AddressResolver {
 public:
  AddressResolver(FaultList& faults, const Topology& topology)
      : faults_(faults), topology_(topology) {}

  void Add(const DraftAddress& address) {
    const NodeSpec& node = topology_.node(address.node);
    if (node.type != mad::NodeType::kChannelAdapter) {
      return faults_.Add(
          address.at,
          absl::StrFormat("\"%s\" can't have the address %s: only ports of "
                          "channel adapters have addresses",
                          node.description, address.text));
    }
    if (address.port < 1 || address.port > node.port_count) {
      const std::string ports =
          node.port_count == 1 ? "port 1 only"
                               : absl::StrCat("ports 1 to ", node.port_count);
      return faults_.Add(
          address.at,
          absl::StrFormat(
              "port %d of \"%s\" can't have the address %s: it has %s",
              address.port, node.description, address.text, ports));
    }
    const std::optional<wire::IpNetwork> network = Read(address);
    if (!network) return;
    const auto [owner, is_new] =
        owners_.emplace(network->address, Owner{address, node.description});
    if (!is_new) {
      return faults_.Add(
          address.at,
          absl::StrFormat(
              "%s is %s/%d's already: an address is of one port (%s)",
              AddressText(network->address), owner->second.node,
              owner->second.address.port,
              faults_.Refer(address.at, owner->second.address.at)));
    }
    ports_[{address.node, static_cast<uint8_t>(address.port)}].push_back(
        *network);
  }

  std::vector<PortAddresses> Take() {
    std::vector<PortAddresses> all;
    for (auto& [port, networks] : ports_) {
      all.push_back({port.first, port.second, std::move(networks)});
    }
    return all;
  }

 private:
  struct Owner {
    DraftAddress address;
    std::string node;
  };

  std::optional<wire::IpNetwork> Read(const DraftAddress& address) {
    const std::optional<wire::IpNetwork> network =
        wire::ParseNetwork(address.text);
    if (!network) {
      faults_.Add(address.at,
                  absl::StrFormat("\"%s\" is no address of a port: it has a "
                                  "prefix, as in 10.1.0.1/16 or fd00::1/64",
                                  address.text));
      return std::nullopt;
    }
    if (const std::string_view why = wire::WhyNobodys(*network); !why.empty()) {
      faults_.Add(address.at, absl::StrCat(AddressText(network->address), " ",
                                           Absl(why), ": no port may have it"));
      return std::nullopt;
    }
    return network;
  }

  FaultList& faults_;
  const Topology& topology_;
  std::map<wire::IpAddress, Owner> owners_;
  std::map<std::pair<NodeId, uint8_t>, std::vector<wire::IpNetwork>> ports_;
};

}  // namespace

void ResolveAddresses(const Draft& draft, FaultList& faults,
                      Topology& topology) {
  AddressResolver resolver(faults, topology);
  for (const DraftAddress& address : draft.addresses) resolver.Add(address);
  topology.addresses = resolver.Take();
}

}  // namespace ibemu::topology

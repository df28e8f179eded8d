#include "daemon/addresses/address_plan.h"

#include <algorithm>
#include <array>
#include <set>

namespace ibemu::daemon {
namespace {

constexpr int kRails = 2;

// fd1b:e000:0:PORT::n/64
wire::IpNetwork UniqueLocal(int port, uint32_t number) {
  std::array<uint8_t, 16> bytes = {0xfd, 0x1b, 0xe0, 0x00};
  bytes[7] = static_cast<uint8_t>(port);
  for (size_t i = 0; i < 4; ++i) {
    bytes[15 - i] = static_cast<uint8_t>(number >> (8 * i));
  }
  return {wire::IpAddress::Ipv6(bytes), 64};
}

}  // namespace

AddressPlan AddressPlan::Numbered(const wire::IpNetwork& network,
                                  const std::vector<AdapterId>& adapters) {
  AddressPlan plan;
  plan.network_ = network;
  plan.numbered_ = adapters;
  for (size_t i = 0; i < adapters.size(); ++i) {
    const auto adapter = static_cast<size_t>(adapters[i]);
    if (adapter >= plan.numbers_.size()) plan.numbers_.resize(adapter + 1);
    plan.numbers_[adapter] = static_cast<uint32_t>(i + 1);
  }
  return plan;
}

uint32_t AddressPlan::Room() const {
  const int bits = 32 - (network_.prefix + 1);
  return bits < 2 ? 0 : (uint32_t{1} << bits) - 2;
}

absl::Status AddressPlan::Add(Owner owner, const wire::IpNetwork& network) {
  if (!owners_.emplace(network.address, owner).second) {
    return absl::AlreadyExistsError("the address is somebody's");
  }
  std::vector<wire::IpNetwork>& addresses = added_[owner];
  addresses.push_back(network);
  std::stable_partition(
      addresses.begin(), addresses.end(),
      [](const wire::IpNetwork& one) { return one.address.is_ipv4(); });
  return absl::OkStatus();
}

const AddressPlan::Owner* AddressPlan::OwnerOf(
    const wire::IpAddress& address) const {
  const auto owner = owners_.find(address);
  return owner == owners_.end() ? nullptr : &owner->second;
}

std::optional<AddressPlan::Owner> AddressPlan::PortWith(
    const wire::IpAddress& address) const {
  if (const Owner* const owner = OwnerOf(address)) return *owner;
  const std::optional<Owner> owner = NumberedWith(address);
  if (!owner || added_.contains(*owner)) return std::nullopt;
  return owner;
}

std::optional<AddressPlan::Owner> AddressPlan::NumberedWith(
    const wire::IpAddress& address) const {
  if (numbered_.empty()) return std::nullopt;
  uint32_t number = 0;
  int port = 0;
  if (address.is_ipv4()) {
    const int host_bits = 32 - (network_.prefix + 1);
    if (!network_.Contains(address) || host_bits < 2) return std::nullopt;
    const uint32_t place = address.ipv4() - network_.address.ipv4();
    port = 1 + static_cast<int>(place >> host_bits);
    number = place & ((uint32_t{1} << host_bits) - 1);
  } else {
    port = address.bytes[7];
    for (size_t i = 12; i < 16; ++i) number = number << 8 | address.bytes[i];
    if (address != UniqueLocal(port, number).address) return std::nullopt;
  }
  if (port < 1 || port > kRails || number < 1 || number > numbered_.size()) {
    return std::nullopt;
  }
  return Owner{numbered_[number - 1], port};
}

std::vector<wire::IpNetwork> AddressPlan::AddressesOf(Owner owner) const {
  if (const auto added = added_.find(owner); added != added_.end()) {
    return added->second;
  }
  const auto adapter = static_cast<size_t>(owner.adapter);
  const uint32_t number = adapter < numbers_.size() ? numbers_[adapter] : 0;
  if (number == 0 || owner.port < 1 || owner.port > kRails) return {};
  std::vector<wire::IpNetwork> addresses;
  if (number <= Room()) {
    const int prefix = network_.prefix + 1;
    const uint32_t rail = static_cast<uint32_t>(owner.port - 1)
                          << (32 - prefix);
    addresses.push_back(
        {wire::IpAddress::Ipv4(network_.address.ipv4() + rail + number),
         prefix});
  }
  addresses.push_back(UniqueLocal(owner.port, number));
  return addresses;
}

std::vector<AddressPlan::HostAddress> AddressPlan::Hosts(size_t limit) const {
  std::vector<HostAddress> hosts;
  const size_t numbered =
      std::min({limit, numbered_.size(), static_cast<size_t>(Room())});
  std::set<AdapterId> told;
  for (size_t i = 0; i < numbered; ++i) {
    const wire::IpAddress first =
        AddressesOf({numbered_[i], 1}).front().address;
    if (!first.is_ipv4()) continue;
    hosts.push_back({first, numbered_[i]});
    told.insert(numbered_[i]);
  }
  for (const auto& [address, owner] : owners_) {
    if (hosts.size() >= limit) break;
    if (!address.is_ipv4() || !told.insert(owner.adapter).second) continue;
    hosts.push_back({address, owner.adapter});
  }
  return hosts;
}

}  // namespace ibemu::daemon

#include "daemon/addresses/address_plan.h"

#include <algorithm>
#include <array>
#include <set>

namespace ibemu::daemon {
namespace {

constexpr int kRails = 2;
constexpr uint16_t kMaxPartitions = 32;  // of kPartitions, for each rail

// fd1b:e000:PARTITION:PORT::n/64
wire::IpNetwork UniqueLocal(int port, uint16_t partition, uint32_t number) {
  std::array<uint8_t, 16> bytes = {0xfd, 0x1b, 0xe0, 0x00};
  bytes[4] = static_cast<uint8_t>(partition >> 8);
  bytes[5] = static_cast<uint8_t>(partition);
  bytes[7] = static_cast<uint8_t>(port);
  for (size_t i = 0; i < 4; ++i) {
    bytes[15 - i] = static_cast<uint8_t>(number >> (8 * i));
  }
  return {wire::IpAddress::Ipv6(bytes), 64};
}

// The addresses of a network of IPv4, that of the network and that for
// broadcasts not counted.
uint32_t RoomOf(const wire::IpNetwork& network) {
  return (uint32_t{1} << (32 - network.prefix)) - 2;
}

bool Overlap(const wire::IpNetwork& a, const wire::IpNetwork& b) {
  return a.Contains(b.address) || b.Contains(a.address);
}

}  // namespace

AddressPlan AddressPlan::Numbered(const wire::IpNetwork& network,
                                  const std::vector<AdapterId>& adapters) {
  AddressPlan plan;
  plan.network_ = network;
  plan.has_partitions_ = !Overlap(network, kPartitions);
  plan.numbered_ = adapters;
  for (size_t i = 0; i < adapters.size(); ++i) {
    const auto adapter = static_cast<size_t>(adapters[i]);
    if (adapter >= plan.numbers_.size()) plan.numbers_.resize(adapter + 1);
    plan.numbers_[adapter] = static_cast<uint32_t>(i + 1);
  }
  return plan;
}

std::optional<wire::IpNetwork> AddressPlan::RailOf(int port,
                                                   uint16_t partition) const {
  if (port < 1 || port > kRails) return std::nullopt;
  const auto rail = static_cast<uint32_t>(port - 1);
  wire::IpNetwork network = network_;
  uint32_t number = rail;
  if (partition == 0) {
    ++network.prefix;
  } else {
    if (!has_partitions_ || partition >= kMaxPartitions) return std::nullopt;
    network = {.address = kPartitions.address, .prefix = 16};
    number = rail * kMaxPartitions + partition;
  }
  constexpr int kLongest = 30;  // of a network with room
  if (network.prefix > kLongest) return std::nullopt;
  network.address = wire::IpAddress::Ipv4(network.address.ipv4() +
                                          (number << (32 - network.prefix)));
  return network;
}

absl::Status AddressPlan::Add(Owner owner, const wire::IpNetwork& network) {
  if (!owners_.emplace(network.address, owner).second) {
    return absl::AlreadyExistsError("the address is somebody's");
  }
  if (kPartitions.Contains(network.address)) has_partitions_ = false;
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
  Owner owner;
  uint32_t number = 0;
  if (address.is_ipv4()) {
    const bool further =
        !network_.Contains(address) && kPartitions.Contains(address);
    const uint32_t first = (further ? kPartitions : network_).address.ipv4();
    const int host_bits = further ? 16 : 32 - (network_.prefix + 1);
    if (address.ipv4() < first || host_bits < 2) return std::nullopt;
    const uint32_t place = (address.ipv4() - first) >> host_bits;
    number = (address.ipv4() - first) & ((uint32_t{1} << host_bits) - 1);
    const uint32_t partitions = further ? kMaxPartitions : 1;
    owner.port = 1 + static_cast<int>(place / partitions);
    owner.partition = static_cast<uint16_t>(place % partitions);
  } else {
    constexpr uint8_t kFullMember = 0x80;  // no part of a partition's number
    if ((address.bytes[4] & kFullMember) != 0) return std::nullopt;
    owner.port = address.bytes[7];
    owner.partition =
        static_cast<uint16_t>(address.bytes[4] << 8 | address.bytes[5]);
    for (size_t i = 12; i < 16; ++i) number = number << 8 | address.bytes[i];
  }
  if (number < 1 || number > numbered_.size()) return std::nullopt;
  owner.adapter = numbered_[number - 1];
  if (!wire::IsOwnAddress(address, NumberedOf(owner))) return std::nullopt;
  return owner;
}

std::vector<wire::IpNetwork> AddressPlan::NumberedOf(Owner owner) const {
  const auto adapter = static_cast<size_t>(owner.adapter);
  const uint32_t number = adapter < numbers_.size() ? numbers_[adapter] : 0;
  if (number == 0 || owner.port < 1 || owner.port > kRails) return {};
  std::vector<wire::IpNetwork> addresses;
  const auto rail = RailOf(owner.port, owner.partition);
  if (rail && number <= RoomOf(*rail)) {
    addresses.push_back(
        {wire::IpAddress::Ipv4(rail->address.ipv4() + number), rail->prefix});
  }
  addresses.push_back(UniqueLocal(owner.port, owner.partition, number));
  return addresses;
}

std::vector<wire::IpNetwork> AddressPlan::AddressesOf(Owner owner) const {
  const auto added = added_.find(owner);
  return added != added_.end() ? added->second : NumberedOf(owner);
}

// The first and the last 256 addresses are reserved.
std::optional<wire::IpNetwork> AddressPlan::LinkLocalOf(
    AdapterId adapter) const {
  if (const auto set = link_locals_.find(adapter); set != link_locals_.end()) {
    return set->second;
  }
  constexpr uint32_t kFirst = 0xa9fe'0100, kEnd = 0xa9fe'ff00;
  const auto place = static_cast<size_t>(adapter);
  const uint32_t number = place < numbers_.size() ? numbers_[place] : 0;
  if (number == 0 || number - 1 >= kEnd - kFirst) return std::nullopt;
  return wire::IpNetwork{wire::IpAddress::Ipv4(kFirst + number - 1), 16};
}

std::vector<AddressPlan::HostAddress> AddressPlan::Hosts(
    size_t limit, uint16_t partition) const {
  const auto counts = [&](const wire::IpAddress& address) {
    return address.is_ipv4() || partition != 0;
  };
  std::vector<HostAddress> hosts;
  std::set<AdapterId> told;
  for (const AdapterId adapter : numbered_) {
    if (hosts.size() >= limit) break;
    const wire::IpAddress first =
        AddressesOf({adapter, 1, partition}).front().address;
    if (!counts(first)) continue;
    hosts.push_back({.address = first, .adapter = adapter});
    told.insert(adapter);
  }
  for (const auto& [address, owner] : owners_) {
    if (hosts.size() >= limit) break;
    if (owner.partition != partition || !counts(address) ||
        !told.insert(owner.adapter).second) {
      continue;
    }
    hosts.push_back({.address = address, .adapter = owner.adapter});
  }
  if (partition != 0) return hosts;
  const size_t room = std::min(limit - hosts.size(), elsewhere_.size());
  hosts.insert(hosts.end(), elsewhere_.begin(),
               elsewhere_.begin() + static_cast<ptrdiff_t>(room));
  return hosts;
}

}  // namespace ibemu::daemon

#include "sysfs/network_tree.h"

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/status_macros.h"
#include "sysfs/entries.h"
#include "sysfs/live.h"
#include "sysfs/pci.h"

namespace ibemu::sysfs {
namespace {

constexpr size_t kUsualMtu = 2044;  // of IPoIB, until its group is known

// Adds a file whose line depends on what the interface is at each read.
void AddFact(Entry& directory, std::string_view name, const ViewDevice& device,
             const NetworkInterface& network,
             std::function<std::string(const NetworkFacts&)> line) {
  AddLive(directory, name, device,
          [facts = network.facts,
           line = std::move(line)]() -> absl::StatusOr<std::string> {
            const auto now = facts();
            if (now) return line(*now);
            return absl::UnavailableError("the interface is gone");
          });
}

template <class Value>
void AddNumber(Entry& directory, std::string_view name,
               const ViewDevice& device, const NetworkInterface& network,
               Value NetworkFacts::*member) {
  AddFact(directory, name, device, network,
          [member](const NetworkFacts& facts) {
            return absl::StrCat(facts.*member);
          });
}

// What an interface of IPoIB always says on Linux, and one of Ethernet.
void AddConstants(Entry& directory, const NetworkInterface& network) {
  const bool is_ethernet = network.is_ethernet;
  AddLine(directory, "type", is_ethernet ? "1" : "32");  // of ARPHRD_
  AddLine(directory, "addr_len", is_ethernet ? "6" : "20");
  AddLine(directory, "addr_assign_type", is_ethernet ? "3" : "0");
  AddLine(directory, "dev_id", absl::StrFormat("0x%x", network.port - 1));
  AddLine(directory, "dev_port", absl::StrCat(network.port - 1));
  if (!is_ethernet) {
    AddLine(directory, "umcast", "0");
  }
  AddLine(directory, "flags", "0x1003");  // up, broadcast, multicast
  AddLine(directory, "dormant", "0");
  AddLine(directory, "testing", "0");
  AddLine(directory, "link_mode", "0");
  AddLine(directory, "netdev_group", "0");
  AddLine(directory, "tx_queue_len", is_ethernet ? "1000" : "256");
  AddLine(directory, "ifalias", "");
  AddLine(directory, "uevent", absl::StrCat("INTERFACE=", network.name));
  if (!network.parent.empty()) AddLine(directory, "parent", network.parent);
}

// The names of the kernel's rtnl_link_stats64 that are always 0 here.
constexpr std::string_view kNeverCounted[] = {
    "collisions",        "multicast",         "rx_compressed",
    "rx_crc_errors",     "rx_dropped",        "rx_errors",
    "rx_fifo_errors",    "rx_frame_errors",   "rx_length_errors",
    "rx_missed_errors",  "rx_nohandler",      "rx_over_errors",
    "tx_aborted_errors", "tx_carrier_errors", "tx_compressed",
    "tx_errors",         "tx_fifo_errors",    "tx_heartbeat_errors",
    "tx_window_errors"};

void AddStatistics(Entry& directory, const ViewDevice& device,
                   const NetworkInterface& network) {
  AddNumber(directory, "rx_packets", device, network,
            &NetworkFacts::rx_packets);
  AddNumber(directory, "rx_bytes", device, network, &NetworkFacts::rx_bytes);
  AddNumber(directory, "tx_packets", device, network,
            &NetworkFacts::tx_packets);
  AddNumber(directory, "tx_bytes", device, network, &NetworkFacts::tx_bytes);
  AddNumber(directory, "tx_dropped", device, network,
            &NetworkFacts::tx_dropped);
  for (const std::string_view name : kNeverCounted) {
    AddLine(directory, name, "0");
  }
}

}  // namespace

void AddNetworks(Entry& root) {
  Directory(root, kNetworks).changes = true;
  AddLink(root, absl::StrCat(kNetworks, "/lo"), "devices/virtual/net/lo");
}

void AddNetwork(Entry& root, const ViewDevice& device,
                const NetworkInterface& network) {
  const std::string pci = PciPath(device.slot);
  const std::string path = absl::StrCat(pci, "/net/", network.name);
  Entry& directory = Directory(root, path);
  AddLink(root, absl::StrCat(kNetworks, "/", network.name), path);
  AddLink(root, path + "/device", pci);
  AddLink(root, path + "/subsystem", kNetworks);
  AddConstants(directory, network);
  AddFact(directory, "address", device, network,
          [](const NetworkFacts& facts) { return facts.address; });
  AddFact(directory, "broadcast", device, network,
          [](const NetworkFacts& facts) { return facts.broadcast; });
  if (!network.is_ethernet) {
    AddFact(directory, "pkey", device, network, [](const NetworkFacts& facts) {
      return absl::StrFormat("0x%04x", facts.pkey);
    });
    AddFact(directory, "mode", device, network, [](const NetworkFacts& facts) {
      return std::string(facts.connected ? "connected" : "datagram");
    });
  }
  AddFact(directory, "mtu", device, network, [](const NetworkFacts& facts) {
    return absl::StrCat(facts.mtu == 0 ? kUsualMtu : facts.mtu);
  });
  AddFact(directory, "carrier", device, network, [](const NetworkFacts& facts) {
    return std::string(facts.carrier ? "1" : "0");
  });
  AddFact(directory, "operstate", device, network,
          [](const NetworkFacts& facts) {
            return std::string(facts.carrier ? "up" : "down");
          });
  AddStatistics(Directory(directory, "statistics"), device, network);
}

}  // namespace ibemu::sysfs

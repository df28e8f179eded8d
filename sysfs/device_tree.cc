#include "sysfs/device_tree.h"

#include <string>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "sysfs/entries.h"
#include "sysfs/format.h"
#include "sysfs/live.h"
#include "sysfs/network_tree.h"
#include "sysfs/pci.h"
#include "sysfs/port_tree.h"
#include "sysfs/profile.h"
#include "sysfs/tree.h"

namespace ibemu::sysfs {
namespace {

std::string UverbsName(int number) { return absl::StrCat("uverbs", number); }

std::string NodeTypeText(mad::NodeType type) {
  switch (type) {
    case mad::NodeType::kSwitch:
      return "2: switch";
    case mad::NodeType::kRouter:
      return "3: router";
    case mad::NodeType::kChannelAdapter:
      break;
  }
  return "1: CA";
}

// Adds the directory of a device of `class_name` below the PCI function at
// `pci`, with the links that every class device has.
Entry& AddClassDevice(Entry& root, std::string_view pci,
                      std::string_view class_name, std::string_view device) {
  const std::string path = absl::StrFormat("%s/%s/%s", pci, class_name, device);
  const std::string class_path = absl::StrFormat("class/%s", class_name);
  AddLink(root, absl::StrFormat("%s/%s", class_path, device), path);
  AddLink(root, absl::StrCat(path, "/device"), pci);
  AddLink(root, absl::StrCat(path, "/subsystem"), class_path);
  return Directory(root, path);
}

// Adds the directory of a device that has a node in /dev/infiniband.
Entry& AddNode(Entry& root, const View& view, const ViewDevice& device,
               std::string_view class_name, const std::string& node,
               int minor_number) {
  Entry& directory =
      AddClassDevice(root, PciPath(device.slot), class_name, node);
  const auto other = view.numbers.find(node);
  const DeviceNumber number = other != view.numbers.end()
                                  ? other->second
                                  : DeviceNumber{kMajor, minor_number};
  AddLine(directory, "ibdev", device.name);
  AddLine(directory, "dev",
          absl::StrFormat("%d:%d", number.major_number, number.minor_number));
  AddLine(directory, "uevent",
          absl::StrFormat("MAJOR=%d\nMINOR=%d\nDEVNAME=infiniband/%s",
                          number.major_number, number.minor_number, node));
  return directory;
}

void AddNodeDescription(Entry& directory, const ViewDevice& device) {
  Entry& entry = AddLive(
      directory, "node_desc", device,
      [&adapter = device.host->device()]() -> absl::StatusOr<std::string> {
        std::string text = adapter.node_description();
        return text.substr(0, text.find('\0'));
      });
  entry.mode = 0644;
  entry.write = [host = device.host](std::string_view text) -> absl::Status {
    IBEMU_RETURN_IF_ERROR(CheckPresent(*host));
    host->device().SetNodeDescription(text);
    return absl::OkStatus();
  };
}

void AddIdentity(Entry& directory, const ViewDevice& device,
                 const ProfileFacts& facts) {
  mad::Device& adapter = device.host->device();
  const bool one_port = adapter.first_port() == adapter.last_port();
  const mad::DeviceLabel no_label;
  const mad::DeviceLabel& label =
      adapter.label() != nullptr ? *adapter.label() : no_label;
  const auto or_else = [](const std::string& own, std::string_view usual) {
    return own.empty() ? std::string(usual) : own;
  };
  const std::string hca_type = or_else(
      label.hca_type, one_port ? facts.hca_type_one_port : facts.hca_type);
  AddLine(directory, "node_type", NodeTypeText(adapter.type()));
  AddLine(directory, "node_guid", FormatGuid(adapter.node_guid()));
  AddLine(directory, "sys_image_guid", FormatGuid(adapter.system_image_guid()));
  AddLine(directory, "fw_ver",
          or_else(label.firmware, absl::StrJoin(facts.firmware, ".")));
  AddLine(directory, "hw_rev",
          or_else(label.hardware, facts.hardware_revision));
  if (!hca_type.empty()) AddLine(directory, "hca_type", hca_type);
  AddLine(directory, "board_id",
          or_else(label.board_id,
                  facts.board_id.empty() ? hca_type : facts.board_id));
  AddLine(directory, "uevent", absl::StrCat("NAME=", device.name));
}

}  // namespace

std::vector<std::string> DeviceDirectories(const ProfileFacts& facts) {
  std::vector<std::string> paths = PciDirectories(facts);
  for (const char* name :
       {"infiniband", "infiniband_mad", "infiniband_verbs"}) {
    paths.push_back(absl::StrCat("class/", name));
  }
  return paths;
}

void AddDevice(Entry& root, const View& view, const ViewDevice& device) {
  const ProfileFacts& facts = FactsOf(view.profile);
  const mad::Device& adapter = device.host->device();
  const std::string pci = PciPath(device.slot);
  AddPciFunction(root, facts, device.slot, view.cpu_count);

  Entry& directory = AddClassDevice(root, pci, "infiniband", device.name);
  AddIdentity(directory, device, facts);
  AddNodeDescription(directory, device);

  for (int port = adapter.first_port(); port <= adapter.last_port(); ++port) {
    AddPort(Directory(directory, absl::StrCat("ports/", port)), view, device,
            port);
  }
  for (const MadNode& node : MadNodesOf(device)) {
    Entry& entry = AddNode(root, view, device, "infiniband_mad", node.name,
                           node.minor_number);
    AddLine(entry, "port", absl::StrCat(node.port));
  }
  if (device.uverbs.has_value()) {
    Entry& node =
        AddNode(root, view, device, "infiniband_verbs",
                UverbsName(*device.uverbs), kFirstUverbs + *device.uverbs);
    AddLine(node, "abi_version", absl::StrCat(*facts.verbs_abi));
  }
  for (const NetworkInterface& network : device.networks) {
    AddNetwork(root, device, network);
  }
}

void RemoveDevice(Entry& root, const View& view, const ViewDevice& device) {
  RemovePciFunction(root, FactsOf(view.profile), device.slot);
  Remove(root, absl::StrCat("class/infiniband/", device.name));
  for (const MadNode& node : MadNodesOf(device)) {
    Remove(root, absl::StrCat("class/infiniband_mad/", node.name));
  }
  if (device.uverbs.has_value()) {
    Remove(root,
           absl::StrCat("class/infiniband_verbs/", UverbsName(*device.uverbs)));
  }
  for (const NetworkInterface& network : device.networks) {
    Remove(root, absl::StrCat(kNetworks, "/", network.name));
  }
}

}  // namespace ibemu::sysfs

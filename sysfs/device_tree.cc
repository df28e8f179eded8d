#include "sysfs/device_tree.h"

#include <string>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "sysfs/entries.h"
#include "sysfs/format.h"
#include "sysfs/live.h"
#include "sysfs/pci.h"
#include "sysfs/port_tree.h"
#include "sysfs/profile.h"

namespace ibemu::sysfs {
namespace {

// Linux's numbers: IB_UMAD_MAJOR and the first minors in user_mad.c and
// uverbs_main.c.
constexpr int kMajor = 231;
constexpr int kFirstIssm = 64, kFirstUverbs = 192;

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

// A directory of class `name` below the PCI function at `pci`, with the links
// that every class device has.
Entry& AddClassDevice(Entry& root, std::string_view pci,
                      std::string_view class_name, std::string_view device) {
  const std::string path = absl::StrFormat("%s/%s/%s", pci, class_name, device);
  const std::string class_path = absl::StrFormat("class/%s", class_name);
  AddLink(root, absl::StrFormat("%s/%s", class_path, device), path);
  AddLink(root, absl::StrCat(path, "/device"), pci);
  AddLink(root, absl::StrCat(path, "/subsystem"), class_path);
  return Directory(root, path);
}

// A device with a node in /dev/infiniband.
Entry& AddNode(Entry& root, std::string_view pci, std::string_view class_name,
               std::string_view node, int minor, const ViewDevice& device) {
  Entry& directory = AddClassDevice(root, pci, class_name, node);
  AddLine(directory, "ibdev", device.name);
  AddLine(directory, "dev", absl::StrFormat("%d:%d", kMajor, minor));
  AddLine(directory, "uevent",
          absl::StrFormat("MAJOR=%d\nMINOR=%d\nDEVNAME=infiniband/%s", kMajor,
                          minor, node));
  return directory;
}

void AddNodeDescription(Entry& directory, const ViewDevice& device) {
  Entry& entry = AddLive(directory, "node_desc", device,
                         [&device]() -> absl::StatusOr<std::string> {
                           std::string text =
                               device.host->device().node_description();
                           return text.substr(0, text.find('\0'));
                         });
  entry.mode = 0644;
  entry.write = [&device](std::string_view text) -> absl::Status {
    absl::Status present = CheckPresent(device);
    if (present.ok()) device.host->device().SetNodeDescription(text);
    return present;
  };
}

void AddIdentity(Entry& directory, const ViewDevice& device,
                 const ProfileFacts& facts) {
  mad::Device& adapter = device.host->device();
  const bool one_port = adapter.first_port() == adapter.last_port();
  const std::string hca_type(one_port ? facts.hca_type_one_port
                                      : facts.hca_type);
  AddLine(directory, "node_type", NodeTypeText(adapter.type()));
  AddLine(directory, "node_guid", FormatGuid(adapter.node_guid()));
  AddLine(directory, "sys_image_guid", FormatGuid(adapter.system_image_guid()));
  AddLine(directory, "fw_ver", std::string(facts.firmware));
  AddLine(directory, "hw_rev", std::string(facts.hardware_revision));
  AddLine(directory, "hca_type", hca_type);
  AddLine(directory, "board_id",
          facts.board_id.empty() ? hca_type : std::string(facts.board_id));
  AddLine(directory, "uevent", absl::StrCat("NAME=", device.name));
}

}  // namespace

void AddDevice(Entry& root, const View& view, int index) {
  const ProfileFacts& facts = FactsOf(view.profile);
  const ViewDevice& device = view.devices[index];
  const mad::Device& adapter = device.host->device();
  const std::string pci = PciPath(index);
  AddPciFunction(root, facts, index, view.cpu_count);

  Entry& directory = AddClassDevice(root, pci, "infiniband", device.name);
  AddIdentity(directory, device, facts);
  AddNodeDescription(directory, device);

  for (int port = adapter.first_port(); port <= adapter.last_port(); ++port) {
    AddPort(Directory(directory, absl::StrCat("ports/", port)), device, port);

    const int number = device.first_umad + port - adapter.first_port();
    const auto add = [&](std::string_view kind, int minor) {
      Entry& node =
          AddNode(root, pci, "infiniband_mad",
                  absl::StrFormat("%s%d", kind, number), minor, device);
      AddLine(node, "port", absl::StrCat(port));
    };
    add("umad", number);
    add("issm", kFirstIssm + number);
  }

  if (device.uverbs.has_value()) {
    Entry& node = AddNode(root, pci, "infiniband_verbs",
                          absl::StrCat("uverbs", *device.uverbs),
                          kFirstUverbs + *device.uverbs, device);
    AddLine(node, "abi_version", absl::StrCat(facts.verbs_abi));
  }
}

}  // namespace ibemu::sysfs

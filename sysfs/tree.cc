#include "sysfs/tree.h"

#include <algorithm>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "sysfs/device_tree.h"
#include "sysfs/entries.h"
#include "sysfs/network_tree.h"
#include "sysfs/profile.h"

namespace ibemu::sysfs {
namespace {

// A device of class misc, which belongs to no adapter.
void AddRdmaCm(Entry& root, const View& view) {
  const std::string path = absl::StrCat("devices/virtual/misc/", kRdmaCmNode);
  AddLink(root, absl::StrCat("class/misc/", kRdmaCmNode), path);
  AddLink(root, path + "/subsystem", "class/misc");
  Entry& directory = Directory(root, path);
  const auto other = view.numbers.find(kRdmaCmNode);
  const DeviceNumber number =
      other != view.numbers.end() ? other->second : kRdmaCm;
  AddLine(directory, "abi_version", "4");  // RDMA_USER_CM_ABI_VERSION
  AddLine(directory, "dev",
          absl::StrFormat("%d:%d", number.major_number, number.minor_number));
  AddLine(
      directory, "uevent",
      absl::StrFormat("MAJOR=%d\nMINOR=%d\nDEVNAME=infiniband/%s\nDEVMODE=0666",
                      number.major_number, number.minor_number, kRdmaCmNode));
}

bool HasNetworks(const View& view) {
  return std::ranges::any_of(view.devices, [](const ViewDevice& device) {
    return !device.networks.empty();
  });
}

}  // namespace

std::unique_ptr<Entry> BuildTree(const View& view) {
  auto root = std::make_unique<Entry>();
  for (const std::string& path : DeviceDirectories(FactsOf(view.profile))) {
    Directory(*root, path).changes = true;
  }
  // IB_USER_MAD_ABI_VERSION and IB_USER_VERBS_ABI_VERSION.
  AddLine(Directory(*root, "class/infiniband_mad"), "abi_version", "5");
  AddLine(Directory(*root, "class/infiniband_verbs"), "abi_version", "6");
  if (view.rdma_cm) AddRdmaCm(*root, view);
  if (HasNetworks(view)) AddNetworks(*root);
  for (const ViewDevice& device : view.devices) AddDevice(*root, view, device);
  return root;
}

}  // namespace ibemu::sysfs

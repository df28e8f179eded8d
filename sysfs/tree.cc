#include "sysfs/tree.h"

#include <string>

#include "sysfs/device_tree.h"
#include "sysfs/entries.h"
#include "sysfs/profile.h"

namespace ibemu::sysfs {

std::unique_ptr<Entry> BuildTree(const View& view) {
  auto root = std::make_unique<Entry>();
  for (const std::string& path : DeviceDirectories(FactsOf(view.profile))) {
    Directory(*root, path).changes = true;
  }
  // IB_USER_MAD_ABI_VERSION and IB_USER_VERBS_ABI_VERSION.
  AddLine(Directory(*root, "class/infiniband_mad"), "abi_version", "5");
  AddLine(Directory(*root, "class/infiniband_verbs"), "abi_version", "6");
  for (const ViewDevice& device : view.devices) AddDevice(*root, view, device);
  return root;
}

}  // namespace ibemu::sysfs

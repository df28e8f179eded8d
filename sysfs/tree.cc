#include "sysfs/tree.h"

#include "sysfs/device_tree.h"
#include "sysfs/entries.h"

namespace ibemu::sysfs {

std::unique_ptr<Entry> BuildTree(const View& view) {
  auto root = std::make_unique<Entry>();
  Directory(*root, "class/infiniband");
  // IB_USER_MAD_ABI_VERSION and IB_USER_VERBS_ABI_VERSION.
  AddLine(Directory(*root, "class/infiniband_mad"), "abi_version", "5");
  AddLine(Directory(*root, "class/infiniband_verbs"), "abi_version", "6");
  for (size_t i = 0; i < view.devices.size(); ++i) {
    AddDevice(*root, view, static_cast<int>(i));
  }
  return root;
}

}  // namespace ibemu::sysfs

#include "cuse/fuse/adapter_identity.h"

#include "gtest/gtest.h"

namespace ibemu::cuse {
namespace {

TEST(AdapterIdentityTest, IsOfTheAdapterThatSysfsShows) {
  const verbs::AdapterIdentity qib = AdapterIdentityOf(sysfs::Profile::kQib);
  EXPECT_EQ(qib.vendor_id, 0x1175u);
  EXPECT_EQ(qib.vendor_part_id, 0x7322u);
  EXPECT_EQ(qib.fw_ver, 0x1'000b'0000u);
  const verbs::AdapterIdentity hfi1 = AdapterIdentityOf(sysfs::Profile::kHfi1);
  EXPECT_EQ(hfi1.vendor_id, 0x1175u);
  EXPECT_EQ(hfi1.vendor_part_id, 0x24f0u);
  EXPECT_EQ(hfi1.fw_ver, 0x1'001b'0000u);
}

}  // namespace
}  // namespace ibemu::cuse

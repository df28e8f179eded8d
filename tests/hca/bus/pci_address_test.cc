#include "hca/bus/pci_address.h"

#include <gtest/gtest.h>

#include <string>

namespace ibemu::hca {
namespace {

TEST(PciAddress, IsReadAsLinuxWritesIt) {
  const auto address = PciAddress::Parse("0001:3b:1f.7");
  ASSERT_TRUE(address.ok()) << address.status();
  EXPECT_EQ(
      *address,
      (PciAddress{.domain = 1, .bus = 0x3b, .device = 0x1f, .function = 7}));
  EXPECT_EQ(address->Text(), "0001:3b:1f.7");
}

TEST(PciAddress, HasDomainZeroWhenNoneIsSaid) {
  const auto address = PciAddress::Parse("3b:00.0");
  ASSERT_TRUE(address.ok()) << address.status();
  EXPECT_EQ(address->Text(), "0000:3b:00.0");
}

TEST(PciAddress, RefusesWhatIsNone) {
  for (const char* text : {"", "mlx4_0", "0000:3b:00", "0000:3b:20.0",
                           "0000:3b:00.8", "0000:3b:00.0 ", "000g:3b:00.0",
                           "0000:3b:0.0", "00000:3b:00.-1", "1:2:3:4.0"}) {
    const auto address = PciAddress::Parse(text);
    ASSERT_FALSE(address.ok()) << text;
    EXPECT_EQ(address.status().code(), absl::StatusCode::kInvalidArgument);
    EXPECT_NE(std::string(address.status().message()).find("0000:3b:00.0"),
              std::string::npos)
        << "an example helps";
  }
}

}  // namespace
}  // namespace ibemu::hca

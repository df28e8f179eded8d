#include "verbs/vendor_error.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "verbs/wc_status.h"

namespace ibemu::verbs {
namespace {

using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StrEq;

TEST(VendorErrorTest, EachValueIsListedOnceInOrderWithACauseAndAReport) {
  uint32_t last = 0;
  for (const VendorError& error : VendorErrors()) {
    EXPECT_GT(error.value, last);
    last = error.value;
    EXPECT_NE(error.status, wc_status::kSuccess);
    EXPECT_THAT(wc_status::NameOf(error.status), Not(StrEq("?")));
    EXPECT_THAT(error.cause, Not(IsEmpty()));
    EXPECT_THAT(error.report, Not(IsEmpty()));
    EXPECT_EQ(FindVendorError(error.value)->cause, error.cause);
  }
  EXPECT_FALSE(FindVendorError(0).has_value());
  EXPECT_FALSE(FindVendorError(last + 1).has_value());
}

TEST(VendorErrorTest, EveryKnownStatusHasOneThatIsGivenWithIt) {
  for (const VendorError& error : VendorErrors()) {
    const uint32_t given = VendorErrorOf(error.status);
    ASSERT_NE(given, 0u) << error.value;
    EXPECT_EQ(FindVendorError(given)->status, error.status);
  }
  EXPECT_EQ(VendorErrorOf(wc_status::kRetriesExceeded), 0x81u);
  EXPECT_EQ(VendorErrorOf(wc_status::kSuccess), 0u);
  EXPECT_EQ(VendorErrorOf(wc_status::kGeneral), 0u);
}

}  // namespace
}  // namespace ibemu::verbs

#include "hca/bus/address_space.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "gmock/gmock.h"
#include "testing/mad_builder.h"

namespace ibemu::hca {
namespace {

using ::testing::ElementsAre;
using testing::HasStatusCode;

constexpr auto kFull = absl::StatusCode::kResourceExhausted;

std::vector<uint64_t> TakeAll(AddressSpace& space, uint64_t size) {
  std::vector<uint64_t> taken;
  for (auto at = space.Take(size); at.ok(); at = space.Take(size)) {
    taken.push_back(*at);
  }
  return taken;
}

TEST(AddressSpace, GivesOutWholePagesLowestFirst) {
  AddressSpace space({{.start = 0x1000, .last = 0x3fff}});
  EXPECT_THAT(TakeAll(space, 1), ElementsAre(0x1000, 0x2000, 0x3000));
}

TEST(AddressSpace, NeverGivesOutPageZero) {
  AddressSpace space({{.start = 0, .last = 0x1fff}});
  EXPECT_THAT(TakeAll(space, 0x1000), ElementsAre(0x1000));
}

TEST(AddressSpace, LeavesOutPagesThatAreNotWhole) {
  AddressSpace space({{.start = 0x1800, .last = 0x37ff}});
  EXPECT_THAT(TakeAll(space, 0x1000), ElementsAre(0x2000));
}

TEST(AddressSpace, GoesAroundWhatTheIommuDoesNotTranslate) {
  AddressSpace space(
      {{.start = 0x1000, .last = 0x2fff}, {.start = 0x10000, .last = 0x13fff}});
  const auto at = space.Take(0x3000);
  ASSERT_TRUE(at.ok());
  EXPECT_EQ(*at, 0x10000u);
}

TEST(AddressSpace, Aligns) {
  AddressSpace space({{.start = 0x1000, .last = 0x8fff}});
  const auto aligned = space.Take(0x1000, 0x4000);
  ASSERT_TRUE(aligned.ok());
  EXPECT_EQ(*aligned, 0x4000u);
  EXPECT_THAT(TakeAll(space, 0x3000), ElementsAre(0x1000, 0x5000))
      << "what was skipped is there for others";
}

TEST(AddressSpace, JoinsWhatIsReturned) {
  AddressSpace space({{.start = 0x1000, .last = 0x4fff}});
  EXPECT_THAT(TakeAll(space, 0x1000),
              ElementsAre(0x1000, 0x2000, 0x3000, 0x4000));
  space.Return(0x2000, 0x1000);
  space.Return(0x4000, 0x1000);
  EXPECT_THAT(space.Take(0x2000), HasStatusCode(kFull));
  space.Return(0x3000, 1);
  const auto joined = space.Take(0x3000);
  ASSERT_TRUE(joined.ok());
  EXPECT_EQ(*joined, 0x2000u);
}

TEST(AddressSpace, ReachesToTheEndOfAllAddresses) {
  AddressSpace space({{.start = ~uint64_t{0} - 0x1fff, .last = ~uint64_t{0}}});
  EXPECT_THAT(TakeAll(space, 0x1000),
              ElementsAre(~uint64_t{0} - 0x1fff, ~uint64_t{0} - 0xfff));
}

}  // namespace
}  // namespace ibemu::hca

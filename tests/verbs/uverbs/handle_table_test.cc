#include "verbs/uverbs/handle_table.h"

#include <gtest/gtest.h>

namespace ibemu::verbs {
namespace {

TEST(HandleTableTest, FindsWhatWasAdded) {
  HandleTable<int> table;
  const uint32_t a = table.Add(std::make_unique<int>(1));
  const uint32_t b = table.Add(std::make_unique<int>(2));
  EXPECT_EQ(*table.Find(a), 1);
  EXPECT_EQ(*table.Find(b), 2);
  EXPECT_EQ(table.Find(b + 1), nullptr);
  EXPECT_EQ(table.Find(~0u), nullptr);
}

TEST(HandleTableTest, NamesNothingByAnOldHandle) {
  HandleTable<int> table;
  const uint32_t old = table.Add(std::make_unique<int>(1));
  EXPECT_EQ(*table.Remove(old), 1);
  EXPECT_EQ(table.Remove(old), nullptr);
  const uint32_t fresh = table.Add(std::make_unique<int>(2));
  EXPECT_NE(fresh, old);
  EXPECT_EQ(table.Find(old), nullptr);
  EXPECT_EQ(*table.Find(fresh), 2);
}

TEST(HandleTableTest, UsesPlacesAgainForEver) {
  HandleTable<int> table;
  for (int i = 0; i < 10000; ++i) {
    const uint32_t handle = table.Add(std::make_unique<int>(i));
    ASSERT_EQ(*table.Find(handle), i);
    ASSERT_NE(table.Remove(handle), nullptr);
  }
}

}  // namespace
}  // namespace ibemu::verbs

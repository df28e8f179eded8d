#include "hca/mlx4/verbs/memory_shares.h"

#include <gtest/gtest.h>

#include <array>

namespace ibemu::hca::mlx4 {
namespace {

class MemorySharesTest : public ::testing::Test {
 protected:
  // As much as he may have, byte by byte.
  size_t TakeAll(MemoryShares::Holder& holder) {
    size_t taken = 0;
    while (shares_.Take(holder, 1)) ++taken;
    return taken;
  }

  MemoryShares shares_{1024};
};

TEST_F(MemorySharesTest, OneAloneMayHaveAHalf) {
  MemoryShares::Holder one;
  EXPECT_FALSE(shares_.Take(one, 513));
  EXPECT_FALSE(shares_.Take(one, 2000)) << "more than there is";
  EXPECT_TRUE(shares_.Take(one, 512));
  EXPECT_FALSE(shares_.Take(one, 1));
}

TEST_F(MemorySharesTest, WhoComesAfterThoseWhoTookAllTheyMayFindsSome) {
  std::array<MemoryShares::Holder, 9> holders;
  size_t expected = 512;
  for (MemoryShares::Holder& holder : holders) {
    EXPECT_EQ(TakeAll(holder), expected);
    expected /= 2;
  }
}

TEST_F(MemorySharesTest, WhatComesBackIsForThoseWhoHaveLeast) {
  MemoryShares::Holder much, little, none;
  EXPECT_TRUE(shares_.Take(much, 512));
  EXPECT_EQ(TakeAll(little), 256u);
  shares_.Return(much, 100);
  EXPECT_FALSE(shares_.Take(much, 1));
  EXPECT_EQ(TakeAll(little), 50u);
  EXPECT_EQ(TakeAll(none), 153u);
  shares_.Return(much, 412);
  shares_.Return(little, 306);
  shares_.Return(none, 153);
  EXPECT_EQ(shares_.free(), 1024u);
}

}  // namespace
}  // namespace ibemu::hca::mlx4

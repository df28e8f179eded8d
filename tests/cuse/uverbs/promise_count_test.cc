#include "cuse/uverbs/promise_count.h"

#include <gtest/gtest.h>

namespace ibemu::cuse {
namespace {

TEST(PromiseCountTest, NothingIsPromisedAtFirst) {
  PromiseCount count;
  EXPECT_FALSE(count.Post(1));
  EXPECT_TRUE(count.Post(0));
}

TEST(PromiseCountTest, WhatWasPromisedMayBePosted) {
  PromiseCount count;
  EXPECT_EQ(count.Promise(3), 3u);
  EXPECT_TRUE(count.Post(2));
  EXPECT_EQ(count.Promise(1), 3u);
  EXPECT_TRUE(count.Post(1));
  EXPECT_FALSE(count.Post(1));
}

TEST(PromiseCountTest, APromiseHoldsForWhoDoesNotKnowYetThatThereIsLess) {
  PromiseCount count;
  count.Promise(3);
  EXPECT_EQ(count.Promise(0), 0u);
  EXPECT_TRUE(count.Post(3));
  EXPECT_FALSE(count.Post(1));
}

TEST(PromiseCountTest, NumbersWrapAround) {
  PromiseCount count;
  for (int i = 0; i < 5; ++i) {
    count.Promise(INT32_MAX);
    EXPECT_TRUE(count.Post(INT32_MAX));
    EXPECT_FALSE(count.Post(1));
  }
}

}  // namespace
}  // namespace ibemu::cuse

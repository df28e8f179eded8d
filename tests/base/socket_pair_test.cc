#include "base/socket_pair.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <cerrno>

namespace ibemu {
namespace {

TEST(SocketPairTest, WhatOneEndGetsTheOtherGives) {
  const auto pair = MakeSocketPair(SOCK_SEQPACKET);
  ASSERT_TRUE(pair.ok()) << pair.status();
  ASSERT_EQ(write(pair->ours.get(), "abc", 3), 3);
  ASSERT_EQ(write(pair->ours.get(), "d", 1), 1);
  char text[8];
  EXPECT_EQ(read(pair->theirs.get(), text, sizeof text), 3);  // a packet
  EXPECT_EQ(read(pair->theirs.get(), text, sizeof text), 1);
}

TEST(SocketPairTest, NeitherEndIsForAProgramThatIsStarted) {
  const auto pair = MakeSocketPair();
  ASSERT_TRUE(pair.ok()) << pair.status();
  for (const UniqueFd* end : {&pair->ours, &pair->theirs}) {
    EXPECT_EQ(fcntl(end->get(), F_GETFD), FD_CLOEXEC);
  }
}

TEST(SocketPairTest, WithoutDescriptorsThereIsNone) {
  rlimit before;
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit none{0, before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
  const absl::Status status = MakeSocketPair().status();
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
  EXPECT_EQ(status, absl::ErrnoToStatus(EMFILE, "socketpair"));
}

}  // namespace
}  // namespace ibemu

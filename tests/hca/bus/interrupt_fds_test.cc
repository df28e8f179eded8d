#include "hca/bus/interrupt_fds.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include "gmock/gmock.h"
#include "testing/mad_builder.h"

namespace ibemu::hca {
namespace {

using testing::HasStatusCode;
using ::testing::SizeIs;

TEST(InterruptFds, AreOneForEachVectorAndDontBlock) {
  const auto fds = MakeInterruptFds(3);
  ASSERT_TRUE(fds.ok()) << fds.status();
  ASSERT_THAT(*fds, SizeIs(3));
  for (const UniqueFd& fd : *fds) {
    EXPECT_NE(fcntl(fd.get(), F_GETFL) & O_NONBLOCK, 0);
  }
}

TEST(InterruptFds, AreRefusedWhenTheProcessHasNoMoreDescriptors) {
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit none{.rlim_cur = 0, .rlim_max = before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
  const auto fds = MakeInterruptFds(1);
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
  EXPECT_THAT(fds, HasStatusCode(absl::StatusCode::kResourceExhausted));
}

}  // namespace
}  // namespace ibemu::hca

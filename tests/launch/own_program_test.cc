#include "launch/own_program.h"

#include <string>

#include "gtest/gtest.h"

namespace ibemu::launch {
namespace {

TEST(OwnProgram, IsBesideThisOneOrWhereItIsInstalled) {
  const std::string self = ThisProgram();
  ASSERT_TRUE(self.starts_with("/")) << self;
  EXPECT_EQ(OwnProgram(self.substr(self.rfind('/') + 1), "/usr/sbin"), self);
  EXPECT_EQ(OwnProgram("no-such-program", "/usr/sbin"),
            "/usr/sbin/no-such-program");
}

}  // namespace
}  // namespace ibemu::launch

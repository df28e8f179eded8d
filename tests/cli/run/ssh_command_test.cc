#include "cli/run/ssh_command.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ibemu::cli {
namespace {

using ::testing::ElementsAre;

TEST(SshCommandTest, JoinsTheWordsOfTheCommandForAShell) {
  const auto run = RunOfSsh({"node-2", "a  b", "-n", "--", "c"}, "me", "");
  ASSERT_TRUE(run.ok()) << run.status();
  EXPECT_THAT(run->hosts, ElementsAre("node-2"));
  EXPECT_THAT(run->command, ElementsAre("/bin/sh", "-c", "a  b -n -- c"));
}

TEST(SshCommandTest, WithoutACommandThereIsAShell) {
  const auto run = RunOfSsh({"node-2"}, "me", "/bin/zsh");
  ASSERT_TRUE(run.ok()) << run.status();
  EXPECT_THAT(run->command, ElementsAre("/bin/zsh"));
}

TEST(SshCommandTest, ACommandMayBeginBehindTwoHyphens) {
  const auto run = RunOfSsh({"node-2", "--", "a", "--"}, "me", "");
  ASSERT_TRUE(run.ok()) << run.status();
  EXPECT_THAT(run->command, ElementsAre("/bin/sh", "-c", "a --"));
  EXPECT_EQ(RunOfSsh({"node-2", "-x", "a"}, "me", "").status().message(),
            "\"-x\" stands behind NODE: options come before it");
}

TEST(SshCommandTest, AShellOfTheOtherFamilyReadsTheCommandToo) {
  const auto run = RunOfSsh({"node-2", "a"}, "me", "/bin/tcsh");
  ASSERT_TRUE(run.ok()) << run.status();
  EXPECT_THAT(run->command, ElementsAre("/bin/tcsh", "-c", "a"));
}

TEST(SshCommandTest, TheUserIsWhoCalls) {
  const auto run = RunOfSsh({"me@node@2", "true"}, "me@node", "");
  ASSERT_TRUE(run.ok()) << run.status();
  EXPECT_THAT(run->hosts, ElementsAre("2"));
  EXPECT_EQ(RunOfSsh({"you@node-2", "true"}, "me", "").status().message(),
            "there is no user \"you\" on a host but who calls, \"me\"");
}

TEST(SshCommandTest, ANodeIsNeeded) {
  EXPECT_FALSE(RunOfSsh({}, "me", "").ok());
}

}  // namespace
}  // namespace ibemu::cli

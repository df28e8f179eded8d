#include "cuse/client/caller_credentials.h"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/cuse/other_process.h"

namespace ibemu::cuse {
namespace {

constexpr char kStatus[] =
    "Name:\tsh\\nUid:\t7\nUmask:\t0022\nTgid:\t9\n"
    "Uid:\t1000\t1000\t0\t1000\nGid:\t1000\t1000\t1000\t1000\nFDSize:\t256\n"
    "Groups:\t4 1000 \nVmPeak:\t 3776 kB\nCapInh:\t0000000000000000\n"
    "CapPrm:\t0000000000000001\nCapEff:\t0000000000000002\n"
    "CapBnd:\t0000000000000003\nCapAmb:\t0000000000000000\nNoNewPrivs:\t0\n";

TEST(CredentialsTest, IdsGroupsAndCapabilitiesCount) {
  EXPECT_EQ(Credentials::LinesOf(kStatus),
            "Uid:\t1000\t1000\t0\t1000\nGid:\t1000\t1000\t1000\t1000\n"
            "Groups:\t4 1000 \nCapInh:\t0000000000000000\n"
            "CapPrm:\t0000000000000001\nCapEff:\t0000000000000002\n"
            "CapBnd:\t0000000000000003\nCapAmb:\t0000000000000000\n");
}

TEST(CredentialsTest, TextThatBreaksOffHasNone) {
  const std::string_view text = kStatus;
  EXPECT_EQ(Credentials::LinesOf(text.substr(0, text.find("CapAmb"))), "");
  EXPECT_EQ(Credentials::LinesOf(text.substr(0, text.find("\nNoNew"))), "");
}

class CallerCredentialsTest : public ::testing::Test {
 protected:
  // A copy, or nothing of a thread that has none.
  std::optional<Credentials> Of(pid_t tid) {
    const Credentials* const found = credentials_.Of(tid);
    return found == nullptr ? std::nullopt : std::optional(*found);
  }

  CallerCredentials credentials_;
};

TEST_F(CallerCredentialsTest, AForkedChildHasThoseOfItsParent) {
  const OtherProcess child;
  ASSERT_TRUE(Of(getpid()).has_value());
  EXPECT_EQ(Of(child.pid()), Of(getpid()));
  EXPECT_EQ(Of(child.pid()), Of(getpid()));  // from what is known
}

TEST_F(CallerCredentialsTest, AProcessThatGivesUpRightsHasOthersAtOnce) {
  OtherProcess child(&OtherProcess::GiveUpRights);
  ASSERT_EQ(Of(child.pid()), Of(getpid()));
  child.Change();
  EXPECT_TRUE(Of(child.pid()).has_value());
  EXPECT_NE(Of(child.pid()), Of(getpid()));
}

TEST_F(CallerCredentialsTest, ANamespaceOfUsersMakesOtherCredentials) {
  OtherProcess child([] {
    if (unshare(CLONE_NEWUSER) != 0) _exit(1);
  });
  const std::optional<Credentials> before = Of(child.pid());
  child.Change();
  const std::optional<Credentials> inside = Of(child.pid());
  ASSERT_TRUE(inside.has_value());
  EXPECT_NE(inside, before);
  EXPECT_NE(inside->user_namespace, before->user_namespace);
}

// What a program that is not libc's looks like: nothing tells that another one
// took its place, so everything is read each time.
TEST_F(CallerCredentialsTest, WithoutRobustFutexesNothingIsTakenAsKnown) {
  OtherProcess child([] { syscall(SYS_set_robust_list, nullptr, 24); });
  const std::optional<Credentials> before = Of(child.pid());
  child.Change();
  EXPECT_EQ(Of(child.pid()), before);
  EXPECT_EQ(Of(child.pid()), before);
}

TEST_F(CallerCredentialsTest, NobodyHasNone) {
  EXPECT_EQ(Of(0), std::nullopt);
  EXPECT_EQ(Of(0x3fffffff), std::nullopt);
}

}  // namespace
}  // namespace ibemu::cuse

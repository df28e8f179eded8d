#include "launch/supervisor/client_identity.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/unique_fd.h"

namespace ibemu::launch {
namespace {

constexpr char kStatus[] =
    "Name:\tbash\nTgid:\t41\nPid:\t42\nUid:\t1\t2\t3\t4\n"
    "Gid:\t5\t6\t7\t8\nGroups:\t20 10 \nCapEff:\t0\n";

TEST(ClientIdentityTest, IsReadFromProc) {
  const ClientIdentity expected = {.process = 41,
                                   .user = 1,
                                   .file_user = 4,
                                   .file_group = 8,
                                   .groups = {10, 20}};
  EXPECT_EQ(ClientIdentity::Parse(kStatus), expected);
  const std::optional<ClientIdentity> own = ClientIdentity::Of(gettid());
  ASSERT_TRUE(own);
  EXPECT_EQ(own->process, getpid());
  EXPECT_EQ(own->file_user, geteuid());
  EXPECT_EQ(own->file_group, getegid());
}

TEST(ClientIdentityTest, WithoutALineThereIsNone) {
  EXPECT_FALSE(ClientIdentity::Parse(""));
  EXPECT_FALSE(ClientIdentity::Parse("Tgid:\t41\nUid:\t1\t2\t3\t4\n"));
  std::string broken = kStatus;
  broken.replace(broken.find("41"), 2, "x1");
  EXPECT_FALSE(ClientIdentity::Parse(broken));
  EXPECT_FALSE(ClientIdentity::Of(0));
}

TEST(ActingAsTest, AThreadThatIsWhoItWasOpensWhatItMight) {
  const std::optional<ClientIdentity> own = ClientIdentity::Of(gettid());
  ASSERT_TRUE(own);
  const ActingAs acting(*own);
  ASSERT_TRUE(acting.ok());
  EXPECT_TRUE(UniqueFd(open("/dev/null", O_RDWR | O_CLOEXEC)).valid());
}

class ActingAsOtherTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (geteuid() != 0) GTEST_SKIP() << "only root can be somebody else";
    file_.Reset(mkstemp(path_.data()));
    ASSERT_TRUE(file_.valid());
  }
  void TearDown() override { unlink(path_.c_str()); }

  bool CanOpen() const {
    return UniqueFd(open(path_.c_str(), O_RDWR | O_CLOEXEC)).valid();
  }

  std::string path_ = "/tmp/acting-XXXXXX";
  UniqueFd file_;
};

TEST_F(ActingAsOtherTest, HasItsRightsAndNoMore) {
  const ClientIdentity client = {
      .file_user = 12346, .file_group = 12347, .groups = {12348}};
  fchmod(file_.get(), 0600);
  {
    const ActingAs acting(client);
    ASSERT_TRUE(acting.ok());
    EXPECT_FALSE(CanOpen());
  }
  EXPECT_TRUE(CanOpen());
  fchmod(file_.get(), 0060);
  for (const gid_t group : {12347u, 12348u}) {
    ASSERT_EQ(fchown(file_.get(), 0, group), 0);
    const ActingAs acting(client);
    EXPECT_TRUE(CanOpen()) << group;
  }
  ASSERT_EQ(fchown(file_.get(), 0, 0), 0);
  const ActingAs acting(client);
  EXPECT_FALSE(CanOpen());
}

TEST_F(ActingAsOtherTest, RootWithoutCapabilitiesOpensNothingOfOthers) {
  ASSERT_EQ(fchown(file_.get(), 12346, 12346), 0);
  EXPECT_TRUE(CanOpen());
  const ActingAs acting(ClientIdentity{});
  ASSERT_TRUE(acting.ok());
  EXPECT_FALSE(CanOpen());
}

TEST_F(ActingAsOtherTest, OtherThreadsStayWhoTheyAre) {
  const pid_t main = gettid();
  std::thread([main] {
    const ActingAs acting(ClientIdentity{
        .file_user = 12346, .file_group = 12347, .groups = {12348}});
    ASSERT_TRUE(acting.ok());
    const std::optional<ClientIdentity> acts = ClientIdentity::Of(gettid());
    const std::optional<ClientIdentity> other = ClientIdentity::Of(main);
    ASSERT_TRUE(acts && other);
    EXPECT_EQ(acts->file_user, 12346u);
    EXPECT_EQ(acts->file_group, 12347u);
    EXPECT_EQ(acts->groups, std::vector<gid_t>{12348});
    EXPECT_EQ(other->file_user, 0u);
    EXPECT_NE(other->groups, acts->groups);
  }).join();
}

}  // namespace
}  // namespace ibemu::launch

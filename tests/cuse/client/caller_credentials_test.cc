#include "cuse/client/caller_credentials.h"

#include <elf.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <initializer_list>
#include <string>

#include "absl/strings/str_cat.h"
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

template <class Word>
std::string Auxv(std::initializer_list<Word> words) {
  return std::string(reinterpret_cast<const char*>(words.begin()),
                     words.size() * sizeof(Word));
}

TEST(CredentialsTest, ThatAProgramHadMoreRightsStandsInItsAuxiliaryVector) {
  for (const uint32_t secure : {0, 1}) {
    EXPECT_EQ(Credentials::IsSecure(
                  Auxv<uint64_t>({AT_SYSINFO_EHDR, 0x7ffd00000000, AT_PAGESZ,
                                  AT_SECURE, AT_SECURE, secure, AT_NULL, 0})),
              secure != 0);
    EXPECT_EQ(Credentials::IsSecure(Auxv<uint32_t>(
                  {AT_SYSINFO, 0xf7f00000, AT_SECURE, secure, AT_NULL, 0})),
              secure != 0);
  }
  EXPECT_TRUE(Credentials::IsSecure(""));
  EXPECT_TRUE(Credentials::IsSecure(Auxv<uint64_t>({AT_NULL, 0})));
}

Credentials WithIds(const char* uids, const char* gids,
                    const char* permitted = "0000000000000000") {
  Credentials credentials;
  credentials.lines = absl::StrCat("Uid:\t", uids, "\nGid:\t", gids,
                                   "\nCapPrm:\t", permitted, "\n");
  return credentials;
}

TEST(CredentialsTest, AProgramThatShowsNoneOfItsRightsUsesNoFile) {
  Credentials plain = WithIds("7\t7\t7\t7", "8\t8\t8\t8");
  Credentials saved = WithIds("7\t7\t0\t7", "8\t8\t8\t8");
  Credentials group = WithIds("7\t7\t7\t7", "8\t9\t9\t9");
  Credentials capable = WithIds("7\t7\t7\t7", "8\t8\t8\t8", "0000000000002000");
  for (Credentials* each : {&plain, &saved, &group, &capable}) {
    EXPECT_TRUE(each->MayUseFileOf(*each));
    EXPECT_EQ(each->IsPlain(), each == &plain);
    const Credentials ordinary = *each;
    each->secure = true;
    EXPECT_EQ(each->MayUseFileOf(*each), each != &plain);
    EXPECT_FALSE(each->MayUseFileOf(ordinary));
    const Credentials one = *each;
    each->program = "another";
    EXPECT_FALSE(each->MayUseFileOf(one));
  }
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

TEST_F(CallerCredentialsTest, AProcessThatMayNotBeDumpedIsTiedToItsProgram) {
  OtherProcess child([] {
    constexpr uid_t kOther = 65534;
    if (geteuid() == 0 && setresuid(kOther, kOther, kOther) != 0) _exit(1);
    prctl(PR_SET_DUMPABLE, 0);
  });
  EXPECT_EQ(Of(child.pid())->program, "");
  child.Change();
  const std::optional<Credentials> hidden = Of(child.pid());
  ASSERT_TRUE(hidden.has_value());
  // Where the test runs as a user nobody may look, and nobody may write.
  EXPECT_EQ(hidden->program.empty(), geteuid() != 0);
  EXPECT_EQ(hidden->secure, geteuid() != 0);
}

TEST_F(CallerCredentialsTest, NobodyHasNone) {
  EXPECT_EQ(Of(0), std::nullopt);
  EXPECT_EQ(Of(0x3fffffff), std::nullopt);
}

}  // namespace
}  // namespace ibemu::cuse

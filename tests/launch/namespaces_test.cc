#include "launch/namespaces.h"

#include <cerrno>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ibemu::launch {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

std::string Message(const NamespacePolicy& policy, int error) {
  const absl::Status status = NamespacesForbidden(policy, error);
  EXPECT_EQ(status.code(), absl::StatusCode::kPermissionDenied);
  return std::string(status.message());
}

TEST(NamespacesForbiddenTest, NamesTheSysctlThatForbidsThem) {
  EXPECT_THAT(Message({.forbidden_by_sysctl = true}, EPERM),
              HasSubstr("sysctl kernel.unprivileged_userns_clone=1"));
}

TEST(NamespacesForbiddenTest, NamesAppArmor) {
  EXPECT_THAT(
      Message({.restricted_by_apparmor = true}, EACCES),
      HasSubstr("sysctl kernel.apparmor_restrict_unprivileged_userns=0"));
}

TEST(NamespacesForbiddenTest, NamesTheLimitThatIsZero) {
  EXPECT_THAT(Message({.none_left = true}, ENOSPC),
              HasSubstr("sysctl user.max_user_namespaces=1000"));
}

TEST(NamespacesForbiddenTest, NamesTheLimitOfNetworkNamespacesThatIsZero) {
  EXPECT_THAT(Message({.no_network_left = true}, ENOSPC),
              HasSubstr("sysctl user.max_net_namespaces=1000"));
}

TEST(NamespacesForbiddenTest, TellsTooDeepNestingFromPolicy) {
  EXPECT_THAT(Message({}, ENOSPC), HasSubstr("deeper than 32"));
}

TEST(NamespacesForbiddenTest, TellsHowToPrepareAChroot) {
  EXPECT_THAT(Message({}, EINVAL), HasSubstr("mount --bind"));
}

TEST(NamespacesForbiddenTest, SaysWhatTheKernelSaidWhenNothingElseIsKnown) {
  EXPECT_THAT(Message({}, EPERM), AllOf(HasSubstr("Operation not permitted"),
                                        HasSubstr("--cap-add SYS_ADMIN")));
}

}  // namespace
}  // namespace ibemu::launch

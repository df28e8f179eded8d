#include "cuse/errno.h"

#include <gtest/gtest.h>

namespace ibemu::cuse {
namespace {

TEST(ErrnoTest, StatusesBecomeWhatLinuxSays) {
  EXPECT_EQ(ToErrno(absl::OkStatus()), Errno::kOk);
  EXPECT_EQ(ToErrno(absl::InvalidArgumentError("")), Errno::kInvalid);
  EXPECT_EQ(ToErrno(absl::ResourceExhaustedError("")), Errno::kNoMemory);
  EXPECT_EQ(ToErrno(absl::UnimplementedError("")), Errno::kNoProtocol);
  EXPECT_EQ(ToErrno(absl::UnavailableError("")), Errno::kNoDevice);
  EXPECT_EQ(ToErrno(absl::PermissionDeniedError("")), Errno::kAccess);
  EXPECT_EQ(ToErrno(absl::InternalError("")), Errno::kIo);
}

}  // namespace
}  // namespace ibemu::cuse

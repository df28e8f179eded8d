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

TEST(ErrnoTest, StatusesOfVerbsHaveMeaningsOfTheirOwn) {
  EXPECT_EQ(VerbsErrno(absl::OkStatus()), Errno::kOk);
  EXPECT_EQ(VerbsErrno(absl::InvalidArgumentError("")), Errno::kInvalid);
  EXPECT_EQ(VerbsErrno(absl::FailedPreconditionError("")), Errno::kBusy);
  EXPECT_EQ(VerbsErrno(absl::OutOfRangeError("")), Errno::kNoSpace);
  EXPECT_EQ(VerbsErrno(absl::DataLossError("")), Errno::kFault);
  EXPECT_EQ(VerbsErrno(absl::UnimplementedError("")), Errno::kNotSupported);
  EXPECT_EQ(VerbsErrno(absl::UnavailableError("")), Errno::kIo);
  EXPECT_EQ(VerbsErrno(absl::ResourceExhaustedError("")), Errno::kNoMemory);
}

}  // namespace
}  // namespace ibemu::cuse

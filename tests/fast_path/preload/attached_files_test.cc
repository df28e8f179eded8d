#include "fast_path/preload/attached_files.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <memory>

#include "base/unique_fd.h"

namespace ibemu::fast_path {
namespace {

class AttachedFilesTest : public ::testing::Test {
 protected:
  const std::unique_ptr<AttachedFiles> files_ =
      std::make_unique<AttachedFiles>();
};

TEST_F(AttachedFilesTest, KnowsNoDescriptorAtFirst) {
  for (const int fd : {-1, 0, 3, 4095, 4096, 1 << 30}) {
    EXPECT_FALSE(files_->Find(fd)) << fd;
  }
  EXPECT_EQ(files_->facts(), nullptr);
  files_->Forget(0, ~0u);
}

TEST_F(AttachedFilesTest, AFileThatHasNoRingsStaysAsItIs) {
  const UniqueFd null(open("/dev/null", O_RDWR | O_CLOEXEC));
  errno = 77;
  files_->Attach(null.get(), DeviceKind::kUmad);
  EXPECT_EQ(errno, 77);
  EXPECT_FALSE(files_->Find(null.get()));
  EXPECT_EQ(fcntl(null.get() + 1, F_GETFD), -1);  // no descriptor is left
}

// Each one that fails gives its place back.
TEST_F(AttachedFilesTest, FailuresUseNothingUp) {
  const UniqueFd null(open("/dev/null", O_RDWR | O_CLOEXEC));
  for (int i = 0; i < 1000; ++i) {
    files_->Attach(null.get(), DeviceKind::kUmad);
    ASSERT_FALSE(files_->Find(null.get()));
  }
}

TEST_F(AttachedFilesTest, AForkedChildKnowsNoPageOfItsParent) {
  const UniqueFd null(open("/dev/null", O_RDWR | O_CLOEXEC));
  files_->Attach(null.get(), DeviceKind::kUmad);
  ASSERT_NE(files_->facts(), nullptr);
  EXPECT_EQ(files_->facts()->process.load(), getpid());
  const char byte = 0;
  files_->facts()->readable.Add(&byte, 1);
  EXPECT_TRUE(files_->facts()->readable.Has(&byte, 1));
  const pid_t child = fork();
  if (child == 0) {
    const ProcessFacts& facts = *files_->facts();
    _exit(facts.readable.Has(&byte, 1) || facts.process.load() != 0);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_TRUE(files_->facts()->readable.Has(&byte, 1));
}

}  // namespace
}  // namespace ibemu::fast_path

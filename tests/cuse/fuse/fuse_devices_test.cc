// What device files do that only their front end can see to.
#include "cuse/fuse/fuse_devices.h"

#include <linux/fuse.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <new>
#include <string>
#include <vector>

#include "tests/cuse/blocked_writer.h"
#include "tests/cuse/fuse/tree_fixture.h"

namespace ibemu::cuse {
namespace {

class FuseDevicesTest : public TreeTest {};

// [misc_fops]
TEST_F(FuseDevicesTest, DeviceFilesHaveNothingToSynchronize) {
  for (const char* path : {"dev/umad0", "dev/issm0"}) {
    const auto file = kernel_.Open(path, O_RDWR);
    fuse_fsync_in in{};
    in.fh = file.handle;
    EXPECT_EQ(kernel_.Call(FUSE_FSYNC, file.node, {testing::AsBytes(in)}).error,
              EINVAL);
  }
}

// [open_modes]
TEST_F(FuseDevicesTest, AFileThatIsOpenForReadingAloneMayRegister) {
  const auto file = kernel_.Open("dev/umad0", O_RDONLY);
  ASSERT_EQ(file.error, 0);
  RegisterSender(file);
}

// [write_faults]
TEST_F(FuseDevicesTest, AWriteWhoseBufferEndsTooEarlyIsAFaultAndNotSent) {
  const auto file = OpenUmadWithAgent();
  const std::vector<std::byte> request = UmadRequest(1);
  for (const size_t arrived : {size_t{40}, size_t{200}}) {
    const BlockedWriter client([] {}, request.size());
    kernel_.SetCaller(client.pid());
    EXPECT_EQ(kernel_.Write(file, mad::Bytes(request).first(arrived)).error,
              EFAULT);
  }
  EXPECT_TRUE(port_.sent.empty());
  const BlockedWriter client([] {}, 200);
  kernel_.SetCaller(client.pid());
  EXPECT_EQ(kernel_.Write(file, mad::Bytes(request).first(200)).error, 0)
      << "what the client meant to write";
}

// [truncate]
TEST_F(FuseDevicesTest, DevicesCantBeTruncatedAndTextsCan) {
  fuse_setattr_in size{};
  size.valid = FATTR_SIZE;
  const auto truncate = [&](const std::string& path) {
    return kernel_
        .Call(FUSE_SETATTR, kernel_.Walk(path).out.nodeid,
              {testing::AsBytes(size)})
        .error;
  };
  EXPECT_EQ(truncate("dev/umad0"), EINVAL);
  EXPECT_EQ(truncate("dev/issm0"), EINVAL);
  EXPECT_EQ(truncate(DevicePath("node_desc")), 0);
}

// [reg2_flags]
TEST_F(FuseDevicesTest, UnknownFlagsAreInvalidAndChangedAllTheSame) {
  const auto file = kernel_.Open("dev/umad0", O_RDWR);
  ib_user_mad_reg_req2 request{};
  request.qpn = 1;
  request.flags = 6;
  const auto result = kernel_.Ioctl(file, IB_USER_MAD_REGISTER_AGENT2,
                                    testing::AsBytes(request), sizeof request);
  EXPECT_EQ(result.error, EINVAL);
  ASSERT_EQ(result.out.size(), sizeof request);
  std::memcpy(&request, result.out.data(), sizeof request);
  EXPECT_EQ(request.flags, 1u);
}

// [issm_*]
TEST_F(FuseDevicesTest, IssmIsBusyInWhateverModeItIsOpened) {
  for (const uint32_t first : {O_RDONLY, O_WRONLY, O_RDWR}) {
    const auto holder = kernel_.Open("dev/issm0", first);
    ASSERT_EQ(holder.error, 0);
    for (const uint32_t second : {O_RDONLY, O_WRONLY, O_RDWR}) {
      EXPECT_EQ(kernel_.Open("dev/issm0", second | O_NONBLOCK).error, EAGAIN);
    }
    kernel_.Release(holder);
  }
}

// [reg_faults]
TEST_F(FuseDevicesTest, ARegistrationInReadOnlyMemoryIsUndone) {
  const auto file = kernel_.Open("dev/umad0", O_RDWR);
  void* const page = mmap(nullptr, 4096, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(page, MAP_FAILED);
  auto* const request = new (page) ib_user_mad_reg_req{};
  request->id = 77;
  request->qpn = 1;
  ASSERT_EQ(mprotect(page, 4096, PROT_READ), 0);
  const auto argument = testing::AsBytes(*request);
  EXPECT_EQ(
      kernel_.Ioctl(file, IB_USER_MAD_REGISTER_AGENT, argument, argument.size())
          .error,
      EFAULT);
  EXPECT_EQ(request->id, 77u);
  EXPECT_EQ(kernel_.Write(file, UmadRequest(1)).error, EIO);  // no agent 0

  ASSERT_EQ(mprotect(page, 4096, PROT_READ | PROT_WRITE), 0);
  const auto result = kernel_.Ioctl(file, IB_USER_MAD_REGISTER_AGENT, argument,
                                    argument.size());
  EXPECT_EQ(result.error, 0);
  EXPECT_EQ(kernel_.Write(file, UmadRequest(1)).error, 0);
  munmap(page, 4096);
}

TEST_F(FuseDevicesTest, AnIoctlThatIsBeingLookedAtFailsWhenTheTreeEnds) {
  const auto file = kernel_.Open("dev/umad0", O_RDWR);
  ib_user_mad_reg_req request{};
  request.qpn = 1;
  const uint64_t asked =
      kernel_.StartIoctl(file, IB_USER_MAD_REGISTER_AGENT,
                         testing::AsBytes(request), sizeof request);
  ASSERT_EQ(tree_->HandleOne(), FuseResult::kHandled);
  serving_ = false;
  tree_.reset();
  posts_.WaitAndRun();  // finds nobody
  EXPECT_EQ(kernel_.Wait(asked).error, EIO);
}

}  // namespace
}  // namespace ibemu::cuse

#include "cuse/fuse/cuse_device.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <optional>
#include <vector>

#include "cuse/umad/umad_file.h"
#include "testing/fake_device.h"
#include "testing/kernel_side.h"
#include "testing/post_box.h"
#include "testing/virtual_timers.h"
#include "tests/cuse/umad_messages.h"

namespace ibemu::cuse {
namespace {

// umad0 of a fake adapter as a character device, and a kernel to ask it.
class CuseDeviceTest : public ::testing::Test {
 protected:
  static constexpr uint64_t kNode = FUSE_ROOT_ID;  // of every request

  CuseDeviceTest() {
    kernel_.SetPump([this] { Pump(); });
    kernel_.SetWorkerWait([this] { posts_.WaitAndRun(); });
  }

  void Serve() {
    const uint64_t asked = kernel_.StartCuse();
    ASSERT_TRUE(device_->Serve(UniqueFd(kernel_.TakeServerFd())).ok());
    made_ = kernel_.FinishCuse(asked);
  }

  void Pump() {
    if (!device_ || device_->fd() < 0) return;
    while (device_->HandleOne() == FuseResult::kHandled) timers_.RunPending();
    posts_.Run();
    timers_.RunPending();
  }

  int Register(const testing::KernelSide::OpenFile& file) {
    ib_user_mad_reg_req request{};
    request.qpn = 1;
    return kernel_
        .Ioctl(file, IB_USER_MAD_REGISTER_AGENT, testing::AsBytes(request),
               sizeof request)
        .error;
  }

  testing::VirtualTimers timers_;
  testing::PostBox posts_;
  testing::FakeDevice adapter_{1};
  testing::FakePort& port_ = adapter_.port(1);
  std::shared_ptr<mad::Host> host_ =
      std::make_shared<mad::Host>(timers_, adapter_);
  WorkerPool workers_{timers_, posts_.Poster()};
  std::optional<CuseDevice> device_{
      std::in_place, timers_, workers_,
      CuseDevice::Identity{"infiniband/umad0", 231, 0},
      [this](int) { return std::make_unique<UmadFile>(host_, 1); }};
  testing::KernelSide kernel_;
  testing::KernelSide::Device made_;
};

TEST_F(CuseDeviceTest, TellsTheKernelItsNameAndNumber) {
  Serve();
  EXPECT_EQ(made_.error, 0);
  EXPECT_EQ(made_.name, "infiniband/umad0");
  EXPECT_EQ(made_.major, 231u);
  EXPECT_EQ(made_.minor, 0u);
}

TEST_F(CuseDeviceTest, SaysWhenTheKernelRefusesIt) {
  kernel_.StartCuse();
  const int server = kernel_.TakeServerFd();
  kernel_.HangUp();
  EXPECT_EQ(device_->Serve(UniqueFd(server)),
            absl::AlreadyExistsError(
                "/dev/infiniband/umad0, character device 231:0: the kernel "
                "refuses it: name or number are in use"));
}

TEST_F(CuseDeviceTest, ServesTheFileOperationsOfRunMode) {
  Serve();
  const auto file = kernel_.Open(kNode, O_RDWR | O_NONBLOCK);
  ASSERT_EQ(file.error, 0);
  EXPECT_EQ(Register(file), 0);
  EXPECT_EQ(kernel_.Read(file, 320, 0, O_NONBLOCK).error, EAGAIN);
  EXPECT_EQ(kernel_.Poll(file), POLLOUT | POLLWRNORM);

  EXPECT_EQ(kernel_.Write(file, UmadRequest(7)).error, 0);
  port_.Receive(AnswerTo(port_.sent.back()));
  timers_.RunFor(absl::Milliseconds(1));
  Pump();
  EXPECT_EQ(kernel_.TakeNotifications(), 1);
  const auto answer = kernel_.Read(file, 320);
  EXPECT_EQ(answer.data.size(), kOldUmadHeader + 256);
  EXPECT_EQ(TidIn(answer.data) & 0xffffffff, 7u);
  kernel_.Release(file);
}

TEST_F(CuseDeviceTest, EachOpenIsAFileOfItsOwn) {
  Serve();
  const auto first = kernel_.Open(kNode, O_RDWR);
  const auto second = kernel_.Open(kNode, O_RDWR);
  EXPECT_NE(first.handle, second.handle);
  EXPECT_EQ(Register(first), 0);
  EXPECT_EQ(kernel_.Write(first, UmadRequest(1)).error, 0);
  EXPECT_EQ(kernel_.Write(second, UmadRequest(1)).error, EIO);  // no agent
  kernel_.Release(first);
  kernel_.Release(second);
}

TEST_F(CuseDeviceTest, ASignalEndsABlockedRead) {
  Serve();
  const auto file = kernel_.Open(kNode, O_RDWR);
  const uint64_t read = kernel_.StartRead(file, 320);
  EXPECT_TRUE(kernel_.IsParked(read));
  kernel_.Interrupt(read);
  EXPECT_EQ(kernel_.Wait(read).error, EINTR);
  kernel_.Release(file);
}

// A write above 128 KiB comes in pieces, as the kernel cuts it.
TEST_F(CuseDeviceTest, PutsALongWriteTogether) {
  Serve();
  const auto file = kernel_.Open(kNode, O_RDWR);
  std::vector<std::byte> whole(testing::KernelSide::kPiece + 1000);
  // Too long without RMPP: only the whole has a wrong length.
  const ib_user_mad_hdr header = HeaderTo(kPeer);
  std::ranges::copy(Umad(header, PerfGet(1)), whole.begin());
  ASSERT_EQ(Register(file), 0);
  const Bytes bytes(whole);
  EXPECT_EQ(kernel_.Write(file, bytes.first(testing::KernelSide::kPiece)).error,
            0);
  EXPECT_EQ(kernel_
                .Write(file, bytes.subspan(testing::KernelSide::kPiece),
                       testing::KernelSide::kPiece)
                .error,
            EINVAL);
  EXPECT_TRUE(port_.sent.empty());
  kernel_.Release(file);
}

TEST_F(CuseDeviceTest, AnAdapterMayGoWhileTheDeviceIsOpen) {
  Serve();
  EXPECT_FALSE(device_->in_use());
  const auto old = kernel_.Open(kNode, O_RDWR);
  ASSERT_EQ(Register(old), 0);
  EXPECT_TRUE(device_->in_use());

  adapter_.Remove();
  device_->SetOpener([](int) { return nullptr; });
  EXPECT_EQ(kernel_.Open(kNode, O_RDWR).error, ENXIO);
  EXPECT_EQ(kernel_.Read(old, 320).error, EIO);
  EXPECT_TRUE(device_->in_use());
  kernel_.Release(old);
  EXPECT_FALSE(device_->in_use());
}

TEST_F(CuseDeviceTest, AnotherAdapterMayTakeItsPlace) {
  Serve();
  const auto old = kernel_.Open(kNode, O_RDWR);
  ASSERT_EQ(Register(old), 0);
  adapter_.Remove();
  testing::FakeDevice next(1);
  const auto host = std::make_shared<mad::Host>(timers_, next);
  device_->SetOpener([&](int) { return std::make_unique<UmadFile>(host, 1); });
  const auto fresh = kernel_.Open(kNode, O_RDWR);
  EXPECT_EQ(Register(fresh), 0);
  EXPECT_EQ(kernel_.Write(fresh, UmadRequest(1)).error, 0);
  EXPECT_EQ(next.port(1).sent.size(), 1u);
  EXPECT_EQ(kernel_.Write(old, UmadRequest(1)).error, EIO);
  kernel_.Release(old);
  kernel_.Release(fresh);
}

TEST_F(CuseDeviceTest, FilesEndWithTheDevice) {
  Serve();
  const auto file = kernel_.Open(kNode, O_RDWR);
  const uint64_t read = kernel_.StartRead(file, 320);
  EXPECT_TRUE(kernel_.IsParked(read));
  device_.reset();
  EXPECT_EQ(kernel_.Wait(read).error, EIO);
  EXPECT_TRUE(port_.sent.empty());
}

// Takes what its opener writes.
class OwnFile final : public File {
 public:
  void Open(bool /*nonblock*/, OpenReply reply) override { reply.Opened(); }
  void Read(bool /*nonblock*/, ReadReply reply) override {
    reply.Fail(Errno::kTryAgain);
  }
  bool IsForOpenerOnly() const override { return true; }
  void Write(Written data, WriteReply reply) override {
    reply.Written(data.size());
  }
  void Ioctl(const IoctlRequest& /*request*/, IoctlReply reply) override {
    reply.Fail(Errno::kNotTty);
  }
  uint32_t Poll() override { return 0; }
  void Interrupt(RequestId /*id*/) override {}
};

TEST_F(CuseDeviceTest, AFileOfItsOpenerTakesNothingFromOtherUsers) {
  device_.emplace(timers_, workers_,
                  CuseDevice::Identity{"infiniband/uverbs0", 231, 192},
                  [](int) { return std::make_unique<OwnFile>(); });
  Serve();
  const std::vector<std::byte> command(16);
  kernel_.SetCaller(getpid(), 1000);
  const auto file = kernel_.Open(kNode, O_RDWR);
  ASSERT_EQ(file.error, 0);
  EXPECT_EQ(kernel_.Write(file, command).error, 0);
  kernel_.SetCaller(getpid(), 0);
  EXPECT_EQ(kernel_.Write(file, command).error, EACCES);
  kernel_.SetCaller(getpid(), 1000);
  EXPECT_EQ(kernel_.Write(file, command).error, 0);
}

}  // namespace
}  // namespace ibemu::cuse

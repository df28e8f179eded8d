#include "cuse/fuse/fuse_tree.h"

#include <linux/fuse.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>

#include "cuse/fuse/poll_waiters.h"
#include "tests/cuse/fuse/tree_fixture.h"

namespace ibemu::cuse {
namespace {

using ::testing::ElementsAre;
using ::testing::IsSupersetOf;
using testing::KernelSide;

constexpr uint64_t kRoot = FUSE_ROOT_ID;

TEST_F(TreeTest, TheRootShowsDevicesAndSysfs) {
  EXPECT_THAT(kernel_.List(kRoot), ElementsAre(".", "..", "dev", "sys"));
  EXPECT_THAT(kernel_.List(kernel_.Walk("dev").out.nodeid),
              ElementsAre(".", "..", "issm0", "issm1", "umad0", "umad1"));
  EXPECT_THAT(
      kernel_.List(kernel_.Walk("sys/class").out.nodeid),
      IsSupersetOf({"infiniband", "infiniband_mad", "infiniband_verbs"}));
}

// [node_stat]
TEST_F(TreeTest, DevicesAreFilesOfTheGivenOwnerAndMode) {
  const auto umad = kernel_.Walk("dev/umad1").out;
  EXPECT_EQ(umad.attr.mode, S_IFREG | 0660u);
  EXPECT_EQ(FuseTree::Options{}.device_mode, 0600u);  // as Linux has it
  EXPECT_EQ(umad.attr.uid, 1000u);
  EXPECT_EQ(umad.attr.gid, 1000u);
  EXPECT_EQ(umad.entry_valid, 0u);
}

TEST_F(TreeTest, EachLookUpOfADeviceGivesItsOwnNode) {
  const auto first = kernel_.Walk("dev/umad0").out;
  const auto second = kernel_.Walk("dev/umad0").out;
  EXPECT_NE(first.nodeid, second.nodeid);
  EXPECT_EQ(first.attr.ino, second.attr.ino);

  kernel_.Forget(first.nodeid);
  EXPECT_EQ(kernel_.Open(first.nodeid, O_RDWR).error, ENOENT);
  EXPECT_EQ(kernel_.Open(second.nodeid, O_RDWR).error, 0);
}

TEST_F(TreeTest, NamesThatDoNotExistAreNotFound) {
  EXPECT_EQ(kernel_.Walk("dev/umad2").error, ENOENT);
  EXPECT_EQ(kernel_.Walk("sys/class/net").error, ENOENT);
  EXPECT_EQ(kernel_.Lookup(12345, "dev").error, ENOENT);
}

// [removal]
TEST_F(TreeTest, ARemovedDeviceLosesItsFiles) {
  const auto stale = kernel_.Walk("dev/umad0").out;
  const auto stale_issm = kernel_.Walk("dev/issm0").out;
  PullDevice();
  EXPECT_EQ(kernel_.Walk("dev/umad0").error, ENOENT);
  EXPECT_THAT(kernel_.List(kernel_.Walk("dev").out.nodeid),
              ElementsAre(".", ".."));
  EXPECT_EQ(kernel_.Open(stale.nodeid, O_RDWR).error, ENXIO);
  EXPECT_EQ(kernel_.Open(stale_issm.nodeid, O_RDWR).error, ENXIO);
}

TEST_F(TreeTest, ADeviceThatIsPluggedInAgainHasFilesAgain) {
  const auto old = OpenUmadWithAgent();
  const auto stale = kernel_.Walk("dev/umad0").out;
  PullDevice();
  PlugDevice();
  EXPECT_THAT(kernel_.List(kernel_.Walk("dev").out.nodeid),
              ElementsAre(".", "..", "issm0", "issm1", "umad0", "umad1"));
  EXPECT_EQ(kernel_.Open(stale.nodeid, O_RDWR).error, ENXIO);
  EXPECT_EQ(kernel_.Read(old, 1024).error, EIO);
  EXPECT_EQ(kernel_.Poll(old), POLLERR);

  const auto fresh = OpenUmadWithAgent();
  SendAndAnswer(fresh, 9);
  EXPECT_EQ(TidIn(kernel_.Read(fresh, 1024).data) & 0xffffffff, 9u);
  EXPECT_EQ(kernel_.Write(old, UmadRequest(1)).error, EIO);
  kernel_.Release(old);
  SendAndAnswer(fresh, 10);
  EXPECT_EQ(kernel_.Read(fresh, 1024).error, 0);
}

TEST_F(TreeTest, AnOpenIssmOfARemovedDeviceHoldsNothingOfTheNext) {
  const auto old = kernel_.Open("dev/issm0", O_RDWR);
  ASSERT_EQ(old.error, 0);
  PullDevice();
  port_.is_sm = false;  // as of a device after power-on
  PlugDevice();
  const auto fresh = kernel_.Open("dev/issm0", O_RDWR | O_NONBLOCK);
  EXPECT_EQ(fresh.error, 0);
  EXPECT_TRUE(port_.is_sm);
  kernel_.Release(old);
  EXPECT_TRUE(port_.is_sm);
  kernel_.Release(fresh);
  EXPECT_FALSE(port_.is_sm);
}

// The kernel remembers no name of a device, and no listing with one.
TEST_F(TreeTest, NamesOfDevicesAreAskedForEachTime) {
  for (const char* path :
       {"dev/umad0", "sys/class/infiniband/ibemu0",
        "sys/class/infiniband_mad/issm0", "sys/devices/pci1bed:00/1bed:00:00.0",
        "sys/bus/pci/devices/1bed:00:00.0"}) {
    EXPECT_EQ(kernel_.Walk(path).out.entry_valid, 0u) << path;
  }
  for (const char* path :
       {"dev", "sys/class/infiniband", "sys/devices/pci1bed:00",
        "sys/devices/pci1bed:00/1bed:00:00.0/vendor"}) {
    EXPECT_GT(kernel_.Walk(path).out.entry_valid, 0u) << path;
  }
  const auto open_flags = [this](const char* path) {
    return kernel_.OpenDirectory(kernel_.Walk(path).out.nodeid).flags;
  };
  EXPECT_EQ(open_flags("dev"), 0u);
  EXPECT_EQ(open_flags("sys/class/infiniband"), 0u);
  EXPECT_EQ(open_flags("sys/class"),
            unsigned{FOPEN_CACHE_DIR | FOPEN_KEEP_CACHE});
}

TEST_F(TreeTest, AListingShowsNoNameTwiceWhenDevicesComeAndGo) {
  const uint64_t dev = kernel_.Walk("dev").out.nodeid;
  const auto first = kernel_.ReadDirectory(dev, 0, 3 * 32);
  ASSERT_EQ(first.size(), 3u);
  EXPECT_EQ(first.back().name, "issm0");
  const uint64_t behind = first.back().next;
  EXPECT_EQ(kernel_.ReadDirectory(dev, behind, 4096).size(), 3u);
  PullDevice();
  EXPECT_EQ(kernel_.ReadDirectory(dev, behind, 4096).size(), 0u);
  PlugDevice();
  EXPECT_EQ(kernel_.ReadDirectory(dev, behind, 4096).size(), 4u);
}

TEST_F(TreeTest, AnOpenTextOfARemovedDeviceSaysSo) {
  const std::string path = DevicePath("node_guid");
  const auto text = kernel_.Open(path, O_RDONLY);
  const auto writable = kernel_.Open(DevicePath("node_desc"), O_WRONLY);
  const uint64_t stale = kernel_.Walk(path).out.nodeid;
  const uint64_t directory = kernel_.Walk(DevicePath("ports")).out.nodeid;
  ASSERT_EQ(text.error, 0);
  PullDevice();
  PlugDevice();
  EXPECT_EQ(kernel_.Read(text, 4096).error, ENODEV);
  EXPECT_EQ(kernel_.Write(writable, Bytes("x")).error, ENODEV);
  EXPECT_EQ(kernel_.Open(stale, O_RDONLY).error, ENODEV);
  EXPECT_EQ(kernel_.Lookup(directory, "1").error, ENOENT);
  EXPECT_THAT(kernel_.List(directory), ElementsAre(".", ".."));
  EXPECT_THAT(ReadText(path), ::testing::Not(::testing::IsEmpty()));
}

// [sysfs_files]
TEST_F(TreeTest, SysfsTextsAreMadeWhenTheyAreRead) {
  EXPECT_EQ(ReadText("sys/class/infiniband_mad/abi_version"), "5\n");

  const auto file = kernel_.Open(DevicePath("node_desc"), O_RDONLY);
  EXPECT_TRUE(file.flags & FOPEN_DIRECT_IO);
  device_.SetNodeDescription("before");
  EXPECT_EQ(Text(kernel_.Read(file, 3)), "bef");
  device_.SetNodeDescription("after");
  EXPECT_EQ(Text(kernel_.Read(file, 4096, 3)), "ore\n");
  EXPECT_EQ(Text(kernel_.Read(file, 4096, 7)), "");
  EXPECT_EQ(Text(kernel_.Read(file, 4096)), "after\n");
}

TEST_F(TreeTest, ANodeDescriptionThatIsWrittenReachesTheDevice) {
  const auto file = kernel_.Open(DevicePath("node_desc"), O_WRONLY | O_TRUNC);
  ASSERT_EQ(file.error, 0);
  EXPECT_EQ(kernel_.Write(file, Bytes("rack 7\n")).error, 0);
  EXPECT_EQ(device_.node_description(), "rack 7\n");
}

TEST_F(TreeTest, ReadOnlyTextsCannotBeOpenedForWritingEvenByRoot) {
  EXPECT_EQ(kernel_.Open(DevicePath("node_guid"), O_WRONLY).error, EACCES);
  kernel_.SetCaller(1, 4321);  // not the owner
  EXPECT_EQ(kernel_.Open(DevicePath("node_desc"), O_WRONLY).error, EACCES);
}

TEST_F(TreeTest, LinksLeadWhereSysfsSays) {
  const auto link = kernel_.Walk("sys/class/infiniband/ibemu0").out;
  EXPECT_EQ(link.attr.mode & S_IFMT, unsigned{S_IFLNK});
  EXPECT_THAT(kernel_.ReadLink(link.nodeid),
              ::testing::EndsWith("/infiniband/ibemu0"));
}

// Bound on /sys/class/infiniband, a relative link would lead to /sys/devices.
TEST_F(TreeTest, LinksOfClassesLeadToWhereTheWholeTreeIs) {
  testing::KernelSide kernel;
  FuseTree tree(timers_, view_, workers_,
                FuseTree::Options{.sys_path = "/run/x"});
  ASSERT_TRUE(tree.Serve(kernel.TakeServerFd()).ok());
  kernel.SetPump([&] {
    while (tree.HandleOne() == FuseResult::kHandled) continue;
  });
  kernel.Init();
  const std::string device =
      kernel.ReadLink(kernel.Walk("sys/class/infiniband/ibemu0").out.nodeid);
  EXPECT_THAT(device, ::testing::StartsWith("/run/x/devices/pci"));
  EXPECT_THAT(device, ::testing::EndsWith("/infiniband/ibemu0"));
  const std::string place =
      "sys" + device.substr(std::string_view("/run/x").size());
  EXPECT_THAT(kernel.ReadLink(kernel.Walk(place + "/subsystem").out.nodeid),
              ::testing::StartsWith("../"));
}

// [misc_fops]: so the kernel refuses lseek, pread and mmap.
TEST_F(TreeTest, DeviceFilesAreStreamsWithoutACache) {
  EXPECT_EQ(kernel_.Open("dev/umad0", O_RDWR).flags,
            unsigned{FOPEN_DIRECT_IO | FOPEN_STREAM});
}

// [roundtrip]
TEST_F(TreeTest, AMadGoesOutAndItsAnswerComesBack) {
  const auto file = OpenUmadWithAgent();
  SendAndAnswer(file, 5);
  const KernelSide::Reply reply = kernel_.Read(file, 1024);
  ASSERT_EQ(reply.data.size(), kOldUmadHeader + 256);
  EXPECT_EQ(TidIn(reply.data) & 0xffffffff, 5u);
  EXPECT_EQ(HeaderIn(reply.data).lid, htobe16(static_cast<uint16_t>(kPeer)));
}

// [read_blocking]
TEST_F(TreeTest, ABlockingReadIsParkedUntilAMadComes) {
  const auto file = OpenUmadWithAgent();
  const uint64_t read = kernel_.StartRead(file, 1024);
  EXPECT_TRUE(kernel_.IsParked(read));
  SendAndAnswer(file);
  EXPECT_EQ(kernel_.Wait(read).data.size(), kOldUmadHeader + 256);
}

TEST_F(TreeTest, ANonBlockingReadSaysTryAgain) {
  const auto file = OpenUmadWithAgent();
  EXPECT_EQ(kernel_.Read(file, 1024, 0, O_NONBLOCK).error, EAGAIN);
}

// [read_signal]
TEST_F(TreeTest, ASignalEndsAParkedReadAndNoOther) {
  const auto file = OpenUmadWithAgent();
  const uint64_t first = kernel_.StartRead(file, 1024);
  const uint64_t second = kernel_.StartRead(file, 1024);
  kernel_.Interrupt(first);
  EXPECT_EQ(kernel_.Wait(first).error, EINTR);
  EXPECT_TRUE(kernel_.IsParked(second));
  SendAndAnswer(file);
  EXPECT_EQ(kernel_.Wait(second).error, 0);
}

TEST_F(TreeTest, AnInterruptThatOvertakesItsReadStillCounts) {
  const auto file = OpenUmadWithAgent();
  const uint64_t some = kernel_.Send(FUSE_STATFS, kRoot, {});
  const fuse_interrupt_in in = {.unique = some + 2};
  kernel_.Send(FUSE_INTERRUPT, 0, {testing::AsBytes(in)});
  const uint64_t read = kernel_.StartRead(file, 1024);
  ASSERT_EQ(read, some + 2);
  EXPECT_EQ(kernel_.Wait(read).error, EINTR);
}

// [poll_*] [epoll_edge]
TEST_F(TreeTest, PollIsToldOnceWhenAMadComes) {
  const auto file = OpenUmadWithAgent();
  EXPECT_EQ(kernel_.Poll(file), POLLOUT | POLLWRNORM);
  SendAndAnswer(file, 1);
  EXPECT_EQ(kernel_.TakeNotifications(), 1);
  SendAndAnswer(file, 2);
  EXPECT_EQ(kernel_.TakeNotifications(), 0);  // nobody asked since
  EXPECT_EQ(kernel_.Poll(file), POLLOUT | POLLWRNORM | POLLIN | POLLRDNORM);
}

// [epoll_edge]
TEST_F(TreeTest, APollThatFindsSomethingIsToldOfTheNextMad) {
  const auto file = OpenUmadWithAgent();
  SendAndAnswer(file, 1);
  EXPECT_NE(kernel_.Poll(file) & POLLIN, 0);
  SendAndAnswer(file, 2);
  EXPECT_EQ(kernel_.TakeNotifications(), 0);  // it will ask, most likely
  timers_.RunFor(PollWaiters::kNoticeDelay);
  EXPECT_EQ(kernel_.TakeNotifications(), 1);  // edge-triggered epoll does not
}

TEST_F(TreeTest, AReaderWhoKeepsUpIsNotToldAgain) {
  const auto file = OpenUmadWithAgent();
  SendAndAnswer(file, 1);
  EXPECT_NE(kernel_.Poll(file) & POLLIN, 0);
  EXPECT_EQ(kernel_.Read(file, 1024).error, 0);
  SendAndAnswer(file, 2);
  EXPECT_EQ(kernel_.Read(file, 1024).error, 0);
  timers_.RunFor(PollWaiters::kNoticeDelay);
  EXPECT_EQ(kernel_.TakeNotifications(), 0);
  SendAndAnswer(file, 3);
  timers_.RunFor(PollWaiters::kNoticeDelay);
  EXPECT_EQ(kernel_.TakeNotifications(), 1);
}

TEST_F(TreeTest, WhoHasReadSomeIsToldOfTheRest) {
  const auto file = OpenUmadWithAgent();
  SendAndAnswer(file, 1);
  EXPECT_NE(kernel_.Poll(file) & POLLIN, 0);
  SendAndAnswer(file, 2);
  EXPECT_EQ(kernel_.Read(file, 1024).error, 0);
  timers_.RunFor(PollWaiters::kNoticeDelay);
  EXPECT_EQ(kernel_.TakeNotifications(), 1);
}

// [removal]
TEST_F(TreeTest, ARemovedDeviceWakesPollButNoBlockedRead) {
  const auto file = OpenUmadWithAgent();
  const uint64_t read = kernel_.StartRead(file, 1024);
  kernel_.Poll(file);
  device_.Remove();
  EXPECT_EQ(kernel_.TakeNotifications(), 1);
  EXPECT_EQ(kernel_.Poll(file), POLLERR);
  EXPECT_TRUE(kernel_.IsParked(read));
  kernel_.Interrupt(read);
  EXPECT_EQ(kernel_.Wait(read).error, EINTR);
  EXPECT_EQ(kernel_.Read(file, 1024).error, EIO);
}

// [issm_*]
TEST_F(TreeTest, TheSecondIssmWaitsForTheFirst) {
  const auto first = kernel_.Open("dev/issm0", O_RDWR);
  EXPECT_TRUE(port_.is_sm);
  EXPECT_EQ(kernel_.Open("dev/issm0", O_RDWR | O_NONBLOCK).error, EAGAIN);

  const uint64_t node = kernel_.Walk("dev/issm0").out.nodeid;
  const uint64_t opening = kernel_.StartOpen(node, O_RDWR);
  EXPECT_TRUE(kernel_.IsParked(opening));
  kernel_.Release(first);
  const auto second = kernel_.FinishOpen(opening, node);
  EXPECT_EQ(second.error, 0);
  EXPECT_TRUE(port_.is_sm);
  kernel_.Release(second);
  EXPECT_FALSE(port_.is_sm);
}

// [issm_*]
TEST_F(TreeTest, ASignalEndsTheWaitForIssm) {
  const auto first = kernel_.Open("dev/issm0", O_RDWR);
  const uint64_t node = kernel_.Walk("dev/issm0").out.nodeid;
  const uint64_t opening = kernel_.StartOpen(node, O_RDWR);
  kernel_.Interrupt(opening);
  EXPECT_EQ(kernel_.Wait(opening).error, EINTR);
  kernel_.Release(first);
  EXPECT_FALSE(port_.is_sm);  // nobody was left in line
}

// [misc_fops]
TEST_F(TreeTest, UnknownIoctlsAreNotForThisDevice) {
  const auto file = kernel_.Open("dev/umad0", O_RDWR);
  EXPECT_EQ(kernel_.Ioctl(file, 0x5401, {}, 0).error, ENOTTY);
}

TEST_F(TreeTest, HandlesThatWereNeverGivenAreRefused) {
  const KernelSide::OpenFile wrong = {.node = kRoot, .handle = 99};
  EXPECT_EQ(kernel_.Read(wrong, 1024).error, EBADF);
  EXPECT_EQ(kernel_.Write(wrong, UmadRequest(1)).error, EBADF);
  EXPECT_EQ(kernel_.Poll(wrong), -EBADF);
  EXPECT_EQ(kernel_.Ioctl(wrong, 0, {}, 0).error, EBADF);
}

TEST_F(TreeTest, UnmountingEndsTheService) {
  kernel_.HangUp();
  EXPECT_EQ(tree_->HandleOne(), FuseResult::kEnded);
}

TEST_F(TreeTest, ParkedRequestsFailWhenTheTreeEnds) {
  const auto file = OpenUmadWithAgent();
  const auto issm = kernel_.Open("dev/issm0", O_RDWR);
  ASSERT_EQ(issm.error, 0);
  const uint64_t read = kernel_.StartRead(file, 1024);
  const uint64_t opening =
      kernel_.StartOpen(kernel_.Walk("dev/issm0").out.nodeid, O_RDWR);
  Pump();
  serving_ = false;
  tree_.reset();
  EXPECT_EQ(kernel_.Wait(read).error, EIO);
  EXPECT_EQ(kernel_.Wait(opening).error, EIO);
  EXPECT_FALSE(port_.is_sm);
}

}  // namespace
}  // namespace ibemu::cuse

#include "launch/systemd/service_manager.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <cstdlib>
#include <string>
#include <thread>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "testing/temp_directory.h"

namespace ibemu::launch {
namespace {

using ::testing::HasSubstr;

// Plays the service manager: a socket that is told what a service has to say.
class ServiceManagerTest : public ::testing::Test {
 protected:
  ServiceManagerTest() {
    const std::string path = directory_.path() + "/notify";
    sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
    path.copy(address.sun_path, sizeof address.sun_path - 1);
    EXPECT_EQ(bind(socket_.get(), reinterpret_cast<sockaddr*>(&address),
                   sizeof address),
              0);
    setenv("NOTIFY_SOCKET", path.c_str(), 1);
  }
  ~ServiceManagerTest() override { unsetenv("NOTIFY_SOCKET"); }

  // The next message; a descriptor that came with it goes to `passed`.
  std::string Heard(UniqueFd& passed) {
    std::string text(1024, '\0');
    iovec part{text.data(), text.size()};
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = control;
    message.msg_controllen = sizeof control;
    const ssize_t size = recvmsg(socket_.get(), &message, 0);
    text.resize(size > 0 ? static_cast<size_t>(size) : 0);
    if (const cmsghdr* header = CMSG_FIRSTHDR(&message)) {
      int fd = -1;
      std::memcpy(&fd, CMSG_DATA(header), sizeof fd);
      passed.Reset(fd);
    }
    return text;
  }
  std::string Heard() {
    UniqueFd passed;
    return Heard(passed);
  }

  const testing::TempDirectory directory_;
  UniqueFd socket_{::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0)};
};

TEST_F(ServiceManagerTest, HearsWhatBecomesOfTheService) {
  const ServiceManager manager;
  manager.Ready("2 nodes");
  EXPECT_EQ(Heard(), "READY=1\nSTATUS=2 nodes");
  manager.Alive();
  EXPECT_EQ(Heard(), "WATCHDOG=1");
  manager.Unstore("sysfs");
  EXPECT_EQ(Heard(), "FDSTOREREMOVE=1\nFDNAME=sysfs");
  manager.Stopping();
  EXPECT_EQ(Heard(), "STOPPING=1");
}

TEST_F(ServiceManagerTest, KeepsADescriptorForTheNextProcess) {
  UniqueFd kept;
  std::thread manager([&] {
    EXPECT_EQ(Heard(kept), "FDSTORE=1\nFDNAME=sysfs");
    UniqueFd barrier;
    EXPECT_EQ(Heard(barrier), "BARRIER=1");  // closed: it has been heard
  });
  const UniqueFd null(open("/dev/null", O_RDWR | O_CLOEXEC));
  EXPECT_TRUE(ServiceManager::Store(null.get(), "sysfs").ok());
  manager.join();
  EXPECT_TRUE(kept.valid());
}

TEST_F(ServiceManagerTest, WithoutOneNobodyKeepsADescriptor) {
  unsetenv("NOTIFY_SOCKET");
  EXPECT_THAT(std::string(ServiceManager::Store(0, "sysfs").message()),
              HasSubstr("FileDescriptorStoreMax="));
}

TEST_F(ServiceManagerTest, WantsASignOfLifeTwiceInTheTimeThatItWaits) {
  setenv("WATCHDOG_USEC", "30000000", 1);
  setenv("WATCHDOG_PID", absl::StrCat(getpid()).c_str(), 1);
  EXPECT_EQ(ServiceManager().heartbeat(), absl::Seconds(15));
  EXPECT_EQ(ServiceManager().heartbeat(), std::nullopt) << "taken already";
}

// Exits with 0 when the descriptors that were passed have their names.
[[noreturn]] void TakePassed() {
  UniqueFd null(open("/dev/null", O_RDWR));
  dup2(null.get(), 3);
  dup2(socket(AF_UNIX, SOCK_STREAM, 0), 4);
  setenv("LISTEN_PID", absl::StrCat(getpid()).c_str(), 1);
  setenv("LISTEN_FDS", "2", 1);
  setenv("LISTEN_FDNAMES", "sysfs:control", 1);
  ServiceManager manager;
  const UniqueFd control = manager.Take("control");
  const UniqueFd sysfs = manager.Take("sysfs");
  const bool named = sysfs.get() == 3 && control.get() == 4;
  const bool once = !manager.Take("sysfs").valid();
  std::exit(named && once && std::getenv("LISTEN_FDS") == nullptr ? 0 : 1);
}

TEST_F(ServiceManagerTest, PassesDescriptorsByName) {
  EXPECT_EXIT(TakePassed(), ::testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace ibemu::launch

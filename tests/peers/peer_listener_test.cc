// Connections to a port of this machine.
#include "peers/peer_listener.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "loop/epoll_loop.h"

namespace ibemu::peers {
namespace {

constexpr absl::Duration kGivesUpAfter = absl::Seconds(3);

// As many descriptors as a process may have, for a while.
class FewDescriptors {
 public:
  explicit FewDescriptors(rlim_t most) {
    getrlimit(RLIMIT_NOFILE, &before_);
    rlimit few = before_;
    few.rlim_cur = most;
    setrlimit(RLIMIT_NOFILE, &few);
  }
  ~FewDescriptors() { setrlimit(RLIMIT_NOFILE, &before_); }
  FewDescriptors(const FewDescriptors&) = delete;
  FewDescriptors& operator=(const FewDescriptors&) = delete;

 private:
  rlimit before_ = {};
};

constexpr int kFew = 200;

class PeerListenerTest : public ::testing::Test {
 protected:
  void Open(const std::string& address = "127.0.0.1:0") {
    listener_ = PeerListener::Open(*loop_, address, kGivesUpAfter).value();
    const std::string& bound = listener_->bound();
    int port = 0;
    ASSERT_TRUE(absl::SimpleAtoi(bound.substr(bound.rfind(':') + 1), &port));
    port_ = static_cast<uint16_t>(port);
    ASSERT_TRUE(listener_
                    ->Start([this](UniqueFd socket) {
                      taken_.push_back(std::move(socket));
                    })
                    .ok());
  }
  // Waits in the kernel, first.
  UniqueFd Connect() {
    UniqueFd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in name = {};
    name.sin_family = AF_INET;
    name.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    name.sin_port = htons(port_);
    EXPECT_EQ(connect(socket.get(), reinterpret_cast<const sockaddr*>(&name),
                      sizeof name),
              0);
    return socket;
  }
  void Connect(size_t count) {
    for (size_t i = 0; i < count; ++i) {
      connected_.push_back(Connect());
      TurnLoop();
    }
  }
  void TurnLoop() {
    loop_->Post([this] { loop_->Stop(); });
    loop_->Run();
  }
  static std::string EndpointOf(const UniqueFd& socket) {
    sockaddr_in name = {};
    socklen_t size = sizeof name;
    EXPECT_EQ(
        getsockname(socket.get(), reinterpret_cast<sockaddr*>(&name), &size),
        0);
    return absl::StrCat("127.0.0.1:", ntohs(name.sin_port));
  }
  static bool IsEnded(const UniqueFd& socket) {
    char byte = 0;
    return recv(socket.get(), &byte, 1, MSG_DONTWAIT) == 0;
  }

  const std::unique_ptr<Loop> loop_ = EpollLoop::Create().value();
  std::unique_ptr<PeerListener> listener_;
  uint16_t port_ = 0;
  std::vector<UniqueFd> taken_, connected_;
};

TEST_F(PeerListenerTest, AConnectionIsTakenAsItIs) {
  Open();
  Connect(1);
  ASSERT_EQ(taken_.size(), 1U);
  ASSERT_EQ(send(connected_[0].get(), "!", 1, 0), 1);
  char byte = 0;
  EXPECT_EQ(recv(taken_[0].get(), &byte, 1, 0), 1);
  const auto option = [&](int name) {
    int value = 0;
    socklen_t size = sizeof value;
    EXPECT_EQ(getsockopt(taken_[0].get(), IPPROTO_TCP, name, &value, &size), 0);
    return value;
  };
  EXPECT_EQ(option(TCP_NODELAY), 1);
  EXPECT_EQ(absl::Milliseconds(option(TCP_USER_TIMEOUT)), kGivesUpAfter);
}

TEST_F(PeerListenerTest, TheOldestOfTooManyStrangersIsTheFirstToGo) {
  Open();
  Connect(PeerListener::kMaxStrangers);
  EXPECT_FALSE(IsEnded(connected_[0]));
  Connect(2);
  EXPECT_TRUE(IsEnded(connected_[0]));
  EXPECT_TRUE(IsEnded(connected_[1]));
  EXPECT_FALSE(IsEnded(connected_[2]));
  EXPECT_EQ(listener_->strangers(), PeerListener::kMaxStrangers);
}

// On all addresses, where one by IPv4 comes as one by IPv6.
TEST_F(PeerListenerTest, WhoIsTrustedStays) {
  const FewDescriptors few(kFew);
  for (const char* const address : {"127.0.0.1:0", "[::]:0", "localhost:0"}) {
    Open(address);
    connected_.clear();
    taken_.clear();
    Connect(1);
    listener_->Trust(EndpointOf(connected_[0]));
    TurnLoop();
    EXPECT_EQ(listener_->strangers(), 0U) << address;
    Connect(kFew / 8 + 1);
    EXPECT_FALSE(IsEnded(connected_[0])) << address;
    EXPECT_TRUE(IsEnded(connected_[1])) << address;
  }
}

TEST_F(PeerListenerTest, WhoEndsOtherwiseIsNotKeptUp) {
  Open();
  Connect(1);
  shutdown(taken_[0].get(), SHUT_RDWR);  // as gRPC does
  taken_.clear();
  EXPECT_TRUE(IsEnded(connected_[0]));
}

// Takes descriptors until the lowest free one is `number`, or none is.
std::vector<UniqueFd> TakeBelow(int number) {
  std::vector<UniqueFd> taken;
  while (true) {
    UniqueFd one(fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 0));
    if (!one.valid() || one.get() >= number) return taken;
    taken.push_back(std::move(one));
  }
}

TEST_F(PeerListenerTest, WhoFindsNoDescriptorWaitsForOne) {
  Open();
  const FewDescriptors few(kFew);
  connected_.push_back(Connect());
  std::vector<UniqueFd> others = TakeBelow(kFew);
  TurnLoop();
  EXPECT_TRUE(taken_.empty());
  others.clear();
  while (taken_.empty()) TurnLoop();
  EXPECT_FALSE(IsEnded(connected_[0]));
}

TEST_F(PeerListenerTest, APartOfTheDescriptorsIsKept) {
  Open();
  const FewDescriptors few(kFew);
  std::vector<UniqueFd> others = TakeBelow(kFew * 3 / 4);
  const UniqueFd first = Connect();
  while (!IsEnded(first)) TurnLoop();
  const UniqueFd second = Connect();
  EXPECT_TRUE(taken_.empty());
  others.clear();
  while (taken_.empty()) TurnLoop();
  EXPECT_FALSE(IsEnded(second));
}

TEST_F(PeerListenerTest, FewDescriptorsAreForFewStrangers) {
  Open();
  const FewDescriptors few(kFew);
  Connect(kFew / 8 + 1);
  EXPECT_EQ(listener_->strangers(), size_t{kFew / 8});
  EXPECT_TRUE(IsEnded(connected_[0]));
}

TEST_F(PeerListenerTest, OnePortIsNotListenedAtTwice) {
  Open();
  const auto second = PeerListener::Open(
      *loop_, absl::StrCat("127.0.0.1:", port_), kGivesUpAfter);
  EXPECT_EQ(second.status(),
            absl::FailedPreconditionError(absl::StrCat(
                "127.0.0.1:", port_,
                ": can't listen there: the port may be taken, or the address "
                "not one of this machine")));
  // Once it is free, at once.
  listener_.reset();
  Open(absl::StrCat("127.0.0.1:", port_));
}

}  // namespace
}  // namespace ibemu::peers

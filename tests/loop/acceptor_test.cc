// Connections by way of localhost.
#include "loop/acceptor.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "loop/epoll_loop.h"

namespace ibemu {
namespace {

UniqueFd Socket() { return UniqueFd(socket(AF_INET, SOCK_STREAM, 0)); }

sockaddr_in NameOf(const UniqueFd& socket) {
  sockaddr_in name = {};
  socklen_t size = sizeof name;
  getsockname(socket.get(), reinterpret_cast<sockaddr*>(&name), &size);
  return name;
}

UniqueFd ListeningSocket() {
  UniqueFd made = Socket();
  sockaddr_in name = {};
  name.sin_family = AF_INET;
  name.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  EXPECT_EQ(
      bind(made.get(), reinterpret_cast<const sockaddr*>(&name), sizeof name),
      0);
  EXPECT_EQ(listen(made.get(), SOMAXCONN), 0);
  return made;
}

class AcceptorTest : public ::testing::Test {
 protected:
  struct Taken {
    UniqueFd socket;
    sockaddr_in from;
  };

  AcceptorTest() { EXPECT_TRUE(acceptor_->Start().ok()); }
  void TurnLoop() {
    loop_->Post([this] { loop_->Stop(); });
    loop_->Run();
  }
  static void Connect(const UniqueFd& socket, const UniqueFd& listening) {
    const sockaddr_in name = NameOf(listening);
    EXPECT_EQ(connect(socket.get(), reinterpret_cast<const sockaddr*>(&name),
                      sizeof name),
              0);
  }
  void Take(UniqueFd socket, const sockaddr_storage& from) {
    sockaddr_in name = {};
    std::memcpy(&name, &from, sizeof name);
    taken_.push_back({std::move(socket), name});
    if (pauses_) acceptor_->Pause();
  }

  std::unique_ptr<Loop> loop_ = EpollLoop::Create().value();
  UniqueFd one_ = ListeningSocket(), other_ = ListeningSocket();
  std::unique_ptr<Acceptor> acceptor_ = std::make_unique<Acceptor>(
      *loop_, std::vector<int>{one_.get(), other_.get()},
      [this](UniqueFd socket, const sockaddr_storage& from) {
        Take(std::move(socket), from);
      });
  std::vector<Taken> taken_;
  bool pauses_ = false;
};

TEST_F(AcceptorTest, HandsOverWhatComesInAtEachSocketAndSaysWhere) {
  for (const UniqueFd* listening : {&one_, &other_}) {
    const UniqueFd client = Socket();
    Connect(client, *listening);
    while (taken_.empty()) TurnLoop();
    EXPECT_EQ(taken_[0].from.sin_port, NameOf(client).sin_port);
    const int flags = fcntl(taken_[0].socket.get(), F_GETFL);
    EXPECT_NE(flags & O_NONBLOCK, 0);
    taken_.clear();
  }
  EXPECT_NE(fcntl(one_.get(), F_GETFL) & O_NONBLOCK, 0);
}

TEST_F(AcceptorTest, WhoComesWhileThereAreNoDescriptorsIsTakenLater) {
  const UniqueFd client = Socket();
  rlimit before = {};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit none = {.rlim_cur = 0, .rlim_max = before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
  Connect(client, one_);
  for (int i = 0; i < 3; ++i) TurnLoop();
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
  EXPECT_TRUE(taken_.empty());
  while (taken_.empty()) TurnLoop();
}

TEST_F(AcceptorTest, WhoTakesOneMayPauseAndMayEndMeanwhile) {
  pauses_ = true;
  const UniqueFd first = Socket(), second = Socket(), third = Socket();
  Connect(first, one_);
  Connect(second, one_);
  Connect(third, other_);
  while (taken_.size() < 3) TurnLoop();
  acceptor_.reset();
  const UniqueFd late = Socket();
  Connect(late, one_);
  const absl::Time until = loop_->Now() + 2 * Acceptor::kPause;
  while (loop_->Now() < until) TurnLoop();
  EXPECT_EQ(taken_.size(), 3U);
}

}  // namespace
}  // namespace ibemu

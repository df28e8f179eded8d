#include "peers/node_link_carrier.h"

#include <atomic>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <string>
#include <thread>
#include <utility>

#include "gtest/gtest.h"
#include "peers/subnet.pb.h"
#include "testing/socket_pair.h"

namespace ibemu::peers {
namespace {

// A FakeStream is gRPC's to CarryNodeLink(), and the peer to the test.
class FakeStream {
 public:
  // Of gRPC.
  bool Write(const v1::ToAdapter& message) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return takes_ || ended_; });
    if (ended_) return false;
    written_ += message.data();
    changed_.notify_all();
    return true;
  }
  bool Read(v1::FromAdapter* message) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return !to_read_.empty() || ended_; });
    if (to_read_.empty()) return false;
    *message = std::move(to_read_.front());
    to_read_.pop_front();
    return true;
  }
  void End() {
    const std::lock_guard lock(mutex_);
    ended_ = true;
    changed_.notify_all();
  }

  // Of the peer.
  void Say(v1::FromAdapter message) {
    const std::lock_guard lock(mutex_);
    to_read_.push_back(std::move(message));
    changed_.notify_all();
  }
  void Say(const std::string& bytes) {
    v1::FromAdapter message;
    message.set_data(bytes);
    Say(std::move(message));
  }
  void Take(bool takes) {
    const std::lock_guard lock(mutex_);
    takes_ = takes;
    changed_.notify_all();
  }
  std::string Hear(size_t bytes) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return written_.size() >= bytes; });
    return std::exchange(written_, "");
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<v1::FromAdapter> to_read_;
  std::string written_;
  bool takes_ = true, ended_ = false;
};

class NodeLinkCarrierTest : public ::testing::Test {
 protected:
  NodeLinkCarrierTest() {
    auto [ours, theirs] = testing::SocketPair();
    daemon_ = std::move(ours);
    carrier_ = std::thread([this, socket = std::move(theirs)]() mutable {
      CarryNodeLink<v1::ToAdapter, v1::FromAdapter>(
          std::move(socket), stream_, [this] { stream_.End(); },
          [this] { ++heard_; },
          [this](const v1::FromAdapter& message) {
            if (!message.has_packets_awaited()) return false;
            awaited_ = message.packets_awaited().number();
            return true;
          });
    });
  }
  ~NodeLinkCarrierTest() override {
    daemon_.Reset();
    carrier_.join();
  }

  std::string Receive(size_t bytes) const {
    std::string all;
    while (all.size() < bytes) {
      const std::string some = ReceiveSome(daemon_.get());
      if (some.empty()) break;
      all += some;
    }
    return all;
  }

  FakeStream stream_;
  UniqueFd daemon_;
  std::atomic<int> heard_ = 0;
  std::atomic<uint32_t> awaited_ = 0;
  std::thread carrier_;
};

TEST_F(NodeLinkCarrierTest, BytesArriveAtTheOtherEndInTheirOrder) {
  ASSERT_TRUE(SendAll(daemon_.get(), "to the peer"));
  EXPECT_EQ(stream_.Hear(11), "to the peer");
  stream_.Say("from ");
  stream_.Say("the peer");
  EXPECT_EQ(Receive(13), "from the peer");
}

TEST_F(NodeLinkCarrierTest, TellsOnceThatThePeerHasSaidSomething) {
  ASSERT_TRUE(SendAll(daemon_.get(), "to the peer"));
  EXPECT_EQ(stream_.Hear(11), "to the peer");
  EXPECT_EQ(heard_, 0);
  stream_.Say("from ");
  stream_.Say("the peer");
  EXPECT_EQ(Receive(13), "from the peer");
  EXPECT_EQ(heard_, 1);
}

TEST_F(NodeLinkCarrierTest, APeerThatTakesNothingMakesTheDaemonWait) {
  stream_.Take(false);
  const std::string block(kMaxAtOnce, 'x');
  size_t sent = 0;
  ssize_t count = 0;
  while ((count = send(daemon_.get(), block.data(), block.size(),
                       MSG_DONTWAIT)) > 0) {
    sent += static_cast<size_t>(count);
    ASSERT_LT(sent, size_t{16} << 20);
  }
  stream_.Take(true);
  EXPECT_EQ(stream_.Hear(sent), std::string(sent, 'x'));
}

TEST_F(NodeLinkCarrierTest, TheDaemonHearsThatThePeerIsGone) {
  stream_.End();
  EXPECT_EQ(ReceiveSome(daemon_.get()), "");
}

TEST_F(NodeLinkCarrierTest, WhatIsNoDataAndMayBeSaidIsTakenBetweenTheBytes) {
  stream_.Say("before ");
  v1::FromAdapter message;
  message.mutable_packets_awaited()->set_number(7);
  stream_.Say(std::move(message));
  stream_.Say("and after");
  EXPECT_EQ(Receive(16), "before and after");
  EXPECT_EQ(awaited_, 7u);
}

TEST_F(NodeLinkCarrierTest, APeerIsGoneThatSendsWhatIsNoData) {
  v1::FromAdapter message;
  message.mutable_attach()->set_node("node-2");
  stream_.Say(std::move(message));
  EXPECT_EQ(ReceiveSome(daemon_.get()), "");
}

TEST_F(NodeLinkCarrierTest, APeerIsGoneThatSendsMoreThanWasAgreed) {
  stream_.Say(std::string(kMaxAtOnce + 1, 'x'));
  EXPECT_EQ(ReceiveSome(daemon_.get()), "");
}

TEST_F(NodeLinkCarrierTest, APeerMayGoWhileTheDaemonReadsNothing) {
  const int reads_nothing = daemon_.get();
  for (int i = 0; i < 16; ++i) stream_.Say(std::string(kMaxAtOnce, 'x'));
  ASSERT_TRUE(SendAll(reads_nothing, "heard by nobody"));
  EXPECT_EQ(stream_.Hear(15), "heard by nobody");
  stream_.End();
  ASSERT_TRUE(SendAll(reads_nothing, "not taken"));
  carrier_.join();  // or this waits for ever
  carrier_ = std::thread([] {});
  EXPECT_FALSE(Receive(1).empty());  // what was carried by then
}

TEST_F(NodeLinkCarrierTest, TheStreamEndsWithTheDaemon) {
  daemon_.Reset();
  v1::FromAdapter message;
  while (stream_.Read(&message)) {
  }
  EXPECT_FALSE(stream_.Write({}));
}

}  // namespace
}  // namespace ibemu::peers

#include "daemon/events/event_stream.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_split.h"
#include "daemon/events/fabric_event_log.h"
#include "nlohmann/json.hpp"
#include "testing/lab.h"
#include "testing/socket_pair.h"
#include "tests/daemon/virtual_loop.h"

namespace ibemu::daemon {
namespace {

using nlohmann::json;
using ::testing::IsEmpty, ::testing::SizeIs;
using testing::Lab, testing::Chain;

class EventStreamTest : public ::testing::Test {
 protected:
  void Start(std::vector<std::string> kinds = {}) {
    auto [ours, theirs] = testing::SocketPair();
    reader_ = std::move(ours);
    stream_ = std::make_unique<EventStream>(loop_, log_, std::move(theirs),
                                            std::move(kinds));
    ASSERT_TRUE(stream_->Start().ok());
  }

  // All that there is; at the end of the stream `ended_` is set.
  std::vector<json> Read() {
    std::vector<char> bytes(1 << 20);
    while (true) {
      loop_.Poll();
      const ssize_t size =
          recv(reader_.get(), bytes.data(), bytes.size(), MSG_DONTWAIT);
      ended_ = size == 0;
      if (size <= 0) break;
      text_.append(bytes.data(), static_cast<size_t>(size));
    }
    std::vector<json> events;
    for (const auto line : absl::StrSplit(text_, '\n', absl::SkipEmpty())) {
      events.push_back(json::parse(line));
    }
    text_.clear();
    return events;
  }

  Lab lab_{Chain(1)};
  VirtualLoop loop_{lab_.timers};
  FabricEventLog log_{lab_.timers, lab_.fabric, absl::ZeroDuration()};
  UniqueFd reader_;
  std::unique_ptr<EventStream> stream_;
  std::string text_;
  bool ended_ = false;
};

TEST_F(EventStreamTest, EachEventIsALine) {
  Start();
  log_.Tell("fault", {{"name", "a\nb"}});
  log_.Tell("trap", {{"trap", 128}});
  const std::vector<json> events = Read();
  ASSERT_THAT(events, SizeIs(2));
  EXPECT_EQ(events[0]["name"], "a\nb");
  EXPECT_EQ(events[1]["trap"], 128);
}

TEST_F(EventStreamTest, OnlyTheKindsThatAreWantedCome) {
  Start({"trap", "link"});
  log_.Tell("fault", json::object());
  log_.Tell("link", json::object());
  const std::vector<json> events = Read();
  ASSERT_THAT(events, SizeIs(1));
  EXPECT_EQ(events[0]["event"], "link");
}

TEST_F(EventStreamTest, ASlowReaderLosesEventsAndIsToldHowMany) {
  Start();
  constexpr int kEvents = 10'000;  // 11 MB
  const json large = {{"text", std::string(1000, 'x')}};
  for (int i = 0; i < kEvents; ++i) log_.Tell("fault", large);
  std::vector<json> events = Read();
  log_.Tell("trap", json::object());
  for (json& event : Read()) events.push_back(std::move(event));
  ASSERT_GE(events.size(), 3u);
  EXPECT_EQ(events.back()["event"], "trap");
  const json& lost = events[events.size() - 2];
  EXPECT_EQ(lost["event"], "lost");
  EXPECT_GT(lost["events"].get<int>(), 0);
  EXPECT_EQ(events.size() - 2 + lost["events"].get<size_t>(), kEvents);
}

TEST_F(EventStreamTest, WhoHasEnoughGetsTheRestAndTheEnd) {
  Start();
  log_.Tell("fault", json::object());
  ASSERT_EQ(shutdown(reader_.get(), SHUT_WR), 0);
  EXPECT_THAT(Read(), SizeIs(1));
  EXPECT_TRUE(ended_);
  EXPECT_FALSE(log_.Listened());
}

TEST_F(EventStreamTest, AReaderThatGoesEndsIt) {
  Start();
  reader_.Reset();
  log_.Tell("fault", json::object());
  loop_.Poll();
  log_.Tell("fault", json::object());
  loop_.Poll();
  EXPECT_FALSE(log_.Listened());
}

TEST_F(EventStreamTest, AStreamMayEndWithEventsInItsBuffer) {
  Start();
  log_.Tell("fault", json::object());
  stream_.reset();
  EXPECT_THAT(Read(), IsEmpty());
  EXPECT_TRUE(ended_);
}

}  // namespace
}  // namespace ibemu::daemon

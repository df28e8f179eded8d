#include "daemon/web/view/event_backlog.h"

#include <memory>
#include <string>
#include <thread>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ibemu::daemon {
namespace {

using ::testing::EndsWith, ::testing::StartsWith;

constexpr absl::Duration kAtOnce = absl::ZeroDuration();

std::shared_ptr<const std::string> Text(std::string text) {
  return std::make_shared<const std::string>(std::move(text));
}

TEST(EventBacklogTest, AnEventIsItsNameItsDataAndAnEmptyLine) {
  EXPECT_EQ(SentEvent("load", R"({"links":[]})"),
            "event: load\ndata: {\"links\":[]}\n\n");
}

TEST(EventBacklogTest, GivesAllThatCameInItsOrder) {
  EventBacklog queue;
  queue.Push(Text("a\n\n"));
  queue.Push(Text("b\n\n"));
  EXPECT_EQ(queue.Take(kAtOnce), "a\n\nb\n\n");
  EXPECT_EQ(queue.Take(kAtOnce), "");
}

TEST(EventBacklogTest, ASlowReaderLosesEventsAndIsToldHowMany) {
  EventBacklog queue;
  const auto large = Text(std::string(EventBacklog::kMaxBytes / 2 + 1, 'x'));
  queue.Push(large);
  queue.Push(large);          // lost
  queue.Push(Text("small"));  // would fit, but comes after what is lost
  const auto taken = queue.Take(kAtOnce);
  ASSERT_TRUE(taken);
  EXPECT_THAT(*taken, StartsWith(*large));
  EXPECT_THAT(*taken, EndsWith("xevent: lost\ndata: {\"events\":2}\n\n"));
  queue.Push(Text("next"));
  EXPECT_EQ(queue.Take(kAtOnce), "next");
}

TEST(EventBacklogTest, WakesAReaderThatWaits) {
  EventBacklog queue;
  std::thread writer([&] { queue.Push(Text("a")); });
  EXPECT_EQ(queue.Take(absl::Minutes(1)), "a");
  writer.join();
  std::thread closer([&] { queue.Close(); });
  EXPECT_EQ(queue.Take(absl::Minutes(1)), std::nullopt);
  closer.join();
}

}  // namespace
}  // namespace ibemu::daemon

#include "daemon/web/view/view_feed.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "daemon/events/fabric_event_log.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "testing/lab.h"

namespace ibemu::daemon {
namespace {

using nlohmann::json;
using ::testing::IsEmpty, ::testing::SizeIs;
using testing::Lab, testing::Chain;

struct Told {
  std::string name;
  json data;
};

std::vector<Told> Read(EventBacklog& page) {
  std::vector<Told> all;
  std::string text = page.Take(absl::ZeroDuration()).value_or("");
  while (!text.empty()) {
    const size_t end = text.find("\n\n"), line = text.find('\n');
    all.push_back({text.substr(7, line - 7),
                   json::parse(text.substr(line + 7, end - line - 7))});
    text.erase(0, end + 2);
  }
  return all;
}

// host-1 – sw1 – host-2, and a page.
class ViewFeedTest : public ::testing::Test {
 protected:
  ViewFeedTest() {
    feed_.Add(page_);
    Read(*page_);
  }

  std::vector<json> Of(const std::string& name) {
    std::vector<json> found;
    for (Told& told : Read(*page_)) {
      if (told.name == name) found.push_back(std::move(told.data));
    }
    return found;
  }

  Lab lab_{Chain(1), Lab::kStatically};
  FabricEventLog log_{lab_.timers, lab_.fabric, absl::ZeroDuration()};
  std::shared_ptr<EventBacklog> page_ = std::make_shared<EventBacklog>();
  ViewFeed feed_{lab_.timers, lab_.fabric, log_};
};

TEST_F(ViewFeedTest, GreetsEachPage) {
  const auto other = std::make_shared<EventBacklog>();
  feed_.Add(other);
  const std::vector<Told> told = Read(*other);
  ASSERT_THAT(told, SizeIs(2));
  EXPECT_EQ(told[0].name, "past");
  EXPECT_EQ(told[1].name, "hello");
}

TEST_F(ViewFeedTest, TellsANewPageWhatHappenedBeforeIt) {
  page_.reset();
  lab_.timers.RunFor(absl::Seconds(2));
  for (size_t i = 0; i < ViewFeed::kMaxPast; ++i) {
    log_.Tell("trap", {{"number", i}});
    log_.TellDetail("drop", json::object());
  }
  log_.Tell("trap", {{"number", ViewFeed::kMaxPast}});
  page_ = std::make_shared<EventBacklog>();
  feed_.Add(page_);
  const std::vector<json> told = Of("past");
  ASSERT_THAT(told, SizeIs(1));
  ASSERT_THAT(told[0], SizeIs(ViewFeed::kMaxPast));
  EXPECT_EQ(told[0].front()["number"], 1);
  EXPECT_EQ(told[0].back()["number"], ViewFeed::kMaxPast);
}

TEST_F(ViewFeedTest, TellsWhatHasChangedOnceAndAsItIs) {
  lab_.SetLink(lab_.Host(1), 1, false);
  EXPECT_THAT(Of("change"), IsEmpty()) << "not at once: more may come";
  lab_.timers.RunFor(absl::Milliseconds(150));
  const std::vector<json> changes = Of("change");
  ASSERT_THAT(changes, SizeIs(1));
  ASSERT_THAT(changes[0]["links"], SizeIs(1));
  const json& link = changes[0]["links"][0];
  EXPECT_EQ(link["a"]["node"], "host-1");
  EXPECT_EQ(link["cut"], true);
  EXPECT_EQ(link["state"], "down");
  EXPECT_THAT(changes[0]["nodes"], SizeIs(2));
  lab_.timers.RunFor(absl::Milliseconds(150));
  EXPECT_THAT(Of("change"), IsEmpty());
}

TEST_F(ViewFeedTest, NoticesTheCutOfALinkThatIsDown) {
  lab_.fabric.SetNode(lab_.Host(1), false);
  lab_.timers.RunFor(absl::Seconds(2));
  Read(*page_);
  lab_.SetLink(lab_.Host(1), 1, false);
  lab_.timers.RunFor(absl::Seconds(2));
  const std::vector<json> changes = Of("change");
  ASSERT_THAT(changes, SizeIs(1));
  EXPECT_EQ(changes[0]["links"][0]["cut"], true);
}

TEST_F(ViewFeedTest, TellsEventsButNoDetails) {
  lab_.SetLink(lab_.Host(1), 1, false);
  EXPECT_FALSE(log_.DetailsWanted("drop"));
  log_.TellDetail("drop", json::object());
  const std::vector<json> events = Of("event");
  ASSERT_FALSE(events.empty());
  for (const json& event : events) EXPECT_NE(event["event"], "drop");
  EXPECT_EQ(events[0]["event"], "link");
}

TEST_F(ViewFeedTest, TellsLoadsEachSecond) {
  lab_.timers.RunFor(absl::Milliseconds(3500));
  EXPECT_THAT(Of("load"), SizeIs(3));
  fabric::Subnet& subnet = lab_.subnet();
  subnet.port(subnet.port_id(lab_.Host(1), 1)).traffic.xmit_data += 1000;
  lab_.timers.RunFor(absl::Seconds(1));
  const std::vector<json> loads = Of("load");
  ASSERT_THAT(loads, SizeIs(1));
  ASSERT_THAT(loads[0]["links"], SizeIs(1));
  EXPECT_EQ(loads[0]["links"][0][1], 1) << "the port";
  EXPECT_EQ(loads[0]["links"][0][2], 4000.0) << "bytes sent in a second";
}

TEST_F(ViewFeedTest, HearsOfEventsOnlyWhenThePageIsClosed) {
  page_.reset();
  lab_.timers.RunFor(absl::Seconds(2));
  EXPECT_FALSE(feed_.Watching());
  lab_.SetLink(lab_.Host(1), 1, false);
  EXPECT_TRUE(log_.Listened());
  page_ = std::make_shared<EventBacklog>();
  feed_.Add(page_);
  lab_.timers.RunFor(absl::Milliseconds(1500));
  EXPECT_THAT(Of("load"), SizeIs(2)) << "it looks again";
}

TEST(ViewFeedOfManyTest, TooManyChangesAreToldAsAll) {
  Lab large("fat-tree:radix=12,levels=3");
  FabricEventLog log(large.timers, large.fabric, absl::ZeroDuration());
  ViewFeed feed(large.timers, large.fabric, log);
  const auto page = std::make_shared<EventBacklog>();
  feed.Add(page);
  for (uint32_t i = 0; i < large.fabric.node_count(); ++i) {
    large.fabric.SetNode(topology::NodeId{i}, false);
    Read(*page);  // else events fill it, and the change is lost
  }
  large.timers.RunFor(absl::Milliseconds(150));
  std::vector<json> changes;
  for (const Told& told : Read(*page)) {
    if (told.name == "change") changes.push_back(told.data);
  }
  ASSERT_THAT(changes, SizeIs(1));
  EXPECT_EQ(changes[0], json({{"all", true}}));
}

}  // namespace
}  // namespace ibemu::daemon

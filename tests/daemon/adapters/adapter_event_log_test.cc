#include "daemon/adapters/adapter_event_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "nlohmann/json.hpp"
#include "tests/daemon/event_recorder.h"
#include "tests/daemon/hca_adapters_lab.h"

namespace ibemu::daemon {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class AdapterEventLogTest : public HcaAdaptersLab {
 protected:
  void Cable(bool plugged) {
    ASSERT_TRUE(fabric_.SetLink(lab_.Find("host-2"), 1, plugged).ok());
    Run(absl::Milliseconds(10));
  }

  AdapterEventLog events_{timers_, adapters_, absl::ZeroDuration()};
  EventRecorder recorder_;
};

TEST_F(AdapterEventLogTest, APortThatGoesDownAndUpIsToldWithItsNode) {
  Start("host-1");
  Start("host-2");
  const auto lid = adapters_.List()[1]["ports"][0]["lid"];
  events_.Add(recorder_);
  Cable(false);
  ASSERT_THAT(recorder_.events, SizeIs(1));
  const json down = recorder_.Of("port")[0];
  EXPECT_EQ(down["node"], "host-2");
  EXPECT_EQ(down["port"], 1);
  EXPECT_EQ(down["state"], "down");
  EXPECT_EQ(down["lid"], lid);
  Cable(true);
  ASSERT_THAT(recorder_.events, SizeIs(2))
      << "what changed nothing is no event";
  EXPECT_EQ(recorder_.Of("port")[1]["state"], "active");
  events_.Remove(recorder_);
}

TEST_F(AdapterEventLogTest, ASubnetManagerOnAnAdapterIsTold) {
  Start("host-1");
  events_.Add(recorder_);
  adapters_.device(AdapterId{0}).port(1).SetIsSm(true);
  Run(absl::Milliseconds(1));
  EXPECT_EQ(recorder_.Of("sm"),
            json::array({{{"node", "host-1"}, {"port", 1}, {"is_sm", true}}}));
  events_.Remove(recorder_);
}

TEST_F(AdapterEventLogTest, AnAdapterThatDiesIsToldWithTheReason) {
  testing::Mlx4Machine& host = Start("host-1");
  events_.Add(recorder_);
  host.model.Fail(1);
  Run(absl::Seconds(3));
  ASSERT_THAT(recorder_.events, SizeIs(2));
  EXPECT_EQ(recorder_.Of("port")[0]["state"], "down");
  const json gone = recorder_.Of("device")[0];
  EXPECT_EQ(gone["node"], "host-1");
  EXPECT_EQ(gone["state"], "removed");
  EXPECT_THAT(gone["error"], HasSubstr("catastrophic error"));
  events_.Remove(recorder_);
}

TEST_F(AdapterEventLogTest, WhoListensHearsOfNothingEarlier) {
  Start("host-1");
  Start("host-2");
  events_.Add(recorder_);
  events_.Remove(recorder_);
  Cable(false);
  EXPECT_THAT(recorder_.events, IsEmpty());
  events_.Add(recorder_);
  Cable(true);
  ASSERT_THAT(recorder_.events, SizeIs(1));
  EXPECT_EQ(recorder_.events[0]["state"], "active");
  events_.Remove(recorder_);
}

TEST_F(AdapterEventLogTest, HasTheKindsOfEventsThatAdaptersHave) {
  EXPECT_THAT(events_.kinds(), ElementsAre("port", "sm", "device", "connection",
                                           "datagram", "group"));
}

}  // namespace
}  // namespace ibemu::daemon

#include "daemon/adapters/host_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "daemon/adapters/fabric_adapters.h"
#include "testing/lab.h"

namespace ibemu::daemon {
namespace {

using ::testing::ElementsAre;
using testing::Lab, testing::Chain;

class HostTableTest : public ::testing::Test, private HostTable::Watcher {
 protected:
  HostTableTest() { hosts_.AddWatcher(*this); }
  ~HostTableTest() override { hosts_.RemoveWatcher(*this); }

  void OnHost(AdapterId adapter, mad::Host& /*host*/) override {
    made_.push_back(adapter);
  }

  Lab lab_{Chain(1)};
  FabricAdapters adapters_{lab_.fabric};
  HostTable hosts_{lab_.timers, adapters_};
  const AdapterId first_ = *adapters_.Find("host-1");
  std::vector<AdapterId> made_;
};

TEST_F(HostTableTest, AllWhoUseAnAdapterShareItsHost) {
  EXPECT_EQ(hosts_.Find(first_), nullptr);
  const auto host = hosts_.Get(first_);
  EXPECT_EQ(hosts_.Get(first_), host);
  EXPECT_EQ(hosts_.Find(first_), host);
  EXPECT_NE(hosts_.Get(*adapters_.Find("host-2")), host);
  EXPECT_EQ(&host->device(), &adapters_.device(first_));
}

TEST_F(HostTableTest, AHostGoesWithTheLastWhoUsesIt) {
  hosts_.Get(first_);
  EXPECT_EQ(hosts_.Find(first_), nullptr);
}

TEST_F(HostTableTest, WatchersHearOfEachHostThatIsMade) {
  auto host = hosts_.Get(first_);
  hosts_.Get(first_);
  EXPECT_THAT(made_, ElementsAre(first_));
  host.reset();
  host = hosts_.Get(first_);
  EXPECT_THAT(made_, ElementsAre(first_, first_));
}

TEST_F(HostTableTest, AForgottenHostIsKeptByThoseWhoHaveIt) {
  const auto old = hosts_.Get(first_);
  hosts_.Forget(first_);
  EXPECT_EQ(hosts_.Find(first_), nullptr);
  old->Unbind();
  EXPECT_NE(hosts_.Get(first_), old);
  EXPECT_TRUE(old->removed());
}

}  // namespace
}  // namespace ibemu::daemon

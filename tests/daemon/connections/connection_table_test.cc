#include "daemon/connections/connection_table.h"

#include <gtest/gtest.h>

#include <memory>
#include <utility>

#include "daemon/adapters/fabric_adapters.h"
#include "testing/lab.h"

namespace ibemu::daemon {
namespace {

using testing::Lab, testing::Chain;

// How long the HostConnections of a host stay is seen by the mad::Host, which
// they keep.
class ConnectionTableTest : public ::testing::Test {
 protected:
  Lab lab_{Chain(1), Lab::kStatically};
  FabricAdapters adapters_{lab_.fabric};
  HostTable hosts_{lab_.timers, adapters_};
  const AdapterId first_ = *adapters_.Find("host-1");
  const AdapterId second_ = *adapters_.Find("host-2");
  const AddressPlan plan_ =
      AddressPlan::Numbered(AddressPlan::kUsual, {first_, second_});
  ConnectionTable connections_{lab_.timers, hosts_, plan_, /*seed=*/1};
};

TEST_F(ConnectionTableTest, AllWhoUseAHostShareItsConnections) {
  const auto used = connections_.Get(first_);
  EXPECT_EQ(connections_.Get(first_), used);
  EXPECT_NE(connections_.Get(second_), used);
  EXPECT_EQ(used->interfaces(1).size(), 1u);
}

TEST_F(ConnectionTableTest, APortHasOneInterfaceInEachPartition) {
  const auto used = connections_.Get(first_);
  EXPECT_EQ(used->link(1, 5), nullptr);
  used->AddInterface(1, 5, plan_.AddressesOf({first_, 1, 5}));
  const ipoib::Link* const link = used->link(1, 5);
  ASSERT_NE(link, nullptr);
  EXPECT_EQ(link->pkey(), 0x8005);
  used->AddInterface(1, 5, {});
  EXPECT_EQ(used->link(1, 5), link) << "it stays what it is";
  EXPECT_EQ(used->interfaces(1).size(), 2u);
  EXPECT_EQ(used->interfaces(1).front()->pkey(), 0xffff);
}

TEST_F(ConnectionTableTest, AHostStaysForAWhileWhenNobodyUsesItAnyMore) {
  auto used = connections_.Get(first_);
  const std::weak_ptr<mad::Host> host = hosts_.Find(first_);
  used.reset();
  lab_.timers.RunFor(ConnectionTable::kLinger - absl::Seconds(1));
  EXPECT_FALSE(host.expired());
  used = connections_.Get(first_);
  EXPECT_EQ(&used->host(), host.lock().get()) << "taken up again";
  used.reset();
  lab_.timers.RunFor(ConnectionTable::kLinger);
  EXPECT_TRUE(host.expired());
}

TEST_F(ConnectionTableTest, AHostThatIsUnboundWhenItIsUnusedStaysNoLonger) {
  connections_.Get(first_);
  const std::weak_ptr<mad::Host> host = hosts_.Find(first_);
  lab_.timers.RunFor(absl::Seconds(30));
  ASSERT_FALSE(host.expired());
  hosts_.Forget(first_);
  host.lock()->Unbind();
  lab_.timers.RunFor(absl::ZeroDuration());
  EXPECT_TRUE(host.expired());
}

TEST_F(ConnectionTableTest, AnUnboundHostGoesWithItsLastUser) {
  auto used = connections_.Get(first_);
  const std::weak_ptr<mad::Host> host = hosts_.Find(first_);
  hosts_.Forget(first_);
  host.lock()->Unbind();
  lab_.timers.RunFor(absl::Seconds(1));
  EXPECT_FALSE(host.expired());
  const auto next = connections_.Get(first_);
  EXPECT_NE(next, used);
  used.reset();
  lab_.timers.RunFor(absl::ZeroDuration());
  EXPECT_TRUE(host.expired());
  EXPECT_EQ(&next->host(), hosts_.Find(first_).get());
}

TEST_F(ConnectionTableTest, AHostIsLetGoWhenItsAdapterIsWantedAndUnused) {
  auto used = connections_.Get(first_);
  const std::weak_ptr<mad::Host> host = hosts_.Find(first_);
  EXPECT_EQ(hosts_.FindUsed(first_), host.lock());
  used.reset();
  EXPECT_NE(hosts_.Find(first_), nullptr);
  EXPECT_EQ(hosts_.FindUsed(second_), nullptr);
  EXPECT_FALSE(host.expired());
  EXPECT_EQ(hosts_.FindUsed(first_), nullptr);
  EXPECT_TRUE(host.expired());
}

// As host.set does it.
TEST_F(ConnectionTableTest, AHostThatIsUnboundJustAfterItsLastUserGoesToo) {
  auto used = connections_.Get(first_);
  const std::shared_ptr<mad::Host> host = hosts_.Find(first_);
  hosts_.Forget(first_);
  used.reset();
  host->Unbind();
  lab_.timers.RunFor(absl::ZeroDuration());
  EXPECT_EQ(host.use_count(), 1);
}

}  // namespace
}  // namespace ibemu::daemon

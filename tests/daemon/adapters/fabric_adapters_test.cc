#include "daemon/adapters/fabric_adapters.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "daemon/remote_node/fabric_cable.h"
#include "gmock/gmock.h"
#include "nlohmann/json.hpp"
#include "testing/lab.h"
#include "tests/daemon/method_caller.h"

namespace ibemu::daemon {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::Lab, testing::Chain;

// Two hosts and a switch between.
class FabricAdaptersTest : public ::testing::Test,
                           protected MethodCaller,
                           private Adapters::Listener {
 protected:
  FabricAdaptersTest() {
    adapters_.AddTo(dispatcher);
    adapters_.SetListener(this);
  }

  void OnAdapterChange(AdapterId adapter, bool present) override {
    changes_.emplace_back(adapters_.description(adapter), present);
  }

  Lab lab_{Chain(1)};
  FabricAdapters adapters_{lab_.fabric};
  std::vector<std::pair<std::string, bool>> changes_;
};

TEST_F(FabricAdaptersTest, AnAdapterIsThatOfItsNode) {
  const AdapterId adapter = *adapters_.Find("host-2");
  EXPECT_EQ(FabricAdapters::NodeOf(adapter), lab_.Host(2));
  EXPECT_EQ(&adapters_.device(adapter), &lab_.fabric.device(lab_.Host(2)));
  EXPECT_EQ(&adapters_.provider(adapter), &lab_.Provider(2));
  EXPECT_EQ(adapters_.node_guid(adapter),
            lab_.fabric.device(lab_.Host(2)).node_guid());
}

TEST_F(FabricAdaptersTest, AnAdapterIsFoundByTheGuidThatItsPortHasNow) {
  const AdapterId adapter = *adapters_.Find("host-2");
  const wire::Guid before = lab_.PortOf("host-2", 1).guid;
  EXPECT_EQ(adapters_.WithPortGuid(before), adapter);
  const fabric::PortId port = lab_.IdOf("host-2", 1);
  lab_.fabric.subnet().port(port).guid = wire::Guid{0x42};
  lab_.fabric.OnHardwareChange(port);
  EXPECT_EQ(adapters_.WithPortGuid(wire::Guid{0x42}), adapter);
  EXPECT_EQ(adapters_.WithPortGuid(before), std::nullopt);
}

TEST_F(FabricAdaptersTest, WhatIsAnotherMachinesIsNotShown) {
  const AdapterId first = *adapters_.Default();
  EXPECT_EQ(adapters_.description(first), "host-1");
  const auto cables =
      FabricCables::Plug(lab_.fabric, FabricAdapters::NodeOf(first));
  ASSERT_TRUE(cables.ok()) << cables.status();
  EXPECT_EQ(adapters_.CheckShowable(first).message(),
            "the adapter of \"host-1\" is elsewhere: a modelled one "
            "(ibemu-hca-model), or that of a joined host (--join)");
  EXPECT_EQ(adapters_.description(*adapters_.Default()), "host-2");
}

TEST_F(FabricAdaptersTest, TellsWhenADeviceWasPulledOutOrPluggedIn) {
  const json parameters = {{"node", "host-2"}, {"present", false}};
  Result("device.set", parameters);
  EXPECT_THAT(changes_, ElementsAre(std::pair("host-2", false)));
  changes_.clear();
  Error("device.set", parameters);
  EXPECT_THAT(changes_, IsEmpty()) << "it was out already";
  Result("device.set", {{"node", "host-2"}, {"present", true}});
  EXPECT_THAT(changes_, ElementsAre(std::pair("host-2", true)));
}

}  // namespace
}  // namespace ibemu::daemon

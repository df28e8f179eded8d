#include "daemon/adapters/hca_adapters.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "mad/host.h"
#include "nlohmann/json.hpp"
#include "testing/mad_builder.h"
#include "tests/daemon/hca_adapters_lab.h"

namespace ibemu::daemon {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using testing::HasStatusCode;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::Mlx4Machine;

class HcaAdaptersTest : public HcaAdaptersLab, private Adapters::Listener {
 protected:
  HcaAdaptersTest() { adapters_.SetListener(this); }
  ~HcaAdaptersTest() override { adapters_.SetListener(nullptr); }

  void OnAdapterChange(AdapterId adapter, bool present) override {
    changes_.emplace_back(adapter, present);
  }

  static std::string Message(const absl::Status& status) {
    return std::string(status.message());
  }

  std::vector<std::pair<AdapterId, bool>> changes_;
};

TEST_F(HcaAdaptersTest, FindsAnAdapterByNameDescriptionOrGuid) {
  Start("host-1");
  Start("host-2");
  const AdapterId second = *adapters_.Find("lab/host-2");
  EXPECT_EQ(adapters_.description(second), "host-2");
  EXPECT_EQ(*adapters_.Find("host-2"), second);
  const auto guid = fabric_.device(lab_.Find("host-2")).node_guid();
  EXPECT_EQ(adapters_.node_guid(second), guid);
  EXPECT_EQ(*adapters_.Find(
                absl::StrCat("0x", absl::Hex(static_cast<uint64_t>(guid)))),
            second);
  EXPECT_EQ(*adapters_.Default(), *adapters_.Find("host-1"));
}

TEST_F(HcaAdaptersTest, FindsAnAdapterByItsPortOrAShortAddress) {
  Start("host-1");
  Mlx4Machine& card = PlugInAlone("host-2");
  ASSERT_TRUE(Add(card, "0000:3b:00.0").ok());
  EXPECT_EQ(*adapters_.Find("3b:00.0"), AdapterId{1});
  const uint64_t port =
      adapters_.device(AdapterId{1}).port(1).GidAt(0).interface_id;
  EXPECT_EQ(*adapters_.Find(absl::StrCat("0x", absl::Hex(port))), AdapterId{1});
  EXPECT_EQ(Message(adapters_.Find("0000:3b:00.1").status()),
            "no adapter \"0000:3b:00.1\": did you mean \"0000:3b:00.0\"?");
}

TEST_F(HcaAdaptersTest, SaysWhatWasMeant) {
  EXPECT_THAT(adapters_.Default(), HasStatusCode(absl::StatusCode::kNotFound));
  Start("host-1");
  const auto found = adapters_.Find("hots-1");
  EXPECT_THAT(found, HasStatusCode(absl::StatusCode::kNotFound));
  EXPECT_EQ(Message(found.status()),
            "no adapter \"hots-1\": did you mean \"host-1\"?");
}

TEST_F(HcaAdaptersTest, ADescriptionOfTwoAdaptersNamesNeither) {
  Start("host-1");
  Start("host-2");
  adapters_.device(AdapterId{1}).SetNodeDescription("host-1");
  const auto found = adapters_.Find("host-1");
  EXPECT_THAT(found, HasStatusCode(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(Message(found.status()),
              AllOf(HasSubstr("2 adapters"), HasSubstr("\"lab/host-1\"")));
}

TEST_F(HcaAdaptersTest, TellsWhatAnAdapterIsAndHowItIs) {
  Start("host-1");
  const nlohmann::json told = adapters_.List()[0];
  EXPECT_EQ(told["adapter"], "lab/host-1");
  EXPECT_EQ(told["device"], "ConnectX-3 (15b3:1003)");
  EXPECT_EQ(told["firmware"], "2.42.5000");
  EXPECT_NE(told["board_id"], "");
  EXPECT_EQ(told["alive"], true);
  EXPECT_TRUE(told["error"].is_null());
  ASSERT_EQ(told["ports"].size(), 1u);
  const nlohmann::json& port = told["ports"][0];
  EXPECT_EQ(port["port"], 1);
  EXPECT_EQ(port["state"], "active");
  EXPECT_EQ(port["physical_state"], "linkup");
  EXPECT_NE(port["lid"], 0);
  EXPECT_EQ(port["rate"], "4xHDR");
}

TEST_F(HcaAdaptersTest, AnAdapterThatIsRefusedIsGivenBack) {
  Mlx4Machine& host = PlugInAlone("host-1");
  host.model.faults().Refuse(hca::prm::Opcode::kInitHca,
                             hca::prm::CommandStatus::kBadParam);
  const absl::Status refused = Add(host, "lab/host-1");
  EXPECT_THAT(Message(refused), ::testing::StartsWith("lab/host-1: "));
  EXPECT_EQ(adapters_.count(), 0u);
  EXPECT_EQ(host.model.icm_pages(), 0u);
  EXPECT_TRUE(Add(host, "lab/host-1").ok()) << "it is free again";
}

TEST_F(HcaAdaptersTest, TellsThatAnAdapterDiedAfterItsHostKnows) {
  Mlx4Machine& host = Start("host-1");
  mad::Host users(loop_, adapters_.device(AdapterId{0}));
  Run(absl::Milliseconds(10));
  EXPECT_THAT(changes_, IsEmpty());
  EXPECT_TRUE(adapters_.CheckShowable(AdapterId{0}).ok());

  host.model.Fail(1);
  Run(absl::Seconds(3));
  EXPECT_THAT(changes_, ElementsAre(std::pair(AdapterId{0}, false)));
  EXPECT_TRUE(users.removed());
  EXPECT_EQ(Message(adapters_.CheckShowable(AdapterId{0})),
            "the adapter lab/host-1 (\"host-1\") has died: ibemud must be "
            "started again");
  const nlohmann::json dead = adapters_.List()[0];
  EXPECT_EQ(dead["alive"], false);
  EXPECT_THAT(dead["error"], HasSubstr("catastrophic error"));
  EXPECT_EQ(dead["ports"][0]["state"], "down");
  EXPECT_TRUE(dead["ports"][0]["rate"].is_null());
}

TEST_F(HcaAdaptersTest, ADeadAdapterIsStillAnsweredFor) {
  Mlx4Machine& host = Start("host-1");
  host.model.Fail(1);
  Run(absl::Seconds(3));
  EXPECT_EQ(adapters_.description(AdapterId{0}), "host-1");
  EXPECT_EQ(adapters_.device(AdapterId{0}).last_port(), 1);
  EXPECT_EQ(adapters_.provider(AdapterId{0}).QueryDevice().phys_port_cnt, 1);
  mad::Outgoing packet;
  EXPECT_THAT(adapters_.device(AdapterId{0}).port(1).Transmit(packet),
              ::testing::Not(::testing::Property(&absl::Status::ok, true)));
}

}  // namespace
}  // namespace ibemu::daemon

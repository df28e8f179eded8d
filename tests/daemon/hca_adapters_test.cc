#include "daemon/hca_adapters.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "hca/model/in_process_function.h"
#include "mad/host.h"
#include "nlohmann/json.hpp"
#include "testing/mad_builder.h"
#include "tests/daemon/virtual_loop.h"
#include "tests/hca/mlx4/driver_bench.h"

namespace ibemu::daemon {
namespace {

using hca::mlx4::DriverBench, hca::mlx4::ModelledHost;
using hca::model::InProcessFunction;
using ::testing::AllOf;
using ::testing::ElementsAre;
using testing::HasStatusCode;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// Modelled adapters in the place of host-1 and host-2.
class HcaAdaptersTest : public DriverBench, private Adapters::Listener {
 protected:
  HcaAdaptersTest() { adapters_.SetListener(this); }

  ModelledHost& PlugInAlone(const std::string& node) {
    ModelledHost& host = PlugIn(node);
    host.function.reset();  // the adapters' own comes instead
    return host;
  }

  absl::Status Add(ModelledHost& host, const std::string& name) {
    auto function = std::make_unique<InProcessFunction>(host.model);
    function_ = function.get();
    return adapters_.Add(name, std::move(function));
  }

  ModelledHost& Start(const std::string& node) {
    ModelledHost& host = PlugInAlone(node);
    const absl::Status added = Add(host, "lab/" + node);
    EXPECT_TRUE(added.ok()) << added;
    return host;
  }

  void Run(absl::Duration span) {
    const absl::Time end = timers_.Now() + span;
    do {
      timers_.RunFor(absl::Milliseconds(1));
      loop_.Poll();
    } while (timers_.Now() < end);
  }

  void OnAdapterChange(AdapterId adapter, bool present) override {
    changes_.emplace_back(adapter, present);
  }

  static std::string Message(const absl::Status& status) {
    return std::string(status.message());
  }

  VirtualLoop loop_{timers_};
  std::vector<std::pair<AdapterId, bool>> changes_;
  InProcessFunction* function_ = nullptr;  // the last one, while it is there
  HcaAdapters adapters_{loop_,
                        [this](absl::Duration span) { timers_.RunFor(span); }};
};

TEST_F(HcaAdaptersTest, FindsAnAdapterByNameDescriptionOrGuid) {
  Start("host-1");
  Start("host-2");
  const AdapterId second = *adapters_.Find("lab/host-2");
  EXPECT_EQ(adapters_.description(second), "host-2");
  EXPECT_EQ(*adapters_.Find("host-2"), second);
  const auto guid = fabric_.device(*fabric_.Find("host-2")).node_guid();
  EXPECT_EQ(adapters_.node_guid(second), guid);
  EXPECT_EQ(*adapters_.Find(
                absl::StrCat("0x", absl::Hex(static_cast<uint64_t>(guid)))),
            second);
  EXPECT_EQ(*adapters_.Default(), *adapters_.Find("host-1"));
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

TEST_F(HcaAdaptersTest, AnAdapterThatIsRefusedIsGivenBack) {
  ModelledHost& host = PlugInAlone("host-1");
  host.model.faults().Refuse(hca::prm::Opcode::kInitHca,
                             hca::prm::CommandStatus::kBadParam);
  const absl::Status refused = Add(host, "lab/host-1");
  EXPECT_THAT(Message(refused), ::testing::StartsWith("lab/host-1: "));
  EXPECT_EQ(adapters_.count(), 0u);
  EXPECT_EQ(host.model.icm_pages(), 0u);
  EXPECT_TRUE(Add(host, "lab/host-1").ok()) << "it is free again";
}

TEST_F(HcaAdaptersTest, TellsThatAnAdapterDiedAfterItsHostKnows) {
  ModelledHost& host = Start("host-1");
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
  EXPECT_EQ(adapters_.List()[0]["alive"], false);
}

TEST_F(HcaAdaptersTest, ADeadAdapterIsStillAnsweredFor) {
  ModelledHost& host = Start("host-1");
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

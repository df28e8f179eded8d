#include "daemon/remote_node/node_link_pump.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <memory>
#include <utility>
#include <vector>

#include "base/unique_fd.h"
#include "daemon/remote_node/format/node_link_format.h"
#include "hca/model/cable.h"
#include "testing/socket_pair.h"
#include "tests/daemon/virtual_loop.h"

namespace ibemu::daemon {
namespace {

struct Counter : hca::model::CableListener {
  void OnPacket(std::span<const std::byte>) override { ++packets; }
  void OnPortEvent() override {}

  int packets = 0;
};

// The fabric's end is the test itself.
class NodeLinkPumpTest : public ::testing::Test {
 protected:
  NodeLinkPumpTest() {
    UniqueFd near;
    std::tie(far_, near) = testing::SocketPair();
    Say(NodeLinkMessage::kState, EncodeState({.ports = 1}));
    auto cables = RemoteCables::Adopt(std::move(near));
    EXPECT_TRUE(cables.ok()) << cables.status();
    cables_ = *std::move(cables);
    cables_->cable(1).SetListener(&listener_);
    pump_ =
        std::make_unique<NodeLinkPump>(loop_, *cables_, [this] { ++losses_; });
    EXPECT_TRUE(pump_->Start().ok());
    loop_.Poll();
  }

  void Say(NodeLinkMessage type, const std::vector<std::byte>& payload) {
    std::vector<std::byte> bytes;
    AppendMessage(type, 1, payload, bytes);
    EXPECT_EQ(write(far_.get(), bytes.data(), bytes.size()),
              static_cast<ssize_t>(bytes.size()));
  }

  testing::VirtualTimers timers_;
  VirtualLoop loop_{timers_};
  UniqueFd far_;
  std::unique_ptr<RemoteCables> cables_;
  Counter listener_;
  int losses_ = 0;
  std::unique_ptr<NodeLinkPump> pump_;
};

TEST_F(NodeLinkPumpTest, HandsOnWhatComes) {
  Say(NodeLinkMessage::kPacket, std::vector<std::byte>(8));
  EXPECT_EQ(listener_.packets, 0);
  loop_.Poll();
  EXPECT_EQ(listener_.packets, 1);
}

TEST_F(NodeLinkPumpTest, HandsOnWhatCameWhileAnAnswerWasAwaited) {
  Say(NodeLinkMessage::kPacket, std::vector<std::byte>(8));
  Say(NodeLinkMessage::kReply, EncodeReply(mad::LocalVerdict::kConsumed, {}));
  mad::MadBytes reply;
  EXPECT_EQ(cables_->cable(1).ProcessLocal({}, reply),
            mad::LocalVerdict::kConsumed);
  EXPECT_EQ(listener_.packets, 0) << "not from within the question";
  loop_.Poll();
  EXPECT_EQ(listener_.packets, 1);
}

TEST_F(NodeLinkPumpTest, TellsOnceThatTheFabricIsGone) {
  far_.Reset();
  loop_.Poll();
  loop_.Poll();
  EXPECT_EQ(losses_, 1);
}

TEST_F(NodeLinkPumpTest, ForgetsWhatItWasToDoWhenItGoes) {
  Say(NodeLinkMessage::kPacket, std::vector<std::byte>(8));
  Say(NodeLinkMessage::kReply, EncodeReply(mad::LocalVerdict::kConsumed, {}));
  mad::MadBytes reply;
  cables_->cable(1).ProcessLocal({}, reply);
  pump_.reset();
  loop_.Poll();
  EXPECT_EQ(listener_.packets, 0);
}

}  // namespace
}  // namespace ibemu::daemon

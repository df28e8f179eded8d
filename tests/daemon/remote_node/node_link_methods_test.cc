#include "daemon/remote_node/node_link_methods.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "daemon/adapters/fabric_adapters.h"
#include "daemon/connections/connection_table.h"
#include "daemon/remote_node/format/node_link_format.h"
#include "daemon/remote_node/remote_cable.h"
#include "daemon/words/port_text.h"
#include "fabric/subnet/subnet.h"
#include "loop/epoll_loop.h"
#include "nlohmann/json.hpp"
#include "testing/lab.h"
#include "testing/socket_pair.h"
#include "testing/tcp_pair.h"
#include "tests/daemon/connection.h"

namespace ibemu::daemon {
namespace {

using nlohmann::json;
using testing::Lab, testing::Chain;

class NodeLinkMethodsTest : public ::testing::Test {
 protected:
  NodeLinkMethodsTest() { methods_.AddTo(dispatcher_); }

  // The sentence of the error; empty when there is none.
  std::string Attach(Connection& connection, const std::string& node) {
    std::tie(adapter_, connection.descriptor) = testing::SocketPair();
    return Ask(connection, node);
  }
  std::string Ask(Connection& connection, const std::string& node) {
    return AskWith(connection, {{"node", node}});
  }
  std::string AskWith(Connection& connection, const json& parameters,
                      const char* method = "node_link.attach") {
    const json request = {
        {"id", 1}, {"method", method}, {"params", parameters}};
    const json answer =
        json::parse(dispatcher_.Handle(request.dump(), connection));
    return answer.contains("error")
               ? answer["error"]["message"].get<std::string>()
               : "";
  }
  json Free() {
    Connection connection;
    return json::parse(dispatcher_.Handle(
        R"({"id": 1, "method": "node_link.free", "params": {}})",
        connection))["result"];
  }
  // Brings a connection for the packets of who has said `token`.
  std::string ConnectPackets(const std::string& token, UniqueFd socket,
                             int number = 1) {
    Connection connection;
    connection.descriptor = std::move(socket);
    return AskWith(connection, {{"token", token}, {"number", number}},
                   "node_link.packets");
  }
  // One end of a TCP connection; `other_end_` has the other.
  UniqueFd Tcp() {
    UniqueFd end;
    std::tie(other_end_, end) = testing::TcpPair();
    return end;
  }
  void TurnLoop() {
    loop_->Post([this] { loop_->Stop(); });
    loop_->Run();
  }
  bool IsRemote(int host = 2) const {
    return std::as_const(lab_.fabric).subnet().node(lab_.Host(host)).remote;
  }

  Lab lab_{Chain(1)};
  std::unique_ptr<Loop> loop_ = EpollLoop::Create().value();
  FabricAdapters adapters_{lab_.fabric};
  HostTable hosts_{*loop_, adapters_};
  AddressPlan plan_;
  ConnectionTable connections_{*loop_, hosts_, plan_, /*seed=*/1};
  NodeLinkMethods methods_{*loop_, lab_.fabric, hosts_, false};
  control::MethodTable dispatcher_;
  UniqueFd adapter_;
  UniqueFd other_end_;
};

TEST_F(NodeLinkMethodsTest, ANodeIsItsOwnersWhileTheSocketIsOpen) {
  {
    Connection connection;
    EXPECT_EQ(Attach(connection, "host-2"), "");
    EXPECT_TRUE(IsRemote());
    auto cables = RemoteCables::Adopt(std::move(adapter_));
    ASSERT_TRUE(cables.ok()) << cables.status();
    EXPECT_EQ((*cables)->port_count(), 1);
    TurnLoop();
    EXPECT_TRUE(IsRemote());
  }
  while (IsRemote()) TurnLoop();
  Connection next;
  EXPECT_EQ(Attach(next, "host-2"), "");
}

TEST_F(NodeLinkMethodsTest, TellsWhoHasWhichNodeNow) {
  EXPECT_EQ(methods_.List(), json::array());
  Connection connection;
  std::tie(adapter_, connection.descriptor) = testing::SocketPair();
  EXPECT_EQ(
      AskWith(connection, {{"node", "host-2"}, {"peer", "pc7 (10.0.0.7)"}}),
      "");
  json list = methods_.List();
  ASSERT_EQ(list.size(), 1u);
  EXPECT_GE(list[0]["behind_seconds"], 0);  // it has not echoed yet
  list[0].erase("behind_seconds");
  EXPECT_EQ(list, json::array({{{"node", "host-2"},
                                {"peer", "pc7 (10.0.0.7)"},
                                {"round_trip_seconds", nullptr},
                                {"leases", 0},
                                {"packet_connection", false}}}));
  adapter_.Reset();
  while (IsRemote()) TurnLoop();
  EXPECT_EQ(methods_.List(), json::array());
}

TEST_F(NodeLinkMethodsTest, AHostIsFreeThatNoProgramAndNoOtherMachineHas) {
  const auto guid = [this](int host) {
    return GuidText(
        std::as_const(lab_.fabric).subnet().node(lab_.Host(host)).node_guid);
  };
  EXPECT_EQ(Free(), json::array({guid(1), guid(2)}));
  auto used = connections_.Get(FabricAdapters::IdOf(lab_.Host(1)));
  EXPECT_EQ(Free(), json::array({guid(2)}));
  Connection connection;
  EXPECT_EQ(Attach(connection, "host-2"), "");
  EXPECT_EQ(Free(), json::array());
  used.reset();
  EXPECT_EQ(Free(), json::array({guid(1)}));
}

TEST_F(NodeLinkMethodsTest,
       ThoseWhoAskForAFreeHostAtTheSameTimeGetOthersFirst) {
  const json first = Free();
  ASSERT_EQ(first.size(), 2u);
  EXPECT_EQ(Free(), json::array({first[1], first[0]}));
  EXPECT_EQ(Free(), first);
  {
    Connection connection;
    EXPECT_EQ(Attach(connection, "host-1"), "");
    adapter_.Reset();
  }
  while (IsRemote(1)) TurnLoop();
  EXPECT_EQ(Free(), first) << "host-1 was offered to nobody since";
}

TEST_F(NodeLinkMethodsTest, AHostIsKeptForWhoHadItUntilHeHasHadItOrForSoLong) {
  const json all = Free();
  ASSERT_EQ(all.size(), 2u);
  methods_.Reserve({lab_.Host(1), lab_.Host(2)}, absl::Hours(1));
  EXPECT_EQ(Free(), json::array());
  {
    Connection connection;
    EXPECT_EQ(Attach(connection, "host-2"), "");
    adapter_.Reset();
  }
  while (IsRemote()) TurnLoop();
  EXPECT_EQ(Free(), json::array({all[1]}));
}

TEST_F(NodeLinkMethodsTest, AHostIsKeptNoLongerThanThat) {
  const json all = Free();
  methods_.Reserve({lab_.Host(1), lab_.Host(2)}, absl::ZeroDuration());
  while (Free() != all) TurnLoop();
}

TEST_F(NodeLinkMethodsTest, ANodeHasOneAdapter) {
  Connection first, second;
  EXPECT_EQ(Attach(first, "host-2"), "");
  EXPECT_EQ(Attach(second, "host-2"),
            "\"host-2\" has an adapter elsewhere already");
  EXPECT_TRUE(IsRemote());
}

TEST_F(NodeLinkMethodsTest, ANodeIsFreeWhenItsRunHasEnded) {
  Connection connection;
  auto used = connections_.Get(FabricAdapters::IdOf(lab_.Host(2)));
  EXPECT_THAT(Attach(connection, "host-2"),
              ::testing::StartsWith("\"host-2\" is the host of an"));
  used.reset();
  EXPECT_EQ(Attach(connection, "host-2"), "");
  EXPECT_TRUE(IsRemote());
}

TEST_F(NodeLinkMethodsTest, PacketsGetTheConnectionsOfTheTokenEachOnce) {
  const std::string token(32, 'a');
  Connection connection;
  std::tie(adapter_, connection.descriptor) = testing::SocketPair();
  ASSERT_EQ(AskWith(connection,
                    {{"node", "host-2"}, {"trains", true}, {"packets", token}}),
            "");
  constexpr char kUnexpected[] = "no adapter expects this connection";
  for (const char* other : {"18", ""}) {
    EXPECT_EQ(ConnectPackets(other, Tcp()), kUnexpected) << other;
  }
  EXPECT_EQ(ConnectPackets(
                token, UniqueFd(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0))),
            "node_link.packets needs a stream socket with the request");
  EXPECT_EQ(ConnectPackets(token, Tcp()), "");
  const UniqueFd adapters_end = std::move(other_end_);
  EXPECT_EQ(ConnectPackets(token, Tcp()),
            "connection 1 of packets comes late: the adapter has had 1");
  EXPECT_EQ(methods_.List()[0]["packet_connection"], false);
  const auto say_moved = [&](uint32_t number) {
    std::vector<std::byte> moved;
    AppendMessage(NodeLinkMessage::kPacketsMoved, 1, EncodeNumber(number),
                  moved);
    ASSERT_EQ(write(adapter_.get(), moved.data(), moved.size()),
              static_cast<ssize_t>(moved.size()));
    for (int turn = 0; turn < 10; ++turn) TurnLoop();
  };
  say_moved(1);
  EXPECT_EQ(methods_.List()[0]["packet_connection"], true);
  say_moved(2);
  EXPECT_EQ(methods_.List()[0]["packet_connection"], false);
  EXPECT_EQ(ConnectPackets(token, Tcp(), 2), "");
  EXPECT_EQ(methods_.List()[0]["packet_connection"], true);
}

TEST_F(NodeLinkMethodsTest, ATokenForPacketsHas32Digits) {
  for (const std::string& token : {std::string("17"), std::string(32, 'x')}) {
    Connection connection;
    std::tie(adapter_, connection.descriptor) = testing::SocketPair();
    EXPECT_EQ(AskWith(connection, {{"node", "host-2"}, {"packets", token}}),
              "a token has 32 digits");
  }
  EXPECT_FALSE(IsRemote());
}

TEST_F(NodeLinkMethodsTest, SaysWhyANodeCannotBeHad) {
  Connection connection;
  EXPECT_EQ(Attach(connection, "host-3"),
            "no node \"host-3\": did you mean \"host-1\"?");
  EXPECT_EQ(Attach(connection, "sw1"), "\"sw1\" is no channel adapter");
  EXPECT_EQ(Ask(connection, "host-2"),
            "node_link.attach needs a unix stream socket with the request");
  EXPECT_FALSE(IsRemote());
}

}  // namespace
}  // namespace ibemu::daemon

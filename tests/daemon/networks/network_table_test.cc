#include "daemon/networks/network_table.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <memory>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/unique_fd.h"
#include "daemon/adapters/fabric_adapters.h"
#include "daemon/adapters/host_table.h"
#include "launch/namespaces.h"
#include "launch/network/network_devices.h"
#include "launch/pass_descriptor.h"
#include "nlohmann/json.hpp"
#include "testing/lab.h"
#include "tests/daemon/connection.h"
#include "tests/daemon/virtual_loop.h"

namespace ibemu::daemon {
namespace {

using nlohmann::json;
using ::testing::ElementsAre, ::testing::HasSubstr, ::testing::IsEmpty;
using testing::Lab;

// A TUN device of a network namespace that nobody is in.
UniqueFd MakeTun(
    const std::string& name = "ib0",
    launch::NetworkDeviceKind kind = launch::NetworkDeviceKind::kIpoib) {
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return {};
  const UniqueFd ours(ends[0]);
  UniqueFd theirs(ends[1]);
  const pid_t child = fork();
  if (child == 0) {
    const bool entered =
        launch::EnterNamespaces(launch::Network::kOwn).status().ok();
    auto tun = launch::MakeNetworkDevice(name, kind);
    if (entered && tun.ok()) {
      launch::SendDescriptor(theirs.get(), tun->get()).IgnoreError();
    }
    _exit(0);
  }
  theirs.Reset();
  UniqueFd tun = launch::ReceiveDescriptor(ours.get());
  waitpid(child, nullptr, 0);
  return tun;
}

class NetworkTableTest : public ::testing::Test {
 protected:
  // A client that is this process.
  struct Client : Connection {
    int pid() const override { return getpid(); }
  };

  NetworkTableTest() { networks_.AddTo(dispatcher_); }

  json Call(Client& client, const std::string& method, const json& parameters) {
    return json::parse(dispatcher_.Handle(
        json{{"id", 1}, {"method", method}, {"params", parameters}}.dump(),
        client));
  }
  std::string Error(Client& client, const std::string& method,
                    const json& parameters) {
    return Call(client, method, parameters)["error"].value("message", "");
  }
  // Hands in a descriptor for the network of a node.
  json Attach(Client& client, const std::string& node, UniqueFd fd) {
    client.descriptor = std::move(fd);
    return Call(client, "network.attach", {{"node", node}});
  }
  std::string Refusal(UniqueFd fd) {
    Client client;
    return Attach(client, "node-1", std::move(fd))["error"].value("message",
                                                                  "");
  }

  Lab lab_{"single-switch:hosts=3", Lab::kByItsManager};
  VirtualLoop loop_{lab_.timers};
  FabricAdapters adapters_{lab_.fabric};
  HostTable hosts_{loop_, adapters_};
  const AddressPlan plan_ = AddressPlan::Numbered(
      AddressPlan::kUsual,
      {*adapters_.Find("node-1"), *adapters_.Find("node-2")});
  ConnectionTable connections_{loop_, hosts_, plan_, /*seed=*/1};
  NetworkTable networks_{loop_, adapters_, connections_};
  control::MethodTable dispatcher_;
};

TEST_F(NetworkTableTest, PortsWithAddressesAreListed) {
  Client client;
  const json ports =
      Call(client, "network.ports", {{"hosts", {"node-2"}}})["result"];
  ASSERT_EQ(ports.size(), 1u);
  EXPECT_EQ(ports[0]["port"], 1);
  EXPECT_EQ(*adapters_.Find(ports[0]["node"].get<std::string>()),
            *adapters_.Find("node-2"));
  EXPECT_EQ(Call(client, "network.ports", json::object())["result"].size(), 1u)
      << "the default host";
  EXPECT_EQ(Error(client, "network.ports", {{"hosts", {"node-3"}}}),
            "\"node-3\" has no address: give it one with --addresses (of "
            "ibemud, or of ibemu run without a daemon)");
  EXPECT_THAT(Error(client, "network.ports", {{"hosts", {"nod-2"}}}),
              HasSubstr("did you mean \"node-2\"?"));
}

TEST_F(NetworkTableTest, OnlyADeviceOfIpPacketsIsTaken) {
  EXPECT_EQ(Refusal(UniqueFd()), "no /dev/net/tun came with the request");
  EXPECT_EQ(Refusal(UniqueFd(open("/dev/null", O_RDWR | O_CLOEXEC))),
            "the descriptor that came with the request is no /dev/net/tun");
  EXPECT_EQ(Refusal(UniqueFd(socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0))),
            "the descriptor that came with the request is no /dev/net/tun");
  EXPECT_THAT(networks_.List(), IsEmpty());
  EXPECT_EQ(hosts_.Find(*adapters_.Find("node-1")), nullptr);
}

TEST_F(NetworkTableTest, AnOpenTunWithoutADeviceIsRefused) {
  UniqueFd tun(open("/dev/net/tun", O_RDWR | O_CLOEXEC));
  if (!tun.valid()) GTEST_SKIP() << "there is no /dev/net/tun";
  EXPECT_EQ(Refusal(std::move(tun)),
            "the /dev/net/tun that came with the request has no device");
}

TEST_F(NetworkTableTest, MistakesAreNamed) {
  Client client;
  EXPECT_THAT(
      Error(client, "network.attach", {{"node", "node-1"}, {"port", 2}}),
      HasSubstr("\"node-1\" has no port 2 with addresses"));
  EXPECT_THAT(Error(client, "network.attach", {{"node", "node-3"}}),
              HasSubstr("has no port 1 with addresses"));
  EXPECT_THAT(Error(client, "network.attach", {{"node", "node-9"}}),
              HasSubstr("no node \"node-9\""));
  EXPECT_THAT(Error(client, "network.show", {{"node", "node-1"}}),
              HasSubstr("\"node-1\" has no network on port 1"));
  EXPECT_THAT(Error(client, "network.attach", {{"nod", "node-1"}}),
              HasSubstr("did you mean \"node\"?"));
}

// What needs a device that the kernel makes.
class RealDeviceTest : public NetworkTableTest {
 protected:
  void SetUp() override {
    tun_ = MakeTun();
    if (!tun_.valid()) GTEST_SKIP() << "see what \"ibemu doctor\" says";
  }

  UniqueFd tun_;
};

TEST_F(RealDeviceTest, AHostHasOneNetworkUntilItsConnectionEnds) {
  Client client;
  const json attached =
      Attach(client, "node-1", std::move(tun_)).value("result", json());
  EXPECT_EQ(attached["name"], "ib0");
  EXPECT_EQ(attached["addresses"][0], "198.18.0.1/16");
  EXPECT_EQ(attached["addresses"][1], "fd1b:e000:0:1::1/64");
  EXPECT_EQ(attached["mtu"], 0) << "the groups are not joined yet";
  EXPECT_EQ(attached["waits"], true);
  lab_.timers.RunFor(absl::Seconds(1));
  const json shown =
      Call(client, "network.show", {{"node", "node-1"}})["result"];
  EXPECT_EQ(shown["up"], true);
  EXPECT_EQ(shown["mtu"], 2044);
  EXPECT_EQ(networks_.List(), json::array({shown}));

  Client second;
  const std::string refusal = absl::StrCat(
      "the network of \"node-1\" is that of the \"ibemu run --net\" with "
      "process ",
      getpid(), ": end that one first, or give another --host");
  EXPECT_EQ(Attach(second, "node-1", MakeTun())["error"]["message"], refusal);
  EXPECT_EQ(Error(second, "network.ports", {{"hosts", {"node-1"}}}), refusal);
  client.kept.clear();
  EXPECT_THAT(networks_.List(), IsEmpty());
  EXPECT_TRUE(Attach(second, "node-1", MakeTun()).contains("result"));
}

TEST_F(RealDeviceTest, AHostIsOnASwitchOfEthernetUntilItsConnectionEnds) {
  Client client;
  const json wanted = {{"node", "node-2"}, {"ethernet", "blue"}};
  client.descriptor = MakeTun("blue", launch::NetworkDeviceKind::kEthernet);
  const json attached = Call(client, "network.attach", wanted)["result"];
  EXPECT_EQ(attached["name"], "blue");
  EXPECT_EQ(attached["ethernet"], "blue");
  EXPECT_EQ(attached["mtu"], 2026);
  EXPECT_EQ(attached["addresses"], json::array({"169.254.1.1/16"}));
  EXPECT_EQ(attached["mac"].get<std::string>().size(), 17u);
  EXPECT_EQ(attached["waits"], true);
  lab_.timers.RunFor(absl::Seconds(1));
  const json shown = Call(client, "network.show", wanted)["result"];
  EXPECT_EQ(shown["up"], true);
  EXPECT_THAT(shown["stations"], IsEmpty());

  Client second;
  second.descriptor = MakeTun("blue", launch::NetworkDeviceKind::kEthernet);
  EXPECT_THAT(Error(second, "network.attach", wanted),
              HasSubstr("end that one first"));
  client.kept.clear();
  EXPECT_THAT(networks_.List(), IsEmpty());
}

TEST_F(RealDeviceTest, ADeviceOfTheOtherKindIsRefused) {
  Client client;
  client.descriptor = std::move(tun_);
  EXPECT_EQ(Error(client, "network.attach",
                  {{"node", "node-1"}, {"ethernet", "blue"}}),
            "the device that came with the request is none of frames alone "
            "(IFF_TAP, IFF_NO_PI)");
  EXPECT_THAT(
      Attach(client, "node-1",
             MakeTun("blue",
                     launch::NetworkDeviceKind::kEthernet))["error"]["message"],
      "the device that came with the request is none of IP packets alone "
      "(IFF_TUN, IFF_NO_PI)");
}

TEST_F(NetworkTableTest, APortIsOnEachSwitchThatIsAskedFor) {
  Client client;
  const auto ask = [&](const json& switches) {
    return json{{"hosts", {"node-1"}}, {"ethernet", switches}};
  };
  const json ports = Call(client, "network.ports",
                          ask({"blue", "a2_b456789", "blue"}))["result"];
  ASSERT_EQ(ports.size(), 3u);
  EXPECT_FALSE(ports[0].contains("ethernet"));
  EXPECT_EQ(ports[1]["ethernet"], "blue");
  EXPECT_EQ(ports[2]["ethernet"], "a2_b456789");
  for (const char* const wrong : {"", "lo", "all", "ib1", "tap0", "1a", "a/b",
                                  "a-b", "cafe", "12345678901"}) {
    EXPECT_THAT(
        Error(client, "network.ports", ask({wrong})),
        HasSubstr("is no name of a switch: it is a letter and at most 9 "
                  "letters, digits and underscores, none of lo, all and "
                  "default, no P_Key of four digits, and begins neither with "
                  "ib nor with tap"));
  }
}

TEST_F(NetworkTableTest, APortHasAnInterfaceInEachPartitionThatIsAskedFor) {
  lab_.PortOf(lab_.Host(1), 1).SetPKey(1, 0x8001);
  lab_.PortOf(lab_.Host(1), 1).SetPKey(2, 0x0002);
  Client client;
  const auto ask = [&](const json& partitions) {
    return json{{"hosts", {"node-1"}}, {"partitions", partitions}};
  };
  const json ports =
      Call(client, "network.ports", ask({"2", "8001", "0x1"}))["result"];
  ASSERT_EQ(ports.size(), 3u);
  EXPECT_FALSE(ports[0].contains("partition"));
  EXPECT_EQ(ports[1]["partition"], "8002");
  EXPECT_EQ(ports[2]["partition"], "8001");
  EXPECT_EQ(Error(client, "network.ports", ask({"8003"})),
            "port 1 of \"node-1\" is not in partition 8003: its P_Keys are "
            "ffff, 8001, 0002; the subnet manager gives others (of opensm, see "
            "partitions.conf)");
  EXPECT_EQ(Error(client, "network.ports", ask({"7fff"})),
            "port 1 of \"node-1\": its first interface is in partition ffff "
            "already, so --net without a P_Key gives it");
  EXPECT_THAT(Error(client, "network.ports", ask({"8000"})),
              HasSubstr("is no P_Key of a partition"));
  EXPECT_THAT(Error(client, "network.attach",
                    {{"node", "node-1"}, {"partition", "8003"}}),
              HasSubstr("is not in partition 8003"));
  EXPECT_THAT(Error(client, "network.show",
                    {{"node", "node-1"}, {"partition", "8001"}}),
              HasSubstr("has no network on port 1 in partition 8001"));
}

TEST_F(NetworkTableTest, APortThatIsNotActiveMayGetToAPartitionLater) {
  lab_.SetLink(lab_.Host(1), 1, false);
  Client client;
  const json ports =
      Call(client, "network.ports",
           {{"hosts", {"node-1"}}, {"partitions", {"8001"}}})["result"];
  EXPECT_EQ(ports.size(), 2u);
}

TEST_F(RealDeviceTest, AnInterfaceOfAPartitionIsAChildOfThePortsFirst) {
  for (const int host : {1, 2}) {
    lab_.PortOf(lab_.Host(host), 1).SetPKey(1, 0x8001);
  }
  Client client;
  Attach(client, "node-1", std::move(tun_));
  client.descriptor = MakeTun("ib0.8001");
  const json attached =
      Call(client, "network.attach",
           {{"node", "node-1"}, {"partition", "8001"}})["result"];
  EXPECT_EQ(attached["name"], "ib0.8001");
  EXPECT_EQ(attached["p_key"], "0x8001");
  EXPECT_EQ(attached["addresses"][0], "100.65.0.1/16");
  const auto here = NetworkNamespaceOf(getpid());
  ASSERT_TRUE(here);
  const auto shown = networks_.In(*here);
  ASSERT_EQ(shown.size(), 2u);
  EXPECT_EQ(shown[0].partition, 0);
  EXPECT_EQ(shown[0].interface.parent, "");
  EXPECT_EQ(shown[1].partition, 1);
  EXPECT_EQ(shown[1].interface.parent, "ib0");
  EXPECT_EQ(shown[1].interface.facts()->pkey, 0x8001);
  EXPECT_EQ(networks_.List().size(), 2u);
  client.kept.clear();
  EXPECT_THAT(networks_.List(), IsEmpty());
}

TEST_F(RealDeviceTest, APortHasInterfacesInNoMoreThan64FurtherPartitions) {
  lab_.SetLink(lab_.Host(1), 1, false);  // so that it may get to any
  Client client;
  Attach(client, "node-1", std::move(tun_));
  const auto attach = [&](int partition) {
    client.descriptor = MakeTun("ib0.further");
    return Call(
        client, "network.attach",
        {{"node", "node-1"}, {"partition", absl::StrFormat("%x", partition)}});
  };
  for (int partition = 1; partition <= 64; ++partition) {
    ASSERT_TRUE(attach(partition).contains("result")) << partition;
  }
  client.kept.clear();
  EXPECT_EQ(attach(65)["error"]["message"],
            "a port has interfaces in no more than 64 further partitions");
  EXPECT_TRUE(attach(64).contains("result")) << "it is there already";
}

TEST_F(RealDeviceTest, ANetworkIsSeenInItsNamespaceAlone) {
  Client client;
  Attach(client, "node-1", std::move(tun_));
  const auto here = NetworkNamespaceOf(getpid());
  ASSERT_TRUE(here);
  auto shown = networks_.In(*here);
  ASSERT_EQ(shown.size(), 1u);
  EXPECT_EQ(shown[0].interface.name, "ib0");
  const auto facts = shown[0].interface.facts();
  ASSERT_TRUE(facts);
  EXPECT_EQ(facts->address.size(), 20u * 3 - 1);
  EXPECT_EQ(facts->pkey, 0xffff);
  EXPECT_TRUE(networks_.In({here->device, here->number + 1}).empty());
  client.kept.clear();
  EXPECT_FALSE(shown[0].interface.facts()) << "it is gone";
  EXPECT_TRUE(networks_.In(*here).empty());
}

TEST_F(RealDeviceTest, ARemovedAdapterFreesTheHost) {
  Client client;
  Attach(client, "node-1", std::move(tun_));
  hosts_.Forget(*adapters_.Find("node-1"));
  ASSERT_TRUE(lab_.fabric.RemoveDevice(lab_.Host(1)).ok());
  lab_.timers.RunFor(absl::Seconds(1));
  EXPECT_THAT(networks_.List(), IsEmpty());
  client.kept.clear();
}

TEST_F(RealDeviceTest, ANameThatIsNoPlainWordIsRefused) {
  EXPECT_THAT(Refusal(MakeTun("a\x01\xff")),
              HasSubstr("others than letters, digits"));
}

}  // namespace
}  // namespace ibemu::daemon

// Both ends of a node link: NodeLinkHost in the daemon, RemoteCables in the
// adapter.
#include "daemon/remote_node/node_link_host.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <map>
#include <memory>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include "daemon/remote_node/format/packet_train.h"
#include "daemon/remote_node/remote_cable.h"
#include "fabric/subnet/subnet.h"
#include "loop/epoll_loop.h"
#include "mad/smi.h"
#include "testing/lab.h"
#include "testing/socket_pair.h"
#include "testing/verbs_end.h"
#include "tests/daemon/virtual_loop.h"
#include "wire/packet_headers.h"

namespace ibemu::daemon {
namespace {

using mad::AttributeId, mad::LocalVerdict, mad::PortState, mad::Smp;
using testing::Chain, testing::Inbox, testing::DirectedGet, testing::VerbsEnd;
using ::testing::ElementsAre;
using topology::NodeId;

struct Listener : hca::model::CableListener {
  void OnPacket(std::span<const std::byte> packet) override {
    packets.emplace_back(packet.begin(), packet.end());
  }
  void OnPortEvent() override { ++events; }
  void OnReregister() override { ++reregisters; }

  std::vector<std::vector<std::byte>> packets;
  int events = 0;
  int reregisters = 0;
};

// The daemon's side has a thread of its own, as it has a process.
class NodeLinkHostTest : public ::testing::Test {
 protected:
  NodeLinkHostTest() {
    std::array<int, 2> ends;
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends.data()), 0);
    auto cables = FabricCables::Plug(fabric_, kHost2);
    EXPECT_TRUE(cables.ok()) << cables.status();
    host_ = std::make_unique<NodeLinkHost>(*loop_, std::move(*cables),
                                           UniqueFd(ends[0]));
    EXPECT_TRUE(host_->Start().ok());
    daemon_ = std::thread([this] { loop_->Run(); });
    socket_.Reset(ends[1]);
  }
  ~NodeLinkHostTest() override { StopDaemon(); }

  void Adopt() {
    auto cables = RemoteCables::Adopt(std::move(socket_));
    ASSERT_TRUE(cables.ok()) << cables.status();
    remote_ = std::move(*cables);
    remote_->cable(1).SetListener(&listener_);
  }

  void StopDaemon() {
    if (!daemon_.joinable()) return;
    loop_->Post([this] { loop_->Stop(); });
    daemon_.join();
  }

  // On the daemon's thread; done when it returns.
  template <class Task>
  void InDaemon(Task task) {
    std::atomic<bool> done = false;
    loop_->Post([&] {
      task();
      done = true;
      done.notify_all();
    });
    done.wait(false);
  }

  template <class Condition>
  void DispatchUntil(Condition condition) {
    while (!condition()) ASSERT_TRUE(remote_->Dispatch().ok());
  }

  // Until the adapter knows that its link is up.
  void Enable() {
    remote_->cable(1).SetEnabled(true);
    DispatchUntil([&] {
      return remote_->cable(1).Info().port_state == PortState::kInit;
    });
  }

  static constexpr NodeId kHost1{0}, kHost2{2};
  std::unique_ptr<Loop> loop_ = EpollLoop::Create().value();
  fabric::Fabric fabric_{Chain(1), *loop_, {}};
  std::unique_ptr<NodeLinkHost> host_;
  std::thread daemon_;
  UniqueFd socket_;
  std::unique_ptr<RemoteCables> remote_;
  Listener listener_;
};

TEST_F(NodeLinkHostTest, TellsTheStateOfThePortAndItsChanges) {
  Adopt();
  ASSERT_EQ(remote_->port_count(), 1);
  RemoteCable& cable = remote_->cable(1);
  EXPECT_EQ(cable.node_guid(), wire::Guid{0x2000});
  EXPECT_EQ(cable.Info().port_state, PortState::kDown);
  EXPECT_EQ(cable.GidAt(0).interface_id, 0x2001u);
  EXPECT_EQ(cable.GidAt(99).interface_id, 0u);
  EXPECT_EQ(cable.PKeyAt(0), 0xffff);
  EXPECT_EQ(cable.PKeyAt(-1), 0);
  Enable();
  EXPECT_GT(listener_.events, 0);
}

TEST_F(NodeLinkHostTest, AsksTheNodesAgents) {
  Adopt();
  mad::Arrival request;
  mad::Smp smp;
  smp.mgmt_class = mad::MgmtClass::kSubnetLidRouted;
  smp.method = mad::Method::kGet;
  smp.attr_id = AttributeId::kNodeInfo;
  wire::Encode(smp, request.mad);
  mad::MadBytes reply{};
  EXPECT_EQ(remote_->cable(1).ProcessLocal(request, reply),
            LocalVerdict::kReply);
  EXPECT_EQ(wire::Get<&Smp::method>(reply), mad::Method::kGetResp);
}

TEST_F(NodeLinkHostTest, AChangeByTheAgentsIsKnownWithTheirAnswer) {
  Adopt();
  remote_->cable(1).SetIsSm(true);
  mad::Arrival anything;
  mad::MadBytes reply;
  remote_->cable(1).ProcessLocal(anything, reply);
  EXPECT_NE(remote_->cable(1).Info().capability_mask & mad::capability::kIsSm,
            0u);
}

TEST_F(NodeLinkHostTest, TheNodeIsCalledWhatItsHostCallsIt) {
  Adopt();
  remote_->Describe("weaver mlx5_0");
  mad::MadBytes reply;
  remote_->cable(1).ProcessLocal({}, reply);  // comes after it
  StopDaemon();
  EXPECT_EQ(fabric_.device(kHost2).node_description(), "weaver mlx5_0");
}

TEST_F(NodeLinkHostTest, CountsPacketsWithAWrongKeyUpToTheLargestNumber) {
  Adopt();
  RemoteCable& cable = remote_->cable(1);
  cable.OnBadKey({.trap = mad::TrapNumber::kBadPKey, .packets = 3});
  cable.OnBadKey({.trap = mad::TrapNumber::kBadQKey, .packets = 1});
  cable.OnBadKey({.trap = mad::TrapNumber::kBadQKey, .packets = 0xffffffff});
  mad::MadBytes reply;
  cable.ProcessLocal({}, reply);  // comes after them
  EXPECT_EQ(cable.Info().p_key_violations, 3);
  EXPECT_EQ(cable.Info().q_key_violations, 0xffff);
}

TEST_F(NodeLinkHostTest, TellsThatProgramsAreToRegisterAgain) {
  Adopt();
  InDaemon(
      [&] { fabric_.AskToReregister(fabric_.subnet().port_id(kHost2, 1)); });
  DispatchUntil([&] { return listener_.reregisters == 1; });
}

TEST_F(NodeLinkHostTest, PacketsCrossBothWays) {
  Adopt();
  Enable();
  InDaemon([&] {
    ASSERT_TRUE(fabric_.device(kHost1)
                    .port(1)
                    .Transmit(DirectedGet(AttributeId::kNodeInfo, {1, 2}))
                    .ok());
  });
  DispatchUntil([&] { return !listener_.packets.empty(); });
  std::vector<std::byte> packet = listener_.packets[0];
  constexpr size_t kMadAt = 8 + 12 + 8;
  ASSERT_EQ(packet.size(), kMadAt + 256 + 4);

  // The answer of an adapter whose software knows no better.
  mad::MadBytes smp;
  std::copy_n(packet.begin() + kMadAt, smp.size(), smp.begin());
  const mad::SmiNode adapter{.is_switch = false, .port_count = 1};
  ASSERT_EQ(mad::SmiReceive(smp, adapter, 1).step, mad::SmiStep::kDeliver);
  wire::Put<&Smp::method>(smp, mad::Method::kGetResp);
  wire::Put<&Smp::direction>(smp, true);
  ASSERT_EQ(mad::SmiAnswer(smp, adapter, 1).step, mad::SmiStep::kForward);
  std::copy(smp.begin(), smp.end(), packet.begin() + kMadAt);
  Inbox inbox;
  InDaemon([&] { fabric_.device(kHost1).port(1).SetListener(&inbox); });
  remote_->cable(1).Send(packet);
  bool arrived = false;
  while (!arrived) InDaemon([&] { arrived = !inbox.arrivals.empty(); });
  EXPECT_EQ(wire::Get<&Smp::method>(inbox.arrivals[0].mad),
            mad::Method::kGetResp);
  InDaemon([&] { fabric_.device(kHost1).port(1).SetListener(nullptr); });
}

TEST_F(NodeLinkHostTest, TheNodeIsTheFabricsAgainWhenTheAdapterHangsUp) {
  Adopt();
  remote_.reset();
  bool ended = false;
  while (!ended) InDaemon([&] { ended = host_->ended(); });
  StopDaemon();
  EXPECT_FALSE(std::as_const(fabric_).subnet().node(kHost2).remote);
  EXPECT_EQ(fabric_.device(kHost2).port(1).Info().port_state, PortState::kInit);
}

TEST_F(NodeLinkHostTest, GarbageEndsTheConnectionAndNothingElse) {
  const std::vector<std::byte> garbage(64, std::byte{0xff});
  ASSERT_EQ(send(socket_.get(), garbage.data(), garbage.size(), 0), 64);
  bool ended = false;
  while (!ended) InDaemon([&] { ended = host_->ended(); });
}

TEST_F(NodeLinkHostTest, AnAdapterThatDoesNotReadIsNotBufferedWithoutEnd) {
  std::vector<std::byte> requests;
  for (int i = 0; i < 200; ++i) {
    AppendMessage(NodeLinkMessage::kRequest, 1, EncodeRequest({}), requests);
  }
  size_t sent = 0;
  // Until the daemon reads no more: its answers fill the socket, then its
  // buffer, then ours.
  for (int failures = 0; failures < 3;) {
    const ssize_t count =
        send(socket_.get(), requests.data(), requests.size(), MSG_DONTWAIT);
    if (count < 0) {
      InDaemon([] {});
      ++failures;
      continue;
    }
    failures = 0;
    sent += static_cast<size_t>(count);
    // Only whole requests: the rest of this one later.
    std::rotate(requests.begin(), requests.begin() + count, requests.end());
    ASSERT_LT(sent, size_t{64} << 20);
  }
  // Whoever reads is heard again.
  ssize_t more = -1;
  while (more < 0) {
    std::array<std::byte, 65536> answers;
    ASSERT_GT(recv(socket_.get(), answers.data(), answers.size(), 0), 0);
    more = send(socket_.get(), requests.data(), requests.size(), MSG_DONTWAIT);
  }
}

TEST_F(NodeLinkHostTest, AnEchoComesBackWhileTheAdapterAwaitsAnAnswer) {
  Adopt();
  mad::Arrival request;
  wire::Encode(Smp{.mgmt_class = mad::MgmtClass::kSubnetLidRouted,
                   .method = mad::Method::kGet,
                   .attr_id = AttributeId::kNodeInfo},
               request.mad);
  mad::MadBytes reply{};
  // The answer comes after the echo, and the second question after its return.
  for (int question = 0; question < 2; ++question) {
    ASSERT_EQ(remote_->cable(1).ProcessLocal(request, reply),
              LocalVerdict::kReply);
  }
  InDaemon([this] { EXPECT_TRUE(host_->latency().round_trip()); });
}

TEST_F(NodeLinkHostTest, TheAdapterHearsThatTheDaemonIsGone) {
  Adopt();
  StopDaemon();
  host_.reset();
  absl::Status status;
  while (status.ok()) status = remote_->Dispatch();
  EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable);
  mad::MadBytes reply;
  EXPECT_EQ(remote_->cable(1).ProcessLocal({}, reply),
            LocalVerdict::kUnhandled);
}

// An adapter that reads when the test says so, and a daemon that keeps little
// for it.
class SlowAdapterTest : public ::testing::Test {
 protected:
  static constexpr size_t kMaxBuffered = 16384;
  // What is kept may be double that limit, and what one message brings more.
  static constexpr size_t kMax = 2 * kMaxBuffered + 4096;

  explicit SlowAdapterTest(
      testing::Lab::Configured configured = testing::Lab::kNot)
      : lab_(Chain(1), configured) {
    UniqueFd daemons;
    std::tie(adapter_, daemons) = testing::SocketPair();
    const int little = 4096;
    EXPECT_EQ(setsockopt(daemons.get(), SOL_SOCKET, SO_SNDBUF, &little,
                         sizeof little),
              0);
    auto cables = FabricCables::Plug(lab_.fabric, lab_.Host(2));
    EXPECT_TRUE(cables.ok()) << cables.status();
    host_ = std::make_unique<NodeLinkHost>(loop_, *std::move(cables),
                                           std::move(daemons), kMaxBuffered);
    EXPECT_TRUE(host_->Start().ok());
  }

  // `bytes`: of a whole message, or what is left of it.
  bool TrySend(std::vector<std::byte>& bytes) {
    const ssize_t count = send(adapter_.get(), bytes.data(), bytes.size(),
                               MSG_DONTWAIT | MSG_NOSIGNAL);
    if (count > 0) bytes.erase(bytes.begin(), bytes.begin() + count);
    return bytes.empty();
  }
  // Asks until the daemon listens no more.
  void AskUntilItIsFull() {
    std::vector<std::byte> request;
    do {
      if (request.empty()) {
        AppendMessage(NodeLinkMessage::kRequest, 1, EncodeRequest({}), request);
      }
      loop_.Poll();
    } while (TrySend(request));
  }
  std::vector<std::byte> Read(size_t most) {
    std::vector<std::byte> bytes(most);
    const ssize_t count =
        recv(adapter_.get(), bytes.data(), bytes.size(), MSG_DONTWAIT);
    bytes.resize(count < 0 ? 0 : static_cast<size_t>(count));
    return bytes;
  }
  // Sends back the echoes that it has been sent; returns their numbers.
  std::vector<uint64_t> EchoBack() {
    NodeLinkSplitter splitter;
    splitter.Add(Read(65536));
    std::vector<uint64_t> numbers;
    for (NodeLinkSplitter::Message message; splitter.Next(message).value();) {
      if (message.type != NodeLinkMessage::kEcho) continue;
      numbers.push_back(DecodeEcho(message.payload).value());
      std::vector<std::byte> back;
      AppendMessage(message.type, message.port, message.payload, back);
      EXPECT_TRUE(TrySend(back));
    }
    loop_.Poll();
    return numbers;
  }
  struct Heard {
    PortState last_state{};
    int reregister = 0;
  };
  // Reads until there is no more.
  Heard ReadAll() {
    NodeLinkSplitter splitter;
    NodeLinkSplitter::Message message;
    Heard heard;
    for (int idle = 0; idle < 2;) {
      loop_.Poll();
      const std::vector<std::byte> bytes = Read(65536);
      idle = bytes.empty() ? idle + 1 : 0;
      splitter.Add(bytes);
      while (splitter.Next(message).value()) {
        if (message.type == NodeLinkMessage::kReregister) ++heard.reregister;
        if (message.type != NodeLinkMessage::kState) continue;
        heard.last_state = DecodeState(message.payload)->info.port_state;
      }
    }
    return heard;
  }

  testing::Lab lab_;
  VirtualLoop loop_{lab_.timers};
  UniqueFd adapter_;
  std::unique_ptr<NodeLinkHost> host_;
};

TEST_F(SlowAdapterTest, LeavesNothingOfWhatItReadBehindThoughItNeverCatchesUp) {
  AskUntilItIsFull();
  ASSERT_GT(host_->buffered(), kMaxBuffered);
  size_t read = 0;
  for (int turn = 0; turn < 200; ++turn) {
    read += Read(2048).size();
    loop_.Poll();
    AskUntilItIsFull();
    ASSERT_LT(host_->buffered(), kMax) << "after " << read << " bytes";
  }
  EXPECT_GT(read, 2 * kMax);
}

TEST_F(SlowAdapterTest, IsToldOfItsLinkWhenItReadsAgain) {
  fabric::Fabric& fabric = lab_.fabric;
  AskUntilItIsFull();
  fabric.SetPort(lab_.IdOf("host-2", 1), true);
  for (int turn = 0; turn < 200; ++turn) {
    lab_.SetLink(lab_.Host(2), 1, false);
    loop_.Poll();
    lab_.SetLink(lab_.Host(2), 1, true);
    loop_.Poll();
    ASSERT_LT(host_->buffered(), kMax) << "after " << turn << " cuts";
  }
  EXPECT_EQ(ReadAll().last_state, PortState::kInit);
}

TEST_F(SlowAdapterTest, IsToldOnceToRegisterAgainWhenItReadsAgain) {
  AskUntilItIsFull();
  const size_t before = host_->buffered();
  for (int turn = 0; turn < 3; ++turn) {
    lab_.fabric.AskToReregister(lab_.IdOf("host-2", 1));
  }
  EXPECT_EQ(host_->buffered(), before);
  EXPECT_EQ(ReadAll().reregister, 1);
}

TEST_F(SlowAdapterTest, IsBehindUntilItsEchoComesBack) {
  lab_.timers.RunFor(absl::Seconds(25));
  EXPECT_FALSE(host_->latency().round_trip());
  EXPECT_EQ(host_->latency().Behind(loop_.Now()), absl::Seconds(25));
  EXPECT_THAT(EchoBack(), ElementsAre(1));
  EXPECT_EQ(host_->latency().round_trip(), absl::Seconds(25));
  EXPECT_EQ(host_->latency().Behind(loop_.Now()), absl::ZeroDuration());
  lab_.timers.RunFor(LinkLatency::kInterval + absl::Milliseconds(3));
  EXPECT_THAT(EchoBack(), ElementsAre(2));
  EXPECT_EQ(host_->latency().round_trip(), absl::Milliseconds(3));
}

TEST_F(SlowAdapterTest, IsBehindWhenItReadsNothingAndTheDaemonKeepsNoMore) {
  EXPECT_THAT(EchoBack(), ElementsAre(1));
  AskUntilItIsFull();
  lab_.timers.RunFor(LinkLatency::kInterval + absl::Seconds(7));
  EXPECT_EQ(host_->latency().Behind(loop_.Now()), absl::Seconds(7));
}

TEST_F(SlowAdapterTest, LosesItsConnectionByAnEchoThatNobodySent) {
  std::vector<std::byte> echo;
  AppendMessage(NodeLinkMessage::kEcho, 1, EncodeEcho(2), echo);
  ASSERT_TRUE(TrySend(echo));
  loop_.Poll();
  EXPECT_TRUE(host_->ended());
}

TEST_F(SlowAdapterTest, LosesItsConnectionByATrainIfItHasNotSaidThatItKnows) {
  std::vector<std::byte> train;
  AppendMessage(NodeLinkMessage::kTrain, 1, {}, train);
  ASSERT_TRUE(TrySend(train));
  loop_.Poll();
  EXPECT_TRUE(host_->ended());
}

TEST_F(SlowAdapterTest, HasNoConnectionForPacketsIfItKnowsNoTrains) {
  auto [near, far] = testing::SocketPair();
  EXPECT_TRUE(
      absl::IsFailedPrecondition(host_->ConnectPackets(std::move(near))));
  std::vector<std::byte> moved;
  AppendMessage(NodeLinkMessage::kPacketsMoved, 1, {}, moved);
  ASSERT_TRUE(TrySend(moved));
  loop_.Poll();
  EXPECT_TRUE(host_->ended());
}

TEST_F(SlowAdapterTest, MayHangUpWhileItIsNotHeard) {
  AskUntilItIsFull();
  adapter_.Reset();
  // What it had asked before is read first.
  for (int turn = 0; turn < 20 && !host_->ended(); ++turn) loop_.Poll();
  EXPECT_TRUE(host_->ended());
  EXPECT_EQ(host_->buffered(), 0u);
}

// host-1 sends such an adapter a message of many packets.
class TrainsToAnAdapterTest : public SlowAdapterTest {
 protected:
  TrainsToAnAdapterTest() : SlowAdapterTest(testing::Lab::kStatically) {
    lab_.fabric.SetPort(lab_.IdOf("host-2", 1), true);
    sender_.Connect(
        VerbsEnd::Towards(0x42, static_cast<uint16_t>(lab_.LidOf("host-2"))));
  }
  void SendAMessage() {
    ASSERT_TRUE(sender_.Send(0, kSize).ok());
    lab_.timers.RunPending();
  }
  void Say(NodeLinkMessage type, const std::vector<std::byte>& payload = {}) {
    std::vector<std::byte> bytes;
    AppendMessage(type, 1, payload, bytes);
    ASSERT_TRUE(TrySend(bytes));
    loop_.Poll();
    loop_.Poll();
  }
  // How many messages of a kind it has been told.
  std::map<NodeLinkMessage, int> Told() {
    NodeLinkSplitter splitter(PacketTrain::kLongest);
    NodeLinkSplitter::Message message;
    std::map<NodeLinkMessage, int> told;
    for (int idle = 0; idle < 2;) {
      loop_.Poll();
      const std::vector<std::byte> bytes = Read(65536);
      idle = bytes.empty() ? idle + 1 : 0;
      splitter.Add(bytes);
      while (splitter.Next(message).value()) ++told[message.type];
    }
    return told;
  }

  static constexpr size_t kSize = 10'000;  // of ten packets
  VerbsEnd sender_{lab_.timers, lab_.Provider(1), {}};
};

TEST_F(TrainsToAnAdapterTest, GoAsOneMessageIfItHasSaidThatItKnowsThem) {
  host_->ServeDaemon();
  SendAMessage();
  const auto told = Told();
  EXPECT_FALSE(told.contains(NodeLinkMessage::kPacket));
  EXPECT_EQ(told.at(NodeLinkMessage::kTrain), 1);
}

TEST_F(TrainsToAnAdapterTest, GoPacketByPacketIfItHasNot) {
  SendAMessage();
  const auto told = Told();
  EXPECT_EQ(told.at(NodeLinkMessage::kPacket), 10);
  EXPECT_FALSE(told.contains(NodeLinkMessage::kTrain));
}

TEST_F(TrainsToAnAdapterTest, GoByTheirOwnConnectionWhileThereIsOne) {
  host_->ServeDaemon();
  auto [near, far] = testing::SocketPair();
  ASSERT_TRUE(host_->ConnectPackets(std::move(near)).ok());
  SendAMessage();
  auto told = Told();
  EXPECT_FALSE(told.contains(NodeLinkMessage::kPacketsMoved));
  EXPECT_EQ(told[NodeLinkMessage::kTrain], 1) << "the adapter has not moved";
  Say(NodeLinkMessage::kPacketsMoved, EncodeNumber(1));
  EXPECT_TRUE(host_->has_packet_connection());
  EXPECT_EQ(Told()[NodeLinkMessage::kPacketsMoved], 1);
  SendAMessage();
  ASSERT_TRUE(sender_.Send(0, 1).ok());
  lab_.timers.RunPending();
  EXPECT_FALSE(Told().contains(NodeLinkMessage::kTrain));
  std::swap(adapter_, far);
  told = Told();
  EXPECT_EQ(told[NodeLinkMessage::kTrain], 1);
  EXPECT_EQ(told[NodeLinkMessage::kPacket], 1);
  std::swap(adapter_, far);
  far.Reset();
  loop_.Poll();
  loop_.Poll();
  EXPECT_FALSE(host_->has_packet_connection());
  EXPECT_FALSE(host_->ended());
  SendAMessage();
  EXPECT_EQ(Told()[NodeLinkMessage::kTrain], 1);
}

// Connections of packets, one after the other, in whatever order both ends say
// that they have them.
class ConnectionsOfPacketsTest : public TrainsToAnAdapterTest {
 protected:
  ConnectionsOfPacketsTest() { host_->ServeDaemon(); }
  // Returns the adapter's end.
  UniqueFd Connect(uint32_t number) {
    auto [near, far] = testing::SocketPair();
    EXPECT_TRUE(host_->ConnectPackets(std::move(near), number).ok());
    return std::move(far);
  }
  bool Takes(uint32_t number) {
    auto [near, far] = testing::SocketPair();
    return host_->ConnectPackets(std::move(near), number).ok();
  }
  void SayMoved(uint32_t number) {
    Say(NodeLinkMessage::kPacketsMoved, EncodeNumber(number));
  }
  // Whether packets come by the connection.
  bool ComeBy(UniqueFd& socket) {
    SendAMessage();
    const bool by_link = Told()[NodeLinkMessage::kTrain] > 0;
    std::swap(adapter_, socket);
    const bool by_it = Told()[NodeLinkMessage::kTrain] > 0;
    std::swap(adapter_, socket);
    EXPECT_NE(by_link, by_it);
    return by_it;
  }
};

TEST_F(ConnectionsOfPacketsTest, ASecondOneIsUsedWhenTheFirstHasEnded) {
  UniqueFd first = Connect(1);
  SayMoved(1);
  first.Reset();
  loop_.Poll();
  loop_.Poll();
  EXPECT_FALSE(host_->has_packet_connection());
  UniqueFd second = Connect(2);
  EXPECT_FALSE(ComeBy(second));
  SayMoved(2);
  EXPECT_TRUE(ComeBy(second));
}

TEST_F(ConnectionsOfPacketsTest, ASecondOneIsUsedWhenItComesAfterTheWord) {
  UniqueFd first = Connect(1);
  SayMoved(1);
  EXPECT_TRUE(ComeBy(first));
  SayMoved(2);
  EXPECT_FALSE(host_->has_packet_connection());
  UniqueFd second = Connect(2);
  EXPECT_TRUE(ComeBy(second));
}

TEST_F(ConnectionsOfPacketsTest, TheFirstIsUsedUntilTheWordOfTheSecond) {
  UniqueFd first = Connect(1);
  SayMoved(1);
  UniqueFd second = Connect(2);
  EXPECT_TRUE(ComeBy(first));
  SayMoved(2);
  EXPECT_TRUE(ComeBy(second));
}

// The adapter has never got its end, or has lost it.
TEST_F(ConnectionsOfPacketsTest, OneThatTheAdapterDoesNotHaveAnyMoreIsNotUsed) {
  UniqueFd first = Connect(1);
  SayMoved(2);
  EXPECT_FALSE(host_->has_packet_connection());
  EXPECT_FALSE(Takes(1));
  UniqueFd second = Connect(2);
  EXPECT_TRUE(ComeBy(second));
  EXPECT_FALSE(Takes(1));
  EXPECT_FALSE(Takes(2));
  EXPECT_TRUE(ComeBy(second));
}

TEST_F(ConnectionsOfPacketsTest, AnAdapterThatGoesBackToAnOlderOneIsNone) {
  UniqueFd first = Connect(1);
  SayMoved(1);
  SayMoved(1);
  EXPECT_TRUE(host_->ended());
}

TEST_F(TrainsToAnAdapterTest, AreNotMovedByAMessageThatSaysMore) {
  host_->ServeDaemon();
  Say(NodeLinkMessage::kPacketsMoved, std::vector<std::byte>(1));
  EXPECT_TRUE(host_->ended());
}

// Nobody there has proved who he is.
TEST_F(TrainsToAnAdapterTest, AMadOnTheirConnectionEndsItAndGoesNowhere) {
  host_->ServeDaemon();
  auto [near, far] = testing::SocketPair();
  ASSERT_TRUE(host_->ConnectPackets(std::move(near)).ok());
  Say(NodeLinkMessage::kPacketsMoved, EncodeNumber(1));
  Inbox inbox;
  lab_.fabric.device(lab_.Host(1)).port(1).SetListener(&inbox);
  fabric::Packet packet;
  packet.slid = lab_.LidOf("host-2");
  packet.dlid = lab_.LidOf("host-1");
  packet.source_qpn = packet.destination_qpn = 1;
  packet.q_key = mad::kQp1QKey;
  wire::Encode(mad::MadHeader{.mgmt_class = mad::MgmtClass::kVendor2First,
                              .method = mad::Method::kSend},
               packet.mad);
  const auto say = [&] {
    Say(NodeLinkMessage::kPacket, EncodePacket(packet));
    lab_.timers.RunPending();
  };
  std::swap(adapter_, far);
  say();
  EXPECT_FALSE(host_->has_packet_connection());
  EXPECT_TRUE(inbox.arrivals.empty());
  std::swap(adapter_, far);
  say();
  EXPECT_EQ(inbox.arrivals.size(), 1u) << "the node link takes it";
  lab_.fabric.device(lab_.Host(1)).port(1).SetListener(nullptr);
}

TEST_F(TrainsToAnAdapterTest, AreLostWhileTooMuchWaitsForIt) {
  host_->ServeDaemon();
  AskUntilItIsFull();
  const size_t before = host_->buffered();
  SendAMessage();
  EXPECT_EQ(host_->buffered(), before);
}

}  // namespace
}  // namespace ibemu::daemon

// A compromised ibemu-hca-model or joined daemon: whatever it tells the daemon,
// and whether it reads what it is told or not, the other hosts of the fabric
// are as they were, and what two of them say to each other arrives.
//
// Their keys depend on the input, so an input can't know them.
#include <fcntl.h>
#include <sanitizer/allocator_interface.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "daemon/remote_node/fabric_cable.h"
#include "daemon/remote_node/format/node_link_format.h"
#include "daemon/remote_node/format/node_link_splitter.h"
#include "daemon/remote_node/format/packet_train.h"
#include "daemon/remote_node/leases/lease_table.h"
#include "daemon/remote_node/node_link_host.h"
#include "fabric/packet/packet_bytes.h"
#include "fabric/packet/transport.h"
#include "fabric/subnet/subnet.h"
#include "mad/wire/port_codes.h"
#include "mad/wire/smp.h"
#include "spdlog/spdlog.h"
#include "testing/fuzz_input.h"
#include "testing/lab.h"
#include "testing/socket_pair.h"
#include "testing/verbs_end.h"
#include "tests/daemon/virtual_loop.h"

namespace ibemu::daemon {
namespace {

using testing::FakeMemory, testing::FuzzInput, testing::Lab, testing::VerbsEnd;

void Require(bool holds, int line = __builtin_LINE()) {
  if (holds) return;
  std::fprintf(stderr, "what line %d requires does not hold\n", line);
  std::abort();
}

constexpr topology::NodeId kAlice{0}, kBob{1}, kMallory{2}, kSwitch{3},
    kCarol{4};
constexpr int kMallorysPorts = 2;
constexpr uint32_t kMallorysQpn = 0x42;  // who Alice's queue pairs talk to

// Alice, Bob, and both ports of Mallory are on ports 1 to 4 of a switch, and
// Carol, who may have leases with Mallory, is on port 5.
topology::Topology Neighbours() {
  topology::Topology topology;
  const auto add = [&](const char* name, uint64_t guid, int ports) {
    topology::NodeSpec& node = topology.nodes.emplace_back();
    node.name = node.description = name;
    node.node_guid = wire::Guid{guid};
    node.vendor_id = 0x2c9;
    node.port_count = ports;
  };
  add("alice", 0x10, 1);
  add("bob", 0x20, 1);
  add("mallory", 0x30, kMallorysPorts);
  add("sw", 0x40, 6);
  topology.nodes.back().type = mad::NodeType::kSwitch;
  add("carol", 0x50, 1);
  testing::AddLink(topology, 4, 1, 3, 5);
  testing::AddLink(topology, 0, 1, 3, 1);
  testing::AddLink(topology, 1, 1, 3, 2);
  testing::AddLink(topology, 2, 1, 3, 3);
  testing::AddLink(topology, 2, 2, 3, 4);
  return topology;
}

// Keys that an input decides about, and does not contain.
class Keys {
 public:
  Keys(const uint8_t* data, size_t size) {
    for (size_t i = 0; i < size; ++i) state_ = (state_ ^ data[i]) * kPrime;
  }
  uint64_t Next() {
    state_ = (state_ ^ state_ >> 29) * kPrime + 1;
    return state_ ^ state_ >> 32;
  }

 private:
  static constexpr uint64_t kPrime = 0x100000001b3;
  uint64_t state_ = 0xcbf29ce484222325;
};

// Two hosts that talk to each other by a connection in a partition of their
// own, and by MADs.
class Friends {
 public:
  Friends(Lab& lab, Keys& keys)
      : lab_(lab), alice_(Make(lab, kAlice)), bob_(Make(lab, kBob)) {
    const auto p_key = static_cast<uint16_t>(0x8001 | (keys.Next() & 0x7ffe));
    for (const topology::NodeId node : {kAlice, kBob}) {
      lab_.PortOf(node, 1).SetPKey(1, p_key);
    }
    verbs::QpAttributes to_alice = VerbsEnd::Towards(*alice_);
    verbs::QpAttributes to_bob = VerbsEnd::Towards(*bob_);
    to_alice.pkey_index = to_bob.pkey_index = 1;
    to_alice.sq_psn = to_bob.rq_psn = keys.Next() & 0xffffff;
    to_alice.rq_psn = to_bob.sq_psn = keys.Next() & 0xffffff;
    alice_->Connect(to_bob);
    bob_->Connect(to_alice);
    lab_.fabric.device(kAlice).port(1).SetListener(&inbox_);
  }
  ~Friends() { lab_.fabric.device(kAlice).port(1).SetListener(nullptr); }
  Friends(const Friends&) = delete;
  Friends& operator=(const Friends&) = delete;

  void Talk() {
    if (said_ % 4 == 0) {
      Say(*alice_, *bob_);
    } else {
      Say(*bob_, *alice_);
    }
    inbox_.arrivals.clear();
    mad::Outgoing question = testing::LidGet(1, mad::MgmtClass::kPerformance,
                                             lab_.PortOf(kBob, 1).info.lid,
                                             mad::AttributeId::kClassPortInfo);
    wire::Put<&mad::MadHeader::tid>(question.mad, ++said_);
    lab_.fabric.device(kAlice).port(1).Transmit(question).IgnoreError();
    lab_.timers.RunPending();
    Require(std::ranges::any_of(inbox_.arrivals, [&](const auto& arrival) {
      const mad::MadHeader header = testing::HeaderOf(arrival);
      return header.tid == said_ && header.method == mad::Method::kGetResp;
    }));
    inbox_.arrivals.clear();
  }

  uint32_t alices_qpn() const { return alice_->qp->number(); }
  uint32_t alices_key() const { return alice_->mr->rkey(); }

 private:
  static constexpr size_t kMemory = 1024, kSentence = 32;

  static std::unique_ptr<VerbsEnd> Make(Lab& lab, topology::NodeId node) {
    return std::make_unique<VerbsEnd>(
        lab.timers, lab.fabric.provider(node),
        VerbsEnd::Options{
            .memory = std::make_shared<FakeMemory>(lab.timers, kMemory)});
  }

  void Say(VerbsEnd& one, VerbsEnd& other) {
    std::string sentence(kSentence, static_cast<char>(++said_));
    one.memory->Put(0, sentence);
    Require(other.Receive(kSentence, kSentence, said_).ok());
    Require(one.Send(0, kSentence, said_).ok());
    lab_.timers.RunPending();
    for (VerbsEnd* const end : {&one, &other}) {
      std::array<verbs::WorkCompletion, 2> completions{};
      Require(end->cq->Poll(completions) == 1);
      Require(completions[0].wr_id == said_ &&
              completions[0].status == verbs::wc_status::kSuccess);
    }
    Require(other.memory->Text(kSentence, kSentence) == sentence);
    const std::string rest(kMemory - 2 * kSentence, '\0');
    Require(other.memory->Text(2 * kSentence, rest.size()) == rest);
  }

  Lab& lab_;
  std::unique_ptr<VerbsEnd> alice_, bob_;
  testing::Inbox inbox_;
  uint64_t said_ = 0;
};

// What subnet management has set up at the others, whose M_Keys Mallory does
// not know.
class Others {
 public:
  Others(Lab& lab, Keys& keys) : lab_(lab) {
    for (const auto& [node, port] : kPlaces) {
      mad::PortInfo& info = lab_.PortOf(node, port).info;
      if (node == kSwitch && port != 0) continue;
      info.m_key = keys.Next() | 1;
      info.m_key_protect_bits = 1;
    }
  }
  void Remember() { before_ = Look(); }
  void Check() const { Require(Look() == before_); }

 private:
  static constexpr std::array<std::pair<topology::NodeId, int>, 5> kPlaces = {
      {{kAlice, 1}, {kBob, 1}, {kSwitch, 0}, {kSwitch, 1}, {kSwitch, 2}}};

  static constexpr std::array<std::pair<topology::NodeId, int>, 4> kWithLids = {
      {{kAlice, 1}, {kBob, 1}, {kSwitch, 0}, {kCarol, 1}}};

  struct View {
    std::vector<mad::PortInfo> infos;
    std::vector<uint64_t> numbers;
    std::vector<std::string> names;
    bool operator==(const View&) const = default;
  };
  View Look() const {
    View view;
    const fabric::Subnet& subnet = std::as_const(lab_.fabric).subnet();
    for (const auto& [node, number] : kPlaces) {
      const fabric::NodePort& port = subnet.port(subnet.port_id(node, number));
      mad::PortInfo info = port.info;
      // Everybody may try, and is counted.
      info.m_key_violations = info.p_key_violations = info.q_key_violations = 0;
      view.infos.push_back(info);
      view.names.push_back(subnet.node(node).description);
      view.numbers.push_back(port.link_epoch);
      for (int i = 0; i < 4; ++i) {
        view.numbers.push_back(port.PKeyAt(i));
        view.numbers.push_back(port.GuidAt(i));
      }
    }
    const fabric::SwitchState& state = *subnet.node(kSwitch).sw;
    // Mallory may give itself any LID that nobody else has: a subnet manager
    // keeps it, and makes routes to it.
    for (const auto& [node, number] : kWithLids) {
      const wire::Lid lid = subnet.port(subnet.port_id(node, number)).info.lid;
      view.numbers.push_back(static_cast<uint64_t>(lid));
      view.numbers.push_back(state.linear.Lookup(lid));
      Require(static_cast<uint16_t>(lid) <= state.info.linear_fdb_top);
    }
    return view;
  }

  Lab& lab_;
  View before_;
};

// Mallory's end of the socket.
class Mallory {
 public:
  // As little as Linux gives: the daemon has to buffer.
  static constexpr int kSocketBuffer = 4096;
  static constexpr size_t kDaemonsBuffer = 16384;

  explicit Mallory(Lab& lab) : lab_(lab), loop_(lab.timers) {
    auto carols = FabricCables::Plug(lab_.fabric, kCarol);
    Require(carols.ok());
    carols_ = *std::move(carols);
    carols_->cable(1).SetEnabled(true);
    carol_ = leases_.Join(
        kCarol, {}, [this](NodeLinkMessage type, int, mad::Bytes payload) {
          std::string address;
          if (type == NodeLinkMessage::kLease) {
            wanted_.push_back(DecodeLease(payload, address)->number);
          }
          return true;
        });
    Attach();
  }
  void LetCarolAnswer() {
    for (const uint32_t number : std::exchange(wanted_, {})) {
      carol_->OnReady(number);
    }
  }

  void Attach() {
    auto cables = FabricCables::Plug(lab_.fabric, kMallory);
    Require(cables.ok());
    UniqueFd daemons;
    std::tie(socket_, daemons) = testing::SocketPair();
    setsockopt(daemons.get(), SOL_SOCKET, SO_SNDBUF, &kSocketBuffer,
               sizeof kSocketBuffer);
    host_ = std::make_unique<NodeLinkHost>(loop_, *std::move(cables),
                                           std::move(daemons), kDaemonsBuffer);
    host_->TakeLeases(leases_, {});
    host_->ServeDaemon();
    Require(host_->Start().ok());
    beside_.Reset();
    opened_ = 0;
    out_.clear();
    heard_ = NodeLinkSplitter(PacketTrain::kLongest);
  }
  void HangUp() {
    socket_.Reset();
    // First the daemon reads what was said before.
    for (int looks = 0; looks < 20 && !host_->ended(); ++looks) loop_.Poll();
    Require(host_->ended());
    host_.reset();
  }
  bool ended() const { return host_->ended(); }
  // The daemon may keep double its limit, and what one message brings more.
  void CheckBuffer() const {
    Require(host_->buffered() < 2 * kDaemonsBuffer + 8192);
  }

  // The connection of its packets: from now on it speaks there, or not any
  // more.
  void OpenConnection() {
    UniqueFd daemons;
    std::tie(beside_, daemons) = testing::SocketPair();
    setsockopt(daemons.get(), SOL_SOCKET, SO_SNDBUF, &kSocketBuffer,
               sizeof kSocketBuffer);
    host_->ConnectPackets(std::move(daemons), ++opened_).IgnoreError();
    heard_beside_ = NodeLinkSplitter(PacketTrain::kLongest);
  }
  // Of that one.
  void TellMoved(int port) {
    Tell(NodeLinkMessage::kPacketsMoved, port, EncodeNumber(opened_));
  }
  void SpeakBeside(bool beside) {
    speaks_beside_ = beside;
    out_.clear();
  }
  void CloseConnection() {
    beside_.Reset();
    loop_.Poll();
  }

  void Tell(NodeLinkMessage type, int port, mad::Bytes payload) {
    last_.clear();
    AppendMessage(type, port, payload, last_);
    Repeat();
  }
  void Enable(int port, bool enabled) {
    const std::byte flag{enabled};
    Tell(NodeLinkMessage::kEnable, port, std::span(&flag, 1));
  }
  void Repeat() { Send(last_); }
  // Nothing follows what the daemon does not take.
  void Send(mad::Bytes bytes) {
    if (out_.empty()) out_.assign(bytes.begin(), bytes.end());
    for (int tries = 0; !out_.empty() && tries < 2;) {
      const UniqueFd& socket =
          speaks_beside_ && beside_.valid() ? beside_ : socket_;
      const ssize_t count = send(socket.get(), out_.data(), out_.size(),
                                 MSG_DONTWAIT | MSG_NOSIGNAL);
      if (count > 0) {
        out_.erase(out_.begin(), out_.begin() + count);
        tries = 0;
      } else if (errno == EAGAIN) {
        ++tries;
      } else {
        out_.clear();
      }
      loop_.Poll();
    }
    loop_.Poll();
  }

  // Reads a part of what it was told, which makes sense.
  void Listen(size_t most) {
    Listen(socket_, heard_, most, Understand);
    if (beside_.valid()) {
      Listen(beside_, heard_beside_, most,
             [](const NodeLinkSplitter::Message& message) {
               Require(message.type == NodeLinkMessage::kLeaseUsed ||
                       DecodePackets(message).ok());
             });
    }
  }

 private:
  template <class Understand>
  void Listen(const UniqueFd& socket, NodeLinkSplitter& heard, size_t most,
              Understand understand) {
    std::array<std::byte, 4096> bytes;
    while (most > 0) {
      const ssize_t count = recv(socket.get(), bytes.data(),
                                 std::min(most, bytes.size()), MSG_DONTWAIT);
      if (count <= 0) break;
      most -= static_cast<size_t>(count);
      heard.Add(std::span(bytes).first(static_cast<size_t>(count)));
      loop_.Poll();
    }
    NodeLinkSplitter::Message message;
    for (auto there = heard.Next(message); there.value();
         there = heard.Next(message)) {
      understand(message);
    }
  }
  static void Understand(const NodeLinkSplitter::Message& message) {
    Require(message.port >= 1 && message.port <= kMallorysPorts);
    mad::MadBytes mad;
    switch (message.type) {
      case NodeLinkMessage::kState:
        return Require(DecodeState(message.payload).ok());
      case NodeLinkMessage::kReply:
        return Require(DecodeReply(message.payload, mad).ok());
      case NodeLinkMessage::kReregister:
        return Require(message.payload.empty());
      case NodeLinkMessage::kEcho:
        return Require(DecodeEcho(message.payload).ok());
      case NodeLinkMessage::kLease: {
        std::string address;
        return Require(DecodeLease(message.payload, address).ok());
      }
      case NodeLinkMessage::kLeaseUsed:
      case NodeLinkMessage::kLeaseEnded:
      case NodeLinkMessage::kPacketsMoved:
        return Require(DecodeNumber(message.payload).ok());
      case NodeLinkMessage::kTrain:
        return Require(DecodeTrain(message.payload).ok());
      default:
        return Require(message.type == NodeLinkMessage::kPacket);
    }
  }

  Lab& lab_;
  VirtualLoop loop_;
  LeaseTable leases_{loop_, lab_.fabric, [] { return Secret{}; }};
  // Carol wants any lease.
  std::unique_ptr<FabricCables> carols_;
  std::vector<uint32_t> wanted_;
  std::unique_ptr<LeaseTable::Party> carol_;
  UniqueFd socket_;
  std::unique_ptr<NodeLinkHost> host_;
  UniqueFd beside_;
  uint32_t opened_ = 0;  // connections of packets
  bool speaks_beside_ = false;
  std::vector<std::byte> last_, out_;
  NodeLinkSplitter heard_, heard_beside_;
};

class Scene {
 public:
  Scene(Lab::Configured configured, Keys keys)
      : lab_(Neighbours(), configured) {
    for (const auto type :
         {verbs::QpType::kRc, verbs::QpType::kUc, verbs::QpType::kUd}) {
      auto& end = known_.emplace_back(std::make_unique<VerbsEnd>(
          lab_.timers, lab_.fabric.provider(kAlice),
          VerbsEnd::Options{
              .type = type,
              .rights = VerbsEnd::kAllRights,
              .memory = std::make_shared<FakeMemory>(lab_.timers, kMemory)}));
      Connect(*end);
    }
    friends_ = std::make_unique<Friends>(lab_, keys);
    others_ = std::make_unique<Others>(lab_, keys);
    mallory_ = std::make_unique<Mallory>(lab_);
    mallory_->Enable(1, true);
    lab_.timers.RunFor(absl::Milliseconds(10));
    friends_->Talk();
    others_->Remember();
    allocated_ = __sanitizer_get_current_allocated_bytes();
  }

  void Step(FuzzInput& input) {
    if (mallory_->ended()) mallory_->Attach();
    Act(input);
    lab_.timers.RunPending();
    friends_->Talk();
    others_->Check();
    mallory_->LetCarolAnswer();
    mallory_->CheckBuffer();
    lab_.inbox.arrivals.clear();
    Require(__sanitizer_get_current_allocated_bytes() <
            allocated_ + kMaxMemory);
  }

  // Mallory is gone, and the node is what it was.
  void End() {
    mallory_->HangUp();
    lab_.fabric.SetNode(kMallory, true);
    lab_.timers.RunFor(absl::Seconds(1));
    friends_->Talk();
    const fabric::Node& node = lab_.subnet().node(kMallory);
    Require(!node.remote && node.up);
    for (const fabric::NodePort& port : lab_.subnet().PortsOf(node)) {
      Require((port.info.capability_mask & mad::capability::kIsSm) == 0);
      Require(port.info.m_key == 0 && port.GuidAt(1) == 0);
    }
    const fabric::ForwardingTotals& totals = lab_.fabric.totals();
    Require(totals.delivered + totals.dropped >= totals.sent);
  }

 private:
  static constexpr size_t kMemory = 16384;
  // A message that has not ended, in a buffer that grows by doubling.
  static constexpr size_t kMaxMemory =
      (size_t{1} << 20) + 2 * PacketTrain::kLongest;

  static constexpr uint8_t kTellsOfABadKey = 0xf0;

  void TellOfABadKey(int port, FuzzInput& input) {
    const bool q_key = input.Byte() % 2 != 0;
    const mad::BadKey bad{
        .trap = q_key ? mad::TrapNumber::kBadQKey : mad::TrapNumber::kBadPKey,
        .details = {.lid1 = wire::Lid{input.Short()},
                    .lid2 = wire::Lid{input.Short()},
                    .key = input.Short(),
                    .qp1 = input.Short(),
                    .qp2 = input.Short()},
        .packets = uint32_t{1} << input.Byte() % 32};
    mallory_->Tell(NodeLinkMessage::kBadKey, port, EncodeBadKey(bad));
  }

  void Act(FuzzInput& input) {
    switch (input.Byte() % 16) {
      case 0:
        lab_.timers.RunFor(absl::Milliseconds(1) * (input.Short() % 5000));
        break;
      case 1:
        mallory_->Send(input.Take(input.Byte()));
        break;
      case 2: {
        const auto type =
            NodeLinkMessage{static_cast<uint8_t>(input.Byte() % 16)};
        const int port = input.Byte();
        const size_t size = input.Short() % 8300;
        if (type == NodeLinkMessage::kTrain && size % 2 == 0) {
          SendTrain(input);
          break;
        }
        if (type > NodeLinkMessage::kLease && size % 2 == 0) {
          SayOfALease(type, input);
          break;
        }
        mallory_->Tell(type, port, input.Take(size));
        break;
      }
      case 3: {
        const uint8_t what = input.Byte();
        mallory_->Enable(1 + what / 2 % kMallorysPorts, what % 2 != 0);
        break;
      }
      case 4: {
        const uint8_t what = input.Byte();
        const int port = 1 + what / 2 % kMallorysPorts;
        if (what >= kTellsOfABadKey) {
          TellOfABadKey(port, input);
          break;
        }
        const std::byte flag{static_cast<uint8_t>(what % 2)};
        mallory_->Tell(NodeLinkMessage::kIsSm, port, std::span(&flag, 1));
        break;
      }
      case 5:
      case 6:
        Ask(input);
        break;
      case 7:
      case 8:
        SendMad(input);
        break;
      case 9:
      case 10:
      case 11:
        SendPacket(input);
        break;
      case 12:
        mallory_->Listen(input.Short());
        break;
      case 13:
        for (int i = input.Byte(); i >= 0; --i) mallory_->Repeat();
        break;
      case 14:
        UseVerbs(input);
        break;
      case 15:
        Disturb(input);
        break;
    }
  }

  // Of one that there may be.
  void SayOfALease(NodeLinkMessage type, FuzzInput& input) {
    const uint32_t number = input.Byte() % 8;
    if (type != NodeLinkMessage::kLeaseUsage) {
      return mallory_->Tell(type, 1, EncodeNumber(number));
    }
    std::vector<std::byte> payload;
    wire::Append(NodeLinkLeaseUsage{.number = number,
                                    .packets = input.Short(),
                                    .words = input.Short() * uint64_t{256}},
                 payload);
    mallory_->Tell(type, 1, payload);
  }

  wire::Lid SomeLid(FuzzInput& input) {
    const uint8_t which = input.Byte();
    if (which < 0xc0) return wire::Lid{static_cast<uint16_t>(which % 8)};
    if (which < 0xe0) return wire::Lid{static_cast<uint16_t>(which | 0xc000)};
    return wire::Lid{which < 0xf8 ? uint16_t{0xffff} : input.Short()};
  }

  // A MAD that somebody may take.
  mad::MadBytes SomeMad(FuzzInput& input, int qp) {
    constexpr mad::Method kMethods[] = {
        mad::Method::kGet,         mad::Method::kSet,
        mad::Method::kSend,        mad::Method::kGetTable,
        mad::Method::kTrapRepress, mad::Method::kGetResp,
        mad::Method::kTrap,        mad::Method::kDelete};
    constexpr mad::MgmtClass kClasses[] = {
        mad::MgmtClass::kPerformance,
        mad::MgmtClass::kSubnetAdministration,
        mad::MgmtClass::kCongestionControl,
        mad::MgmtClass::kMellanox,
        mad::MgmtClass::kCommunication,
        mad::MgmtClass::kVendor2First};
    mad::Smp smp;
    const uint8_t how = input.Byte();
    smp.method = kMethods[how % std::size(kMethods)];
    const bool directed = qp == 0 && (how & 0x40) != 0;
    smp.mgmt_class = qp != 0    ? kClasses[how / 8 % std::size(kClasses)]
                     : directed ? mad::MgmtClass::kSubnetDirectedRoute
                                : mad::MgmtClass::kSubnetLidRouted;
    smp.class_version = qp != 0 && (how & 0x80) != 0 ? 2 : 1;
    const uint8_t attribute = input.Byte();
    smp.attr_id = mad::AttributeId{
        (attribute & 0x80) != 0 ? input.Short() : uint16_t{attribute}};
    smp.attr_mod = input.Byte();
    smp.tid = input.Byte();
    if (directed) {
      smp.dr_slid = smp.dr_dlid = wire::Lid::kPermissive;
      smp.hop_pointer = input.Byte() % 4;
      smp.hop_count = input.Byte() % 4;
      smp.direction = (how & 0x80) != 0;
      for (size_t hop = 1; hop < 4; ++hop) {
        smp.initial_path[hop] = smp.return_path[hop] = input.Byte() % 8;
      }
    }
    // A port as it is, but for a few bytes; or any data.
    const uint8_t length = input.Byte();
    if (length >= 0xc0) {
      wire::Encode(lab_.PortOf(kMallory, 1 + length % 2).info, smp.data);
      for (int i = length / 2 % 4; i >= 0; --i) {
        const size_t at = input.Byte() % smp.data.size();
        smp.data[at] = std::byte{input.Byte()};
      }
    }
    mad::MadBytes mad{};
    wire::Encode(smp, mad);
    if (length < 0xc0) {
      const size_t start = qp == 0 ? mad::kSmpDataOffset : size_t{24};
      std::ranges::copy(input.Take(length), mad.begin() + start);
    }
    return mad;
  }

  void Ask(FuzzInput& input) {
    const uint8_t how = input.Byte();
    mad::Arrival request{.qp = how & 1,
                         .slid = SomeLid(input),
                         .pkey_index = how,
                         .source_qpn = how};
    if ((how & 4) != 0) request.grh = mad::GlobalRoute{.gid_index = how};
    request.mad = SomeMad(input, request.qp);
    mallory_->Tell(NodeLinkMessage::kRequest, 1 + (how >> 1 & 1),
                   EncodeRequest(request));
  }

  void Send(int port, const fabric::Packet& packet) {
    const std::vector<std::byte> bytes = fabric::BytesOf(packet, 0);
    mallory_->Tell(NodeLinkMessage::kPacket, port,
                   std::span(bytes).first(bytes.size() - 2));  // without VCRC
  }
  // As whoever it likes.
  fabric::Packet SomePacket(FuzzInput& input) {
    const uint8_t how = input.Byte();
    fabric::Packet packet;
    packet.dlid = SomeLid(input);
    packet.slid = wire::Lid{(how & 1) != 0 ? static_cast<uint16_t>(how / 64)
                                           : mallorys_lid_};
    packet.sl = how / 4 & 3;
    if ((how & 2) != 0) {
      packet.grh = fabric::RouteHeader{
          .sgid = {wire::kDefaultGidPrefix, 0x31},
          .dgid = {(how & 32) != 0 ? uint64_t{0xff12} << 48
                                   : wire::kDefaultGidPrefix,
                   input.Byte()}};
    }
    if ((how & 16) != 0) packet.p_key = input.Short();
    return packet;
  }
  void SendMad(FuzzInput& input) {
    fabric::Packet packet = SomePacket(input);
    const uint8_t qp = input.Byte() % 2;
    packet.vl15 = qp == 0;
    packet.source_qpn = packet.destination_qpn = qp;
    packet.q_key = qp == 0 ? 0 : mad::kQp1QKey;
    packet.mad = SomeMad(input, qp);
    Send(1 + packet.sl % kMallorysPorts, packet);
  }
  void SendPacket(FuzzInput& input) {
    fabric::Packet packet = SomePacket(input);
    fabric::Transport transport;
    const uint8_t what = input.Byte(), how = input.Byte();
    constexpr verbs::QpType kServices[] = {
        verbs::QpType::kRc, verbs::QpType::kUc, verbs::QpType::kUd};
    const size_t which = what % std::size(kServices);
    const bool friends = what >= 0xe0;
    transport.service = kServices[which];
    transport.operation =
        transport.service == verbs::QpType::kUd
            ? fabric::Transport::Operation::kSend
            : fabric::Transport::Operation{static_cast<uint8_t>(what / 4 % 8)};
    transport.first = (how & 1) == 0;
    transport.last = (how & 2) == 0;
    transport.has_immediate = (how & 4) != 0 && transport.last;
    transport.solicited = (how & 8) != 0;
    transport.ack_request = (how & 16) != 0;
    transport.syndrome =
        fabric::Transport::Syndrome{static_cast<uint8_t>(how / 32 % 6)};
    transport.psn = input.Byte();
    if (transport.psn == 0xff) transport.psn = input.Short() << 8;
    transport.address = FakeMemory::kStart + input.Short() % (2 * kMemory);
    transport.key =
        friends ? friends_->alices_key() : known_[which]->mr->rkey();
    transport.key ^= input.Byte() / 0xf0;
    transport.length = input.Short();
    if (transport.length >= 0xff00) transport.length <<= 16;
    const mad::Bytes payload = input.Take(input.Byte() * size_t{8});
    transport.size = payload.size();
    transport.message = std::make_shared<std::vector<std::byte>>(
        payload.begin(), payload.end());
    packet.destination_qpn =
        friends ? friends_->alices_qpn() : known_[which]->qp->number();
    if (wire::IsMulticast(packet.dlid)) packet.destination_qpn = 0xffffff;
    packet.source_qpn = kMallorysQpn;
    packet.q_key = VerbsEnd::kQKey;
    packet.transport = std::make_shared<const fabric::Transport>(transport);
    Send(1 + packet.sl % kMallorysPorts, packet);
  }

  // Several packets of one message to a queue pair that is for Mallory, as they
  // are, or with a byte changed.
  void SendTrain(FuzzInput& input) {
    fabric::Packet packets = SomePacket(input);
    const uint8_t how = input.Byte();
    const size_t which = how % 2;  // RC or UC
    fabric::Transport transport;
    transport.service = which == 0 ? verbs::QpType::kRc : verbs::QpType::kUc;
    transport.operation = (how & 2) != 0 ? fabric::Transport::Operation::kWrite
                                         : fabric::Transport::Operation::kSend;
    transport.first = (how & 4) == 0;
    transport.last = (how & 8) == 0;
    transport.psn = input.Byte();
    transport.address = FakeMemory::kStart + input.Short() % (2 * kMemory);
    transport.key = known_[which]->mr->rkey();
    transport.packets = 2 + how / 16;
    transport.payload = 1 + input.Byte();
    transport.size = (transport.packets - 1) * size_t{transport.payload} + 1 +
                     input.Byte() % transport.payload;
    transport.length = static_cast<uint32_t>(transport.size);
    transport.message = std::make_shared<std::vector<std::byte>>(
        transport.size, std::byte{how});
    packets.destination_qpn = known_[which]->qp->number();
    packets.source_qpn = kMallorysQpn;
    packets.transport = std::make_shared<const fabric::Transport>(transport);
    std::vector<std::byte> bytes = EncodeTrain(packets);
    const uint16_t at = input.Short();
    if (at % 2 == 0) bytes[at / 2 % bytes.size()] ^= std::byte{input.Byte()};
    mallory_->Tell(NodeLinkMessage::kTrain, 1 + packets.sl % kMallorysPorts,
                   bytes);
  }

  // Alice has queue pairs that are for Mallory.
  void Connect(VerbsEnd& end) {
    verbs::QpAttributes to = VerbsEnd::Towards(kMallorysQpn, mallorys_lid_);
    to.rq_psn = to.sq_psn = 0;
    end.TryModify({}, verbs::QpState::kReset).IgnoreError();
    end.Connect(to);
    Require(end.State() == verbs::QpState::kReadyToSend);
  }
  void UseVerbs(FuzzInput& input) {
    VerbsEnd& end = *known_[input.Byte() % known_.size()];
    switch (input.Byte() % 6) {
      case 0:
        for (int i = input.Byte() % 8; i >= 0; --i) {
          end.Receive(input.Short() % kMemory, input.Short() % kMemory)
              .IgnoreError();
        }
        break;
      case 1:
        end.Rdma(input.Byte() % 7, input.Short() % kMemory, input.Short(), end,
                 input.Short())
            .IgnoreError();
        break;
      case 2:
        Connect(end);
        break;
      case 3:
        end.Poll();
        break;
      case 4: {
        verbs::GidBytes gid{};
        gid[0] = 0xff;
        gid[1] = 0x12;
        gid[15] = input.Byte() % 8;
        end.qp->AttachMulticast(gid, 0xc0c0).IgnoreError();
        break;
      }
      case 5: {
        mad::Outgoing packet;
        packet.qp = input.Byte() % 2;
        packet.to.qpn = static_cast<uint32_t>(packet.qp);
        packet.to.dlid = wire::Lid{mallorys_lid_};
        packet.mad = SomeMad(input, packet.qp);
        lab_.fabric.device(kAlice).port(1).Transmit(packet).IgnoreError();
        break;
      }
    }
  }

  void Disturb(FuzzInput& input) {
    const uint8_t what = input.Byte();
    switch (what % 4) {
      case 0:  // its link flaps
        for (int i = input.Byte(); i >= 0; --i) {
          lab_.SetLink(kMallory, 1 + what / 4 % kMallorysPorts, i % 2 == 0);
          lab_.timers.RunPending();
        }
        break;
      case 1:
        lab_.fabric.SetNode(kMallory, what / 4 % 2 != 0);
        break;
      case 3:
        if (what >= 0x80) return UseConnection(what / 4 % 8);
        [[fallthrough]];
      default:
        mallory_->HangUp();
        mallory_->Attach();
        mallory_->Enable(1 + what / 4 % kMallorysPorts, true);
    }
  }

  void UseConnection(int how) {
    switch (how) {
      case 0:
      case 1:
        return mallory_->OpenConnection();
      case 2:
      case 3:
        return mallory_->TellMoved(1 + how % 2);
      case 4:
        return mallory_->CloseConnection();
      default:
        return mallory_->SpeakBeside(how != 5);
    }
  }

  Lab lab_;
  // As subnet management gave it; its agents take any other.
  const uint16_t mallorys_lid_ =
      static_cast<uint16_t>(lab_.PortOf(kMallory, 1).info.lid);
  std::vector<std::unique_ptr<VerbsEnd>> known_;
  std::unique_ptr<Friends> friends_;
  std::unique_ptr<Others> others_;
  std::unique_ptr<Mallory> mallory_;
  size_t allocated_ = 0;
};

}  // namespace
}  // namespace ibemu::daemon

extern "C" int LLVMFuzzerInitialize(int* /*argc*/, char*** /*argv*/) {
  spdlog::set_level(spdlog::level::off);
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using ibemu::testing::Lab;
  ibemu::testing::FuzzInput input(data, size);
  const bool managed = input.Byte() % 2 != 0;
  ibemu::daemon::Scene scene(managed ? Lab::kByItsManager : Lab::kStatically,
                             ibemu::daemon::Keys(data, size));
  while (!input.empty()) scene.Step(input);
  scene.End();
  return 0;
}

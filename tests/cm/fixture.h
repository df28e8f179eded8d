// Two hosts with connection managers, and the link between them.
#ifndef IBEMU_TESTS_CM_FIXTURE_H_
#define IBEMU_TESTS_CM_FIXTURE_H_

#include <functional>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "cm/cm_mad.h"
#include "cm/connection_manager.h"
#include "cm/wire/connection_messages.h"
#include "cm/wire/req.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "mad/host.h"
#include "testing/fake_device.h"
#include "testing/virtual_timers.h"

namespace ibemu::cm {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

inline constexpr uint64_t kService = 0x0000000001061234;
inline constexpr uint8_t kAckDelay = 15;
inline constexpr uint8_t kLifeTime = 18;
inline constexpr absl::Duration kFlightTime = absl::Microseconds(10);

// A CmDevice is an adapter with a GUID of its own.
class CmDevice : public testing::FakeDevice {
 public:
  explicit CmDevice(int number) : guid_(wire::Guid{0x1000u + number}) {
    port(1).info.lid = wire::Lid(number);
    port(1).gids = {{wire::kDefaultGidPrefix, 0x2000u + number}};
  }
  wire::Guid node_guid() const override { return guid_; }

 private:
  wire::Guid guid_;
};

// A User records what it is told, and keeps the ids that requests make.
class User : public CmIdOwner, public CmListener {
 public:
  void OnCmEvent(CmId& id, const CmEvent& event) override {
    events.push_back(event);
    if (on_event) on_event(id, event);
  }
  void OnRequest(std::unique_ptr<CmId> id, const Arrived& arrived) override {
    requests.push_back(arrived);
    id->SetOwner(*this);
    if (on_request) {
      on_request(std::move(id), arrived);
    } else {
      ids.push_back(std::move(id));
    }
  }

  // Returns the kinds of the events since the last call.
  std::vector<CmEvent::Kind> TakeKinds() {
    std::vector<CmEvent::Kind> kinds;
    for (const CmEvent& event : std::exchange(events, {})) {
      kinds.push_back(event.kind);
    }
    return kinds;
  }

  std::vector<CmEvent> events;
  std::vector<Arrived> requests;
  std::vector<std::unique_ptr<CmId>> ids;
  std::function<void(CmId&, const CmEvent&)> on_event;
  std::function<void(std::unique_ptr<CmId>, const Arrived&)> on_request;
};

// A Node is one host with its connection manager and a user of it.
struct Node {
  Node(Timers& timers, int number)
      : device(number),
        host(std::make_shared<mad::Host>(timers, device)),
        manager(std::make_unique<ConnectionManager>(
            timers, host, Random(static_cast<uint64_t>(number)), kAckDelay)) {}

  testing::FakePort& port() { return device.port(1); }

  CmDevice device;
  std::shared_ptr<mad::Host> host;
  std::unique_ptr<ConnectionManager> manager;
  User user;
};

// Two nodes.  What one sends arrives at the node with that LID a moment later,
// unless `lose` says true.
class CmTest : public ::testing::Test {
 protected:
  CmTest() {
    for (Node* node : {&client_, &server_}) {
      node->port().on_transmit = [this, node](const mad::Outgoing& packet) {
        Carry(*node, packet);
      };
    }
  }
  ~CmTest() override {
    client_.user.ids.clear();
    server_.user.ids.clear();
  }

  void Carry(Node& from, const mad::Outgoing& packet) {
    const Message which = *MessageOf(packet.mad);
    sent_.push_back(which);
    if (lose_ && lose_(from, which)) return;
    Node& to = packet.to.dlid == client_.port().info.lid ? client_ : server_;
    mad::Arrival arrival{.qp = 1,
                         .slid = from.port().info.lid,
                         .sl = packet.to.sl,
                         .source_qpn = 1,
                         .mad = packet.mad};
    timers_.RunAfter(kFlightTime,
                     [&to, arrival] { to.port().Receive(arrival); });
  }

  // The path from the client to the server.
  static mad::PathRecord Path() {
    return {.dgid = {wire::kDefaultGidPrefix, 0x2002},
            .sgid = {wire::kDefaultGidPrefix, 0x2001},
            .dlid = wire::Lid{2},
            .slid = wire::Lid{1},
            .p_key = 0xffff,
            .sl = 3,
            .mtu = 4,
            .rate = 7,
            .packet_life_time = kLifeTime};
  }
  static CmRequest Ask(uint32_t qpn = 0x111) {
    return {.path = Path(),
            .service_id = kService,
            .qpn = qpn,
            .starting_psn = 0xaaaaaa,
            .responder_resources = 4,
            .initiator_depth = 8,
            .flow_control = true,
            .retry_count = 7,
            .rnr_retry_count = 6,
            .private_data = {std::byte{1}, std::byte{2}}};
  }
  static CmReply Answer(uint32_t qpn = 0x222) {
    return {.qpn = qpn,
            .starting_psn = 0xbbbbbb,
            .responder_resources = 2,
            .initiator_depth = 3,
            .flow_control = true,
            .rnr_retry_count = 5,
            .private_data = {std::byte{3}}};
  }

  void Listen(uint64_t service_id = kService) {
    auto listening = server_.manager->Listen(service_id, server_.user);
    ASSERT_TRUE(listening.ok()) << listening.status();
    listening_ = *std::move(listening);
  }

  // Lets `message` arrive at `node`, as if from LID 9.
  template <class M>
  static void Deliver(Node& node, const M& message, uint64_t tid = 0x5555) {
    node.port().Receive({.qp = 1,
                         .slid = wire::Lid{9},
                         .source_qpn = 1,
                         .mad = MakeMad(message, tid)});
  }

  // Returns the last message that `node` sent, which must be an M.
  template <class M>
  static M LastOf(Node& node) {
    const mad::MadBytes& mad = node.port().sent.back().mad;
    EXPECT_EQ(MessageOf(mad), M::kMessage);
    return BodyOf<M>(mad);
  }

  // Lets what is under way arrive.
  void Settle() { timers_.RunFor(absl::Milliseconds(1)); }

  // Returns what was sent since the last call.
  std::vector<Message> TakeSent() { return std::exchange(sent_, {}); }

  // Goes up to the request at the server's.
  void SendRequest() {
    Listen();
    id_ = client_.manager->Create(client_.user);
    ASSERT_TRUE(id_->SendReq(Ask()).ok());
    Settle();
    ASSERT_THAT(server_.user.ids, SizeIs(1));
  }
  CmId& peer() { return *server_.user.ids.at(0); }

  void Connect() {
    SendRequest();
    ASSERT_TRUE(peer().SendRep(Answer()).ok());
    Settle();
    ASSERT_TRUE(id_->SendRtu({}).ok());
    Settle();
    ASSERT_THAT(client_.user.TakeKinds(), ElementsAre(CmEvent::Kind::kRep));
    ASSERT_THAT(server_.user.TakeKinds(), ElementsAre(CmEvent::Kind::kRtu));
    TakeSent();
  }

  testing::VirtualTimers timers_;
  Node client_{timers_, 1};
  Node server_{timers_, 2};
  std::function<bool(const Node& from, Message)> lose_;
  std::vector<Message> sent_;
  std::unique_ptr<Listening> listening_;
  std::unique_ptr<CmId> id_;  // the client's
};

}  // namespace ibemu::cm

#endif  // IBEMU_TESTS_CM_FIXTURE_H_

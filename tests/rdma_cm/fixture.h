// Programs of two hosts that use rdma_cm.
#ifndef IBEMU_TESTS_RDMA_CM_FIXTURE_H_
#define IBEMU_TESTS_RDMA_CM_FIXTURE_H_

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "rdma_cm/channel.h"
#include "testing/rdma_cm_lab.h"

namespace ibemu::rdma_cm {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

inline constexpr uint16_t kPort = 7174;
inline constexpr absl::Duration kTimeout = absl::Seconds(2);

inline SocketAddress Any(uint16_t port = kPort) {
  SocketAddress any = SocketAddress::Wildcard(Family::kIpv4);
  any.SetPort(port);
  return any;
}

// A Program is one open of rdma_cm in a view of one host.
class Program {
 public:
  Program(testing::RdmaCmLab& lab, int host)
      : adapters_(std::make_shared<testing::LabAdapters>()) {
    adapters_->Add(lab.host(host));
    view_ = std::make_shared<RdmaCmView>(lab.timers(), adapters_, Random(7));
    channel_ = Open();
  }

  std::unique_ptr<Channel> Open() {
    return std::make_unique<Channel>(view_, [this] { ++told; });
  }

  Channel& channel() { return *channel_; }
  void Close() { channel_.reset(); }
  testing::LabAdapters& adapters() { return *adapters_; }

  // The uid is the number and 100.
  uint32_t Create(PortSpace space = PortSpace::kTcp, uint8_t qp_type = 0) {
    const uint32_t number = view_->ids().next();
    const auto id = channel_->Create(number + 100, space, qp_type);
    EXPECT_EQ(id.refusal(), Refusal::kNone);
    return id.ok() ? *id : 0;
  }
  UserId& user_id(uint32_t number) { return **channel_->Find(number); }
  Id& id(uint32_t number) { return *user_id(number).id(); }

  // Returns the events since the last call.
  std::vector<QueuedEvent> Fetch() {
    std::vector<QueuedEvent> events;
    while (channel_->has_event()) events.push_back(channel_->Fetch());
    return events;
  }
  std::vector<EventType> FetchTypes() {
    std::vector<EventType> types;
    for (const QueuedEvent& event : Fetch()) types.push_back(event.event.type);
    return types;
  }
  // Returns the only event since the last call.
  QueuedEvent FetchOne() {
    std::vector<QueuedEvent> events = Fetch();
    EXPECT_EQ(events.size(), 1u);
    return events.empty() ? QueuedEvent{} : std::move(events.front());
  }

  int told = 0;

 private:
  std::shared_ptr<testing::LabAdapters> adapters_;
  std::shared_ptr<RdmaCmView> view_;
  std::unique_ptr<Channel> channel_;
};

// Host 1 has the server, host 2 the client.
class RdmaCmTest : public ::testing::Test {
 protected:
  SocketAddress ServerAddress(uint16_t port = kPort) {
    return SocketAddress::Ip(lab_.host(1)->address(), port);
  }

  // The second request of one queue pair would be taken for a stale one.
  ConnectionParameters Parameters(size_t private_bytes = 0) {
    return {.qp_num = ++qp_num_,
            .private_data = std::vector(private_bytes, std::byte{0x5a}),
            .responder_resources = 3,
            .initiator_depth = 5,
            .retry_count = 7,
            .rnr_retry_count = 6};
  }

  uint32_t Listen(int backlog = 0, const SocketAddress& address = Any(),
                  PortSpace space = PortSpace::kTcp) {
    const uint32_t listener = server_.Create(space);
    EXPECT_EQ(server_.id(listener).Bind(address, false), Refusal::kNone);
    EXPECT_EQ(server_.channel().Listen(server_.user_id(listener), backlog),
              Refusal::kNone);
    return listener;
  }

  // Makes an id of the client's that has a path to `to`.
  uint32_t Route(const SocketAddress& to, PortSpace space = PortSpace::kTcp,
                 uint8_t qp_type = 0) {
    const uint32_t id = client_.Create(space, qp_type);
    EXPECT_EQ(client_.id(id).ResolveAddress({}, to, kTimeout, false),
              Refusal::kNone);
    lab_.Settle();
    EXPECT_EQ(client_.id(id).ResolveRoute(kTimeout), Refusal::kNone);
    lab_.Settle();
    EXPECT_THAT(client_.FetchTypes(), ElementsAre(EventType::kAddressResolved,
                                                  EventType::kRouteResolved));
    return id;
  }

  Refusal Connect(uint32_t id, size_t private_bytes = 0) {
    const Refusal refusal =
        client_.id(id).Connect(Parameters(private_bytes), {});
    lab_.Settle();
    return refusal;
  }

  // Connects an id of the client's; returns both numbers.
  std::pair<uint32_t, uint32_t> Establish() {
    Listen();
    const uint32_t active = Route(ServerAddress());
    EXPECT_EQ(Connect(active), Refusal::kNone);
    const uint32_t passive = server_.FetchOne().told_id;
    EXPECT_EQ(server_.channel().Accept(server_.user_id(passive), 500,
                                       Parameters(), {}),
              Refusal::kNone);
    lab_.Settle();
    EXPECT_THAT(client_.FetchTypes(), ElementsAre(EventType::kConnectResponse));
    EXPECT_EQ(client_.id(active).Establish(), Refusal::kNone);
    lab_.Settle();
    EXPECT_THAT(server_.FetchTypes(), ElementsAre(EventType::kEstablished));
    return {active, passive};
  }

  testing::RdmaCmLab lab_;
  Program server_{lab_, 1};
  Program client_{lab_, 2};
  uint32_t qp_num_ = 0x100;  // the last one
};

}  // namespace ibemu::rdma_cm

#endif  // IBEMU_TESTS_RDMA_CM_FIXTURE_H_

// Two hosts of a daemon with a program each that uses rdma_cm.
#ifndef IBEMU_TESTS_DAEMON_CONNECTIONS_TWO_PROGRAMS_H_
#define IBEMU_TESTS_DAEMON_CONNECTIONS_TWO_PROGRAMS_H_

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>

#include "daemon/adapters/fabric_adapters.h"
#include "daemon/connections/connection_table.h"
#include "daemon/connections/view_adapters.h"
#include "rdma_cm/channel.h"
#include "rdma_cm/rdma_cm_view.h"
#include "testing/lab.h"

namespace ibemu::daemon {

// A HostProgram is one open of rdma_cm on one host.
class HostProgram {
 public:
  HostProgram(testing::Lab& lab, ConnectionTable& table, AdapterId adapter,
              int process)
      : lab_(lab) {
    auto adapters = std::make_shared<ViewAdapters>(table);
    adapters->Add(0, adapter);
    view_ = std::make_shared<rdma_cm::RdmaCmView>(lab.timers, adapters,
                                                  table.NextRandom());
    channel_ = std::make_unique<rdma_cm::Channel>(view_, [] {});
    channel_->SetProcess(process);
    adapters->adapters();  // as open() does
  }

  void Close() { channel_.reset(); }
  rdma_cm::Channel& channel() { return *channel_; }
  rdma_cm::UserId& user_id(uint32_t id) { return **channel_->Find(id); }
  rdma_cm::Id& id(uint32_t id) { return *user_id(id).id(); }

  uint32_t Create(rdma_cm::PortSpace space) {
    return *channel_->Create(++last_uid_, space, 0);
  }

  uint32_t Listen(uint16_t port,
                  rdma_cm::PortSpace space = rdma_cm::PortSpace::kTcp) {
    const uint32_t listener = Create(space);
    auto any = rdma_cm::SocketAddress::Wildcard(rdma_cm::Family::kIpv4);
    any.SetPort(port);
    EXPECT_EQ(id(listener).Bind(any, false), rdma_cm::Refusal::kNone);
    EXPECT_EQ(channel_->Listen(user_id(listener), 0), rdma_cm::Refusal::kNone);
    return listener;
  }

  // Makes an id that has asked for a path to `to`.
  uint32_t Route(const rdma_cm::SocketAddress& to,
                 rdma_cm::PortSpace space = rdma_cm::PortSpace::kTcp) {
    const uint32_t made = Create(space);
    EXPECT_EQ(id(made).ResolveAddress({}, to, absl::Seconds(2), false),
              rdma_cm::Refusal::kNone);
    Settle();
    EXPECT_EQ(id(made).ResolveRoute(absl::Seconds(2)), rdma_cm::Refusal::kNone);
    Settle();
    return made;
  }

  // Connects an id that has a path; what comes of it is to be seen afterwards.
  void ConnectRouted(uint32_t routed) {
    EXPECT_EQ(id(routed).Connect({.qp_num = ++last_qpn_, .retry_count = 7}, {}),
              rdma_cm::Refusal::kNone);
    Settle();
  }

  uint32_t Connect(const rdma_cm::SocketAddress& to,
                   rdma_cm::PortSpace space = rdma_cm::PortSpace::kTcp) {
    const uint32_t made = Route(to, space);
    ConnectRouted(made);
    return made;
  }

  // Takes the request that came last, and says yes.
  uint32_t Accept() {
    uint32_t made = 0;
    while (channel_->has_event()) made = channel_->Fetch().told_id;
    EXPECT_EQ(channel_->Accept(user_id(made), ++last_uid_,
                               {.qp_num = ++last_qpn_}, {}),
              rdma_cm::Refusal::kNone);
    Settle();
    return made;
  }

  void Settle() { lab_.timers.RunFor(absl::Milliseconds(10)); }

 private:
  testing::Lab& lab_;
  std::shared_ptr<rdma_cm::RdmaCmView> view_;
  std::unique_ptr<rdma_cm::Channel> channel_;
  uint64_t last_uid_ = 100;
  uint32_t last_qpn_ = 0x20;
};

// node-1, with the server, and node-2, with the client, have the addresses of
// the usual plan, and node-3 nobody uses.
class TwoProgramsTest : public ::testing::Test {
 protected:
  static constexpr uint16_t kPort = 7174;

  TwoProgramsTest() { lab_.timers.RunFor(absl::Seconds(1)); }

  static rdma_cm::SocketAddress Address(int host, uint16_t port = kPort) {
    return rdma_cm::SocketAddress::Ip(
        wire::IpAddress::Ipv4(0xc6120000u + static_cast<uint32_t>(host)), port);
  }

  AdapterId AdapterOf(const char* name) { return *adapters_.Find(name); }

  // Connects and accepts; returns the client's id and the server's.
  std::pair<uint32_t, uint32_t> Establish() {
    server_.Listen(kPort);
    const uint32_t active = client_.Connect(Address(1));
    const uint32_t passive = server_.Accept();
    EXPECT_EQ(client_.id(active).Establish(), rdma_cm::Refusal::kNone);
    client_.Settle();
    return {active, passive};
  }

  testing::Lab lab_{"single-switch:hosts=3", testing::Lab::kByItsManager};
  FabricAdapters adapters_{lab_.fabric};
  HostTable hosts_{lab_.timers, adapters_};
  const AddressPlan plan_ = AddressPlan::Numbered(
      AddressPlan::kUsual,
      {AdapterOf("node-1"), AdapterOf("node-2"), AdapterOf("node-3")});
  ConnectionTable connections_{lab_.timers, hosts_, plan_, /*seed=*/1};
  // Members of derived tests come later: what they watch begins with these.
  HostProgram server_{lab_, connections_, AdapterOf("node-1"), 4711};
  HostProgram client_{lab_, connections_, AdapterOf("node-2"), 4712};
};

}  // namespace ibemu::daemon

#endif  // IBEMU_TESTS_DAEMON_CONNECTIONS_TWO_PROGRAMS_H_

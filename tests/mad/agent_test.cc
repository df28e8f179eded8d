// What an agent may send, and where that goes.
#include "mad/agent.h"

#include "mad/wire/smp.h"
#include "tests/mad/fixture.h"

namespace ibemu::mad {
namespace {

using absl::StatusCode;

class AgentTest : public HostTest {
 protected:
  // Sends the first `bytes` of a MAD of this class.
  absl::StatusCode SendBytes(Agent& agent, MgmtClass mgmt_class, size_t bytes) {
    MadHeader header = kPerfGet;
    header.mgmt_class = mgmt_class;
    header.tid = ++tid_;
    OutgoingMessage message = MessageTo(kPeer, MakeMad(header, 0x11));
    message.mad.resize(bytes);
    return agent.Send(message).code();
  }

  uint64_t tid_ = 0;
};

// [write_lengths*]
TEST_F(AgentTest, AShortMadIsPaddedWithZeros) {
  auto agent = RegisterSender();
  ASSERT_EQ(SendBytes(*agent, MgmtClass::kPerformance, 100), StatusCode::kOk);
  ASSERT_THAT(port_.sent, SizeIs(1));
  EXPECT_EQ(port_.sent[0].mad[99], std::byte{0x11});
  EXPECT_EQ(port_.sent[0].mad[100], std::byte{0});
  EXPECT_EQ(port_.sent[0].mad[255], std::byte{0});
}

// [write_lengths*]
TEST_F(AgentTest, AMadHoldsAtLeastTheHeadersOfItsClass) {
  auto agent = RegisterSender();
  const std::pair<MgmtClass, size_t> least[] = {
      {MgmtClass::kPerformance, 36}, {MgmtClass::kVendorFirst, 36},
      {MgmtClass::kOpenIbPing, 40},  {MgmtClass::kSubnetAdministration, 56},
      {MgmtClass::kDevice, 64},      {MgmtClass::kDeviceAdministration, 64},
      {MgmtClass::kBis, 64}};
  for (const auto& [mgmt_class, bytes] : least) {
    EXPECT_EQ(SendBytes(*agent, mgmt_class, bytes), StatusCode::kOk);
    EXPECT_EQ(SendBytes(*agent, mgmt_class, bytes - 1),
              StatusCode::kInvalidArgument);
  }
  EXPECT_EQ(SendBytes(*agent, MgmtClass::kPerformance, 0),
            StatusCode::kInvalidArgument);
}

// [write_lengths*]
TEST_F(AgentTest, AMadWithoutRmppHoldsAtMost256Bytes) {
  auto agent = RegisterSender();
  EXPECT_EQ(SendBytes(*agent, MgmtClass::kSubnetAdministration, 256),
            StatusCode::kOk);
  EXPECT_EQ(SendBytes(*agent, MgmtClass::kSubnetAdministration, 257),
            StatusCode::kInvalidArgument);
}

// [class_unregistered_send]
TEST_F(AgentTest, AnAgentSendsAnyClass) {
  auto agent = Register({.mgmt_class = 4, .mgmt_class_version = 1});
  EXPECT_EQ(SendBytes(*agent, MgmtClass::kDevice, 256), StatusCode::kOk);
  EXPECT_EQ(SendBytes(*agent, MgmtClass(0xff), 256), StatusCode::kOk);
}

// [rmpp_agent_nonrmpp_class]
TEST_F(AgentTest, AnRmppAgentSendsOnlyRmppClasses) {
  for (const bool user_rmpp : {false, true}) {
    auto agent = Register({.mgmt_class = 3,
                           .mgmt_class_version = 2,
                           .rmpp_version = 1,
                           .user_rmpp = user_rmpp});
    EXPECT_EQ(SendBytes(*agent, MgmtClass::kPerformance, 256),
              StatusCode::kInvalidArgument);
    EXPECT_EQ(SendBytes(*agent, MgmtClass::kDevice, 256), StatusCode::kOk);
  }
  auto sender = Register({.rmpp_version = 1});
  EXPECT_EQ(SendBytes(*sender, MgmtClass::kPerformance, 256),
            StatusCode::kInvalidArgument);
}

// [qkey_ignored] [dest_qpn]
TEST_F(AgentTest, TheQKeyIsTheOneOfTheQp) {
  auto gsi = RegisterSender();
  OutgoingMessage message = MessageTo(kPeer, MakeMad(kPerfGet));
  message.to.qkey = 77;
  message.to.qpn = 5;
  ASSERT_TRUE(gsi->Send(message).ok());
  auto smi = Register({.qp = 0});
  ASSERT_TRUE(smi->Send(message).ok());
  EXPECT_EQ(port_.sent[0].to.qkey, kQp1QKey);
  EXPECT_EQ(port_.sent[0].to.qpn, 5u);
  EXPECT_EQ(port_.sent[0].qp, 1);
  EXPECT_EQ(port_.sent[1].to.qkey, 0u);
  EXPECT_EQ(port_.sent[1].qp, 0);
}

// The communication manager's: it puts the peer's TID into its answers.
TEST_F(AgentTest, ARegistrationMayKeepTheTidsOfWhatItSends) {
  auto agent = Register(
      {.mgmt_class = 7, .mgmt_class_version = 2, .tid_as_given = true});
  MadHeader header = kPerfGet;
  header.mgmt_class = MgmtClass::kCommunication;
  header.method = Method::kSend;
  header.tid = 0x7777000000001234;
  for (int i = 0; i < 2; ++i) {  // nothing is outstanding, so no duplicate
    ASSERT_TRUE(agent->Send(MessageTo(kPeer, MakeMad(header))).ok());
  }
  EXPECT_THAT(port_.sent, SizeIs(2));
  EXPECT_EQ(HeaderOf(port_.sent[1].mad).tid, header.tid);
}

// [ah_errors]
TEST_F(AgentTest, ACancelledRequestIsNeitherRepeatedNorAnswered) {
  const auto agent = RegisterSender();
  const auto message =
      MessageTo(kPeer, MakeMad(kPerfGet), absl::Hours(1), /*retries=*/3);
  ASSERT_TRUE(agent->Send(message).ok());
  agent->Cancel(0x4321);  // of nothing
  EXPECT_FALSE(timers_.idle());
  agent->Cancel(0x1234);
  EXPECT_TRUE(timers_.idle());
  port_.Receive(From(kPeer, AnswerToLast()));
  EXPECT_THAT(client_.inbox, IsEmpty());
  EXPECT_THAT(client_.done, IsEmpty());
  EXPECT_TRUE(agent->Send(message).ok()) << "its TID is free";
}

TEST_F(AgentTest, AGidIndexMustBeInTheTable) {
  auto agent = RegisterSender();
  OutgoingMessage message = MessageTo(kPeer, MakeMad(kPerfGet));
  message.to.grh = GlobalRoute{.gid_index = 1};
  EXPECT_EQ(agent->Send(message).code(), StatusCode::kInvalidArgument);
  message.to.grh->gid_index = 0;
  EXPECT_TRUE(agent->Send(message).ok());
}

// [removal]
TEST_F(AgentTest, ARemovedDeviceSendsNothingAndForgetsEverything) {
  auto agent = RegisterSender();
  ASSERT_TRUE(
      agent->Send(MessageTo(kPeer, MakeMad(kPerfGet), absl::Seconds(1))).ok());
  ASSERT_TRUE(
      agent->Send(MessageTo(kPeer, MakeMad({.method = Method::kSend}))).ok());
  device_.Remove();
  EXPECT_EQ(SendBytes(*agent, MgmtClass::kPerformance, 256),
            StatusCode::kUnavailable);
  timers_.RunFor(absl::Hours(1));
  EXPECT_THAT(client_.done, IsEmpty());
  EXPECT_THAT(client_.timed_out, IsEmpty());
}

// --- Directed routes that end where they begin.

class LocalRouteTest : public AgentTest {
 protected:
  static MadBytes LocalGet(AttributeId attribute, uint8_t hop_count = 0) {
    Smp smp{.mgmt_class = MgmtClass::kSubnetDirectedRoute,
            .method = Method::kGet,
            .hop_count = hop_count,
            .tid = 0x42,
            .attr_id = attribute,
            .dr_slid = wire::Lid::kPermissive,
            .dr_dlid = wire::Lid::kPermissive};
    smp.initial_path[1] = 1;
    MadBytes mad;
    wire::Encode(smp, mad);
    return mad;
  }

  // The port's SMA answers everything but SMInfo.
  void RunSma() {
    port_.local = [](const Arrival& request, MadBytes& reply) {
      if (HeaderOf(request.mad).attr_id == AttributeId::kSmInfo) {
        return LocalVerdict::kUnhandled;
      }
      reply = request.mad;
      wire::Put<&Smp::method>(reply, Method::kGetResp);
      wire::Put<&Smp::direction>(reply, true);
      return LocalVerdict::kReply;
    };
  }

  absl::Status Send(const MadBytes& mad,
                    absl::Duration timeout = absl::Seconds(1)) {
    return agent_->Send(MessageTo(wire::Lid::kPermissive, mad, timeout, 0, 8));
  }

  std::unique_ptr<Agent> agent_ = Register({.qp = 0});
};

// [q0_dr_local]
TEST_F(LocalRouteTest, TheSmaAnswersWithoutTheWire) {
  RunSma();
  ASSERT_TRUE(Send(LocalGet(AttributeId::kNodeInfo)).ok());
  EXPECT_THAT(client_.inbox, IsEmpty());  // not before Send() returns
  timers_.RunPending();

  EXPECT_THAT(port_.sent, IsEmpty());
  ASSERT_THAT(client_.inbox, SizeIs(1));
  const IncomingMessage& got = client_.inbox[0];
  EXPECT_EQ(got.slid, wire::Lid::kPermissive);
  EXPECT_EQ(got.source_qpn, 0u);
  EXPECT_EQ(got.sl, 0);
  const Smp reply = wire::Decode<Smp>(got.mad);
  EXPECT_EQ(reply.hop_pointer, 1);
  EXPECT_TRUE(reply.direction);
  EXPECT_EQ(reply.tid, uint64_t{agent_->hi_tid()} << 32 | 0x42);
  EXPECT_THAT(client_.done, ElementsAre(8));
  EXPECT_TRUE(timers_.idle());
}

// [q0_dr_local_tmo0]
TEST_F(LocalRouteTest, TheAnswerComesEvenWithoutATimeout) {
  RunSma();
  ASSERT_TRUE(
      Send(LocalGet(AttributeId::kNodeInfo), absl::ZeroDuration()).ok());
  timers_.RunPending();
  EXPECT_THAT(client_.inbox, SizeIs(1));
}

// [q0_dr_local_noreply]
TEST_F(LocalRouteTest, WhenNobodyAnswersTheSendIsOverWithoutATimeout) {
  RunSma();
  ASSERT_TRUE(Send(LocalGet(AttributeId::kSmInfo)).ok());
  timers_.RunFor(absl::Hours(1));
  EXPECT_THAT(client_.inbox, IsEmpty());
  EXPECT_THAT(client_.timed_out, IsEmpty());
  EXPECT_THAT(client_.done, ElementsAre(8));
}

// [q0_dr_local_noreply]
TEST_F(LocalRouteTest, AnSmpThatTheSmaConsumesIsOver) {
  port_.local = [](const Arrival&, MadBytes&) {
    return LocalVerdict::kConsumed;
  };
  ASSERT_TRUE(Send(LocalGet(AttributeId::kNotice)).ok());
  timers_.RunFor(absl::Hours(1));
  EXPECT_THAT(client_.inbox, IsEmpty());
  EXPECT_THAT(client_.done, ElementsAre(8));
}

// [q0_dr_local_sm]
TEST_F(LocalRouteTest, SmInfoGoesToTheSmOfThePortAndItsAnswerComesBack) {
  RunSma();
  RecordingClient sm_client;
  auto sm = Register({.qp = 0,
                      .mgmt_class = 0x81,
                      .mgmt_class_version = 1,
                      .methods = Methods({Method::kGet, Method::kSet})},
                     sm_client);
  ASSERT_TRUE(Send(LocalGet(AttributeId::kSmInfo)).ok());
  timers_.RunPending();
  ASSERT_THAT(sm_client.inbox, SizeIs(1));
  EXPECT_EQ(sm_client.inbox[0].slid, wire::Lid::kPermissive);
  EXPECT_THAT(client_.done, ElementsAre(8));

  MadBytes answer;
  std::copy_n(sm_client.inbox[0].mad.begin(), 256, answer.begin());
  wire::Put<&Smp::method>(answer, Method::kGetResp);
  wire::Put<&Smp::direction>(answer, true);
  ASSERT_TRUE(sm->Send(MessageTo(wire::Lid::kPermissive, answer)).ok());
  timers_.RunPending();
  ASSERT_THAT(client_.inbox, SizeIs(1));
  EXPECT_EQ(client_.inbox[0].slid, wire::Lid::kPermissive);
  EXPECT_EQ(wire::Get<&Smp::hop_pointer>(client_.inbox[0].mad), 0);
  EXPECT_THAT(port_.sent, IsEmpty());
}

// [smi_send_checks]
TEST_F(LocalRouteTest, ARouteThatIsNotOursIsRefused) {
  MadBytes elsewhere = LocalGet(AttributeId::kNodeInfo, 1);
  elsewhere[128 + 1] = std::byte{2};
  EXPECT_EQ(Send(elsewhere).code(), StatusCode::kInvalidArgument);
  EXPECT_THAT(port_.sent, IsEmpty());
}

// [smi_hop_pointer]
TEST_F(LocalRouteTest, TheHopPointerAdvancesBeforeTheWireAndOnlyOnce) {
  ASSERT_TRUE(agent_
                  ->Send(MessageTo(wire::Lid::kPermissive,
                                   LocalGet(AttributeId::kNodeInfo, 1),
                                   absl::Seconds(1), /*retries=*/1))
                  .ok());
  timers_.RunFor(absl::Seconds(1));
  ASSERT_THAT(port_.sent, SizeIs(2));
  EXPECT_EQ(wire::Get<&Smp::hop_pointer>(port_.sent[0].mad), 1);
  EXPECT_EQ(port_.sent[1].mad, port_.sent[0].mad);
}

// [smi_send_checks] [smi_send_checks_qp1]
TEST_F(LocalRouteTest, AQp1AgentsDirectedRoutesAreCheckedToo) {
  auto gsi = RegisterSender();
  MadBytes elsewhere = LocalGet(AttributeId::kNodeInfo, 1);
  elsewhere[128 + 1] = std::byte{2};
  EXPECT_EQ(gsi->Send(MessageTo(kPeer, elsewhere)).code(),
            StatusCode::kInvalidArgument);
}

// [q0_dr_local]
TEST_F(LocalRouteTest, AQp1AgentsLocalRouteReachesTheSmaAsSmp) {
  RunSma();
  auto gsi = RegisterSender();
  ASSERT_TRUE(gsi->Send(MessageTo(wire::Lid::kPermissive,
                                  LocalGet(AttributeId::kNodeInfo)))
                  .ok());
  timers_.RunPending();
  ASSERT_THAT(port_.local_requests, SizeIs(1));
  EXPECT_EQ(port_.local_requests[0].qp, 0);
  ASSERT_THAT(client_.inbox, SizeIs(1));
  EXPECT_EQ(client_.receivers[0], gsi.get());
  EXPECT_EQ(client_.inbox[0].source_qpn, 0u);
}

// [resp_routing]
TEST_F(LocalRouteTest, ADirectedAnswerMatchesWhateverItsAddress) {
  ASSERT_TRUE(Send(LocalGet(AttributeId::kNodeInfo, 1)).ok());
  Arrival answer = From(wire::Lid{9}, AnswerToLast(), 0);
  answer.grh = GlobalRoute{};
  port_.Receive(answer);
  EXPECT_THAT(client_.inbox, SizeIs(1));
}

}  // namespace
}  // namespace ibemu::mad

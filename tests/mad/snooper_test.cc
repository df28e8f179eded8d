// What a snooper sees of a port, and that nobody else notices.
#include "mad/snooper.h"

#include <functional>

#include "mad/wire/smp.h"
#include "tests/mad/rmpp_fixture.h"

namespace ibemu::mad {
namespace {

// Writes down what it sees, in one line of time.
class RecordingSnooper : public Snooper {
 public:
  void OnSent(const Outgoing& packet, const absl::Status& result) override {
    sent.push_back(packet);
    results.push_back(result.code());
    on_call();
  }
  void OnReceived(const Arrival& arrival) override {
    received.push_back(arrival);
    on_call();
  }

  std::vector<Outgoing> sent;
  std::vector<absl::StatusCode> results;
  std::vector<Arrival> received;
  std::function<void()> on_call = [] {};
};

class SnooperTest : public HostTest {
 protected:
  using Entry = std::unique_ptr<Snoops::Entry>;

  Entry Snoop(Snooper& snooper) { return host_.Snoop(1, snooper); }
  void SendGet(Agent& agent, absl::Duration timeout = kTimeout,
               int retries = 0) {
    ASSERT_TRUE(
        agent.Send(MessageTo(kPeer, MakeMad(kPerfGet), timeout, retries)).ok());
  }
  static MadBytes Smp(Method method) {
    return MakeMad({.mgmt_class = MgmtClass::kSubnetLidRouted,
                    .method = method,
                    .tid = 3,
                    .attr_id = AttributeId::kSmInfo});
  }

  RecordingSnooper snooper_;
};

TEST_F(SnooperTest, SeesEachTryAndTheAnswerOnce) {
  auto agent = RegisterSender();
  const Entry entry = Snoop(snooper_);
  SendGet(*agent, kTimeout, /*retries=*/2);
  timers_.RunFor(kTimeout);
  port_.Receive(From(kPeer, AnswerToLast()));

  ASSERT_THAT(snooper_.sent, SizeIs(2));
  EXPECT_EQ(snooper_.sent[0].mad, port_.sent[0].mad);
  EXPECT_EQ(snooper_.sent[1].mad, port_.sent[0].mad);
  EXPECT_EQ(snooper_.sent[0].to, port_.sent[0].to);
  EXPECT_THAT(snooper_.results,
              ElementsAre(absl::StatusCode::kOk, absl::StatusCode::kOk));
  ASSERT_THAT(snooper_.received, SizeIs(1));
  EXPECT_EQ(snooper_.received[0].slid, kPeer);
  EXPECT_THAT(client_.inbox, SizeIs(1));
}

TEST_F(SnooperTest, SeesWhatNobodyTakesAndWhatIsSaidToIt) {
  const Entry entry = Snoop(snooper_);
  MadBytes bad_version = MakeMad(kPerfGet);
  bad_version[0] = std::byte{2};
  port_.Receive(From(kPeer, bad_version));
  port_.Receive(From(kPeer, Smp(Method::kGet), /*qp=*/1));  // wrong place
  port_.Receive(From(kPeer, MakeMad(kPerfGet)));
  EXPECT_THAT(snooper_.received, SizeIs(3));
  // The last one is refused on behalf of nobody.
  EXPECT_THAT(snooper_.sent, ElementsAre(HasMethod(Method::kGetResp)));
}

TEST_F(SnooperTest, SeesASendThatFailed) {
  auto agent = RegisterSender();
  const Entry entry = Snoop(snooper_);
  port_.removed = true;
  EXPECT_FALSE(agent->Send(MessageTo(kPeer, MakeMad(kPerfGet))).ok());
  EXPECT_THAT(snooper_.results, ElementsAre(absl::StatusCode::kUnavailable));
}

TEST_F(SnooperTest, DoesNotSeeWhatWasRefusedBeforeThePort) {
  auto agent = RegisterSender();
  const Entry entry = Snoop(snooper_);
  SendGet(*agent);
  EXPECT_FALSE(agent->Send(MessageTo(kPeer, MakeMad(kPerfGet))).ok());
  EXPECT_THAT(snooper_.sent, SizeIs(1));
}

TEST_F(SnooperTest, SeesBothQueuePairs) {
  auto gsi = RegisterSender();
  auto smi = Register({.qp = 0});
  const Entry entry = Snoop(snooper_);
  SendGet(*gsi);
  ASSERT_TRUE(smi->Send(MessageTo(kPeer, Smp(Method::kSet))).ok());
  port_.Receive(From(kPeer, MakeMad({.method = Method::kSend})));
  port_.Receive(From(kPeer, Smp(Method::kTrap), /*qp=*/0));

  ASSERT_THAT(snooper_.sent,
              ElementsAre(HasMethod(Method::kGet), HasMethod(Method::kSet)));
  EXPECT_EQ(snooper_.sent[0].qp, 1);
  EXPECT_EQ(snooper_.sent[1].qp, 0);
  ASSERT_THAT(snooper_.received,
              ElementsAre(HasMethod(Method::kSend), HasMethod(Method::kTrap)));
  EXPECT_EQ(snooper_.received[0].qp, 1);
  EXPECT_EQ(snooper_.received[1].qp, 0);
}

TEST_F(SnooperTest, SeesOnePortOnly) {
  const Entry entry = Snoop(snooper_);
  device_.port(2).Receive(From(kPeer, MakeMad(kPerfGet)));
  EXPECT_THAT(snooper_.received, IsEmpty());
  EXPECT_EQ(host_.Snoop(3, snooper_), nullptr);
}

TEST_F(SnooperTest, SeesADirectedRouteThatEndsWhereItBegins) {
  auto agent = Register({.qp = 0});
  port_.local = [](const Arrival& request, MadBytes& reply) {
    reply = request.mad;
    wire::Put<&mad::Smp::method>(reply, Method::kGetResp);
    wire::Put<&mad::Smp::direction>(reply, true);
    return LocalVerdict::kReply;
  };
  const Entry entry = Snoop(snooper_);
  mad::Smp smp{.mgmt_class = MgmtClass::kSubnetDirectedRoute,
               .method = Method::kGet,
               .attr_id = AttributeId::kNodeInfo,
               .dr_slid = wire::Lid::kPermissive,
               .dr_dlid = wire::Lid::kPermissive};
  MadBytes mad;
  wire::Encode(smp, mad);
  ASSERT_TRUE(agent->Send(MessageTo(wire::Lid::kPermissive, mad)).ok());
  timers_.RunPending();
  EXPECT_THAT(snooper_.sent, ElementsAre(HasMethod(Method::kGet)));
  EXPECT_THAT(snooper_.received, ElementsAre(HasMethod(Method::kGetResp)));
  EXPECT_EQ(snooper_.received[0].slid, wire::Lid::kPermissive);
  EXPECT_THAT(client_.inbox, SizeIs(1));
}

TEST_F(SnooperTest, MayComeAndGoWhileItIsCalled) {
  auto agent = RegisterSender();
  RecordingSnooper second, third;
  Entry entries[3] = {Snoop(snooper_), Snoop(second), nullptr};
  snooper_.on_call = [&] {
    entries[0].reset();
    entries[1].reset();
    entries[2] = Snoop(third);
  };
  SendGet(*agent);
  EXPECT_THAT(snooper_.sent, SizeIs(1));
  EXPECT_THAT(second.sent, IsEmpty());
  EXPECT_THAT(third.sent, IsEmpty());

  port_.Receive(From(kPeer, AnswerToLast()));
  EXPECT_THAT(snooper_.received, IsEmpty());
  EXPECT_THAT(third.received, SizeIs(1));
  EXPECT_THAT(client_.inbox, SizeIs(1));
}

TEST_F(SnooperTest, SeesNothingAfterItsEnd) {
  auto agent = RegisterSender();
  Entry entry = Snoop(snooper_);
  entry.reset();
  SendGet(*agent);
  port_.Receive(From(kPeer, AnswerToLast()));
  EXPECT_THAT(snooper_.sent, IsEmpty());
  EXPECT_THAT(snooper_.received, IsEmpty());
}

TEST_F(SnooperTest, MayOutliveTheHost) {
  testing::FakeDevice device;
  auto host = std::make_unique<Host>(timers_, device);
  Entry entry = host->Snoop(1, snooper_);
  device.port(1).Receive(From(kPeer, MakeMad(kPerfGet)));
  host.reset();
  entry.reset();
  EXPECT_THAT(snooper_.received, SizeIs(1));
}

class SnoopedRmppTest : public RmppAgentTest {
 protected:
  RecordingSnooper snooper_;
  std::unique_ptr<Snoops::Entry> entry_ = host_.Snoop(1, snooper_);
};

TEST_F(SnoopedRmppTest, SeesEveryPacketOfAMessage) {
  SendRequest(600);
  Ack(1, 65);
  Ack(3, 65);
  query_ = first_;
  for (uint32_t n = 1; n <= 2; ++n) port_.Receive(Data(n, 2));
  ASSERT_THAT(client_.inbox, SizeIs(1));

  EXPECT_THAT(snooper_.received, SizeIs(4));
  // Three segments, the ACK of the last ACK, two ACKs of the answer.
  ASSERT_THAT(snooper_.sent, SizeIs(6));
  ASSERT_THAT(port_.sent, SizeIs(6));
  for (size_t i = 0; i < 6; ++i) {
    EXPECT_EQ(snooper_.sent[i].mad, port_.sent[i].mad);
  }
}

}  // namespace
}  // namespace ibemu::mad

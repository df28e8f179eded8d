// Where a redirected request goes, and a whole way from one agent to another.
#include "mad/redirection.h"

#include <map>

#include "mad/wire/port_counters.h"
#include "mad/wire/sa.h"
#include "tests/mad/fixture.h"

namespace ibemu::mad {
namespace {

using absl::StatusCode;

constexpr wire::Gid kPeerGid{wire::kDefaultGidPrefix, 0x2001};
constexpr uint32_t kOtherQp = 0x18;
constexpr wire::Lid kOtherLid{3};

// A redirection that nothing is wrong with.
ClassPortInfo Elsewhere() {
  ClassPortInfo info;
  info.redirect_gid = kPeerGid;
  info.redirect_tc = 5;
  info.redirect_sl = 2;
  info.redirect_fl = 0x12345;
  info.redirect_lid = kOtherLid;
  info.redirect_p_key = 0xffff;
  info.redirect_qp = kOtherQp;
  info.redirect_q_key = kQp1QKey;
  return info;
}

MadBytes RedirectTo(const ClassPortInfo& info, MadHeader request) {
  request.method = Method(static_cast<uint8_t>(request.method) | kResponseBit);
  request.status = MadStatus::kRedirect;
  request.attr_id = AttributeId::kClassPortInfo;
  MadBytes mad = MakeMad(request);
  wire::Encode(info,
               std::span(mad).subspan(AttributeOffset(request.mgmt_class)));
  return mad;
}

class RedirectionTest : public ::testing::Test {
 protected:
  // Where `info` sends a request that went to `first`.
  Redirection::Target Follow(const ClassPortInfo& info,
                             const AddressVector& first = {.dlid = kPeer,
                                                           .qpn = 1}) {
    auto target = Redirection(port_, first).OnClassPortInfo(info);
    EXPECT_TRUE(target.ok()) << target.status();
    EXPECT_TRUE(target.ok() && target->has_value());
    return target.ok() ? target->value_or(Redirection::Target{})
                       : Redirection::Target{};
  }
  StatusCode Refusal(const ClassPortInfo& info) {
    return Redirection(port_, {.dlid = kPeer, .qpn = 1})
        .OnClassPortInfo(info)
        .status()
        .code();
  }

  FakePort port_;
};

TEST_F(RedirectionTest, WithinTheSubnetTheLidIsEnough) {
  const AddressVector expected{.dlid = kOtherLid,
                               .sl = 2,
                               .path_bits = 1,
                               .pkey_index = 0,
                               .qpn = kOtherQp,
                               .qkey = kQp1QKey};
  EXPECT_EQ(Follow(Elsewhere(), {.dlid = kPeer, .path_bits = 1, .qpn = 1}),
            (Redirection::Target{.to = expected}));
}

TEST_F(RedirectionTest, ARequestWithAGrhKeepsIt) {
  port_.gids = {{1, 1}, {1, 5}};
  const AddressVector first{
      .dlid = kPeer,
      .qpn = 1,
      .grh = GlobalRoute{.gid = {1, 2}, .gid_index = 1, .hop_limit = 7}};
  const auto target = Follow(Elsewhere(), first);
  EXPECT_EQ(target.to.grh, (GlobalRoute{.gid = kPeerGid,
                                        .flow_label = 0x12345,
                                        .gid_index = 1,
                                        .hop_limit = 7,
                                        .traffic_class = 5}));
  EXPECT_FALSE(target.needs_path);

  ClassPortInfo without_gid = Elsewhere();
  without_gid.redirect_gid = {};
  EXPECT_EQ(Follow(without_gid, first).to.grh, std::nullopt);
}

TEST_F(RedirectionTest, AnotherSubnetIsReachedWithAGrh) {
  ClassPortInfo info = Elsewhere();
  info.redirect_gid.prefix = 0xfec0'0000'0000'0001;
  ASSERT_TRUE(Follow(info).to.grh.has_value());
  EXPECT_EQ(Follow(info).to.grh->gid, info.redirect_gid);
  EXPECT_EQ(Follow(info).to.dlid, kOtherLid);

  port_.gids = {{info.redirect_gid.prefix, 1}};
  EXPECT_EQ(Follow(info).to.grh, std::nullopt);
}

TEST_F(RedirectionTest, AGidWithoutALidNeedsAPath) {
  for (const wire::Lid lid : {wire::Lid::kUnassigned, wire::Lid::kPermissive}) {
    ClassPortInfo info = Elsewhere();
    info.redirect_lid = lid;
    const auto target = Follow(info);
    EXPECT_TRUE(target.needs_path);
    EXPECT_EQ(target.to.dlid, wire::Lid::kUnassigned);
    ASSERT_TRUE(target.to.grh.has_value());
    EXPECT_EQ(target.to.grh->gid, kPeerGid);
  }
}

TEST_F(RedirectionTest, RefusesPlacesThatAreNone) {
  ClassPortInfo info = Elsewhere();
  info.redirect_gid = {};
  for (const wire::Lid lid : {wire::Lid::kPermissive,
                              wire::Lid::kFirstMulticast, wire::Lid{0xfffe}}) {
    info.redirect_lid = lid;
    EXPECT_EQ(Refusal(info), StatusCode::kInvalidArgument);
  }
  // A group can't answer either.
  info.redirect_lid = wire::Lid::kFirstMulticast;
  info.redirect_gid = kPeerGid;
  EXPECT_EQ(Refusal(info), StatusCode::kInvalidArgument);
  info.redirect_lid = wire::Lid::kUnassigned;
  info.redirect_gid = {0xff12'0000'0000'0000, 1};
  EXPECT_EQ(Refusal(info), StatusCode::kInvalidArgument);
}

TEST_F(RedirectionTest, RefusesQueuePairsAndQKeysThatServeNoGmps) {
  for (const uint32_t qp : {0u, 0xffffffu}) {
    ClassPortInfo info = Elsewhere();
    info.redirect_qp = qp;
    EXPECT_EQ(Refusal(info), StatusCode::kInvalidArgument);
  }
  ClassPortInfo info = Elsewhere();
  info.redirect_q_key = 0x11111111;
  EXPECT_EQ(Refusal(info), StatusCode::kInvalidArgument);
}

TEST_F(RedirectionTest, FindsThePartitionInThePortsTable) {
  port_.pkeys = {0xffff, 0, 0x8001, 0x0002, 0x8001};
  const auto index_of = [&](uint16_t p_key, uint16_t first = 0) {
    ClassPortInfo info = Elsewhere();
    info.redirect_p_key = p_key;
    return Follow(info, {.dlid = kPeer, .pkey_index = first, .qpn = 1})
        .to.pkey_index;
  };
  EXPECT_EQ(index_of(0xffff), 0);
  EXPECT_EQ(index_of(0x7fff), 0);  // a limited member, and we are a full one
  EXPECT_EQ(index_of(0x8001), 2);
  EXPECT_EQ(index_of(0x8001, 4), 4);  // as before, if possible
  EXPECT_EQ(index_of(0x8002), 3);

  ClassPortInfo info = Elsewhere();
  for (const uint16_t p_key : {0x0002,  // limited members both
                               0x8003, 0x0000, 0x8000}) {
    info.redirect_p_key = p_key;
    EXPECT_EQ(Refusal(info), StatusCode::kInvalidArgument);
  }
}

TEST_F(RedirectionTest, AClassPortInfoWithoutAPlaceRedirectsNothing) {
  Redirection redirection(port_, {.dlid = kPeer, .qpn = 1});
  ClassPortInfo info;
  info.redirect_qp = 1;
  const auto result = redirection.OnClassPortInfo(info);
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(*result, std::nullopt);
}

TEST_F(RedirectionTest, OnlyTheStatusOfAnAnswerRedirects) {
  Redirection redirection(port_, {.dlid = kPeer, .qpn = 1});
  MadBytes answer = RedirectTo(Elsewhere(), kPerfGet);
  wire::Put<&MadHeader::status>(answer, MadStatus::kOk);
  EXPECT_EQ(redirection.OnAnswer(answer).value(), std::nullopt);
  wire::Put<&MadHeader::status>(answer, MadStatus::kUnsupportedAttribute);
  EXPECT_EQ(redirection.OnAnswer(answer).value(), std::nullopt);
  wire::Put<&MadHeader::status>(answer, MadStatus(0x0302));  // and of the class
  EXPECT_TRUE(redirection.OnAnswer(answer).value().has_value());
}

TEST_F(RedirectionTest, TheClassSaysWhereClassPortInfoIs) {
  for (const MgmtClass mgmt_class :
       {MgmtClass::kSubnetAdministration, MgmtClass::kPerformance,
        MgmtClass::kBaseboard, MgmtClass::kDevice, MgmtClass::kCommunication,
        MgmtClass::kMellanox, MgmtClass::kCongestionControl,
        MgmtClass::kOpenIbPing}) {
    MadHeader request = kPerfGet;
    request.mgmt_class = mgmt_class;
    Redirection redirection(port_, {.dlid = kPeer, .qpn = 1});
    const auto target =
        redirection.OnAnswer(RedirectTo(Elsewhere(), request)).value();
    ASSERT_TRUE(target.has_value());
    EXPECT_EQ(target->to.dlid, kOtherLid);
  }
  EXPECT_EQ(AttributeOffset(MgmtClass::kSubnetAdministration), kSaDataOffset);
  EXPECT_EQ(AttributeOffset(MgmtClass::kPerformance), kPerfDataOffset);
}

TEST_F(RedirectionTest, RefusesARedirectWithoutAClassPortInfo) {
  Redirection redirection(port_, {.dlid = kPeer, .qpn = 1});
  MadBytes answer = RedirectTo(Elsewhere(), kPerfGet);
  // All there is of an RMPP message may be shorter than a MAD.
  EXPECT_EQ(redirection.OnAnswer(Bytes(answer).first(64 + 71)).status().code(),
            StatusCode::kInvalidArgument);
  EXPECT_EQ(redirection.OnAnswer(RedirectTo(ClassPortInfo{}, kPerfGet))
                .status()
                .code(),
            StatusCode::kInvalidArgument);
  wire::Put<&MadHeader::attr_id>(answer, AttributeId::kPortCounters);
  EXPECT_EQ(redirection.OnAnswer(answer).status().code(),
            StatusCode::kInvalidArgument);
}

TEST_F(RedirectionTest, ARequestIsRedirectedAFewTimesOnly) {
  Redirection redirection(port_, {.dlid = kPeer, .qpn = 1});
  for (int i = 0; i < Redirection::kMost; ++i) {
    EXPECT_TRUE(redirection.OnClassPortInfo(Elsewhere()).ok());
  }
  EXPECT_EQ(redirection.OnClassPortInfo(Elsewhere()).status().code(),
            StatusCode::kResourceExhausted);
}

// --- From one agent to another.

// Ports that reach each other's queue pair by LID and QPN.
class Exchange {
 public:
  explicit Exchange(Timers& timers) : timers_(timers) {}

  void Connect(FakePort& port, wire::Lid lid, uint32_t qpn) {
    port.info.lid = lid;
    ports_[{lid, qpn}] = &port;
    port.on_transmit = [this, lid, qpn](const Outgoing& packet) {
      const auto to = ports_.find({packet.to.dlid, packet.to.qpn});
      if (to == ports_.end() || packet.to.qkey != kQp1QKey) return;
      timers_.RunSoon([=, port = to->second] {
        port->Receive({.qp = 1,
                       .slid = lid,
                       .sl = packet.to.sl,
                       .pkey_index = packet.to.pkey_index,
                       .source_qpn = qpn,
                       .mad = packet.mad});
      });
    };
  }

 private:
  Timers& timers_;
  std::map<std::pair<wire::Lid, uint32_t>, FakePort*> ports_;
};

// Follows each redirection, and keeps the last answer.
class FollowingClient : public RecordingClient {
 public:
  explicit FollowingClient(const Port& port) : port_(port) {}

  void Ask(Agent& agent, OutgoingMessage request) {
    request_ = std::move(request);
    redirection_.emplace(port_, request_.to);
    ASSERT_TRUE(agent.Send(request_).ok());
  }
  void OnMad(Agent& agent, IncomingMessage message) override {
    const auto target = redirection_->OnAnswer(message.mad);
    result = target.status();
    if (!target.ok() || !target->has_value()) {
      return RecordingClient::OnMad(agent, std::move(message));
    }
    request_.to = (*target)->to;
    ASSERT_TRUE(agent.Send(request_).ok());
  }

  absl::Status result;

 private:
  const Port& port_;
  OutgoingMessage request_;
  std::optional<Redirection> redirection_;
};

// Sends everybody elsewhere.
class RedirectingServer : public RecordingClient {
 public:
  explicit RedirectingServer(const ClassPortInfo& info) : info_(info) {}
  void OnMad(Agent& agent, IncomingMessage message) override {
    ASSERT_TRUE(agent
                    .Send(MessageTo(message.slid,
                                    RedirectTo(info_, HeaderOf(message.mad))))
                    .ok());
    RecordingClient::OnMad(agent, std::move(message));
  }

 private:
  ClassPortInfo info_;
};

// Answers with so many bytes, by RMPP.
class LongServer : public RecordingClient {
 public:
  void OnMad(Agent& agent, IncomingMessage message) override {
    OutgoingMessage answer{.to = {.dlid = message.slid,
                                  .sl = message.sl,
                                  .qpn = message.source_qpn},
                           .mad = message.mad};
    answer.mad.resize(5000, std::byte{0x77});
    answer.mad[3] |= std::byte{kResponseBit};
    answer.mad[26] = std::byte{1};
    ASSERT_TRUE(agent.Send(std::move(answer)).ok());
    RecordingClient::OnMad(agent, std::move(message));
  }
};

class RedirectedRequestTest : public ::testing::Test {
 protected:
  static constexpr wire::Lid kAsker{1}, kFirst{2};

  RedirectedRequestTest() {
    exchange_.Connect(own_.port(1), kAsker, 1);
    exchange_.Connect(first_.port(1), kFirst, 1);
    exchange_.Connect(second_.port(1), kOtherLid, kOtherQp);
  }

  void Ask(Host& at) {
    agent_ = at.Register(1, kSa, client_).value();
    client_.Ask(
        *agent_,
        MessageTo(kFirst,
                  MakeMad({.mgmt_class = MgmtClass::kSubnetAdministration,
                           .class_version = 2,
                           .method = Method::kGetTable,
                           .tid = 9}),
                  absl::Seconds(1), /*retries=*/0, /*cookie=*/6));
    timers_.RunFor(absl::Seconds(30));
  }

  const Registration kSa{.mgmt_class = 3,
                         .mgmt_class_version = 2,
                         .methods = Methods({Method::kGetTable}),
                         .rmpp_version = 1};
  ibemu::testing::VirtualTimers timers_;
  Exchange exchange_{timers_};
  FakeDevice own_, first_, second_;
  Host own_host_{timers_, own_}, first_host_{timers_, first_},
      second_host_{timers_, second_};
  FollowingClient client_{own_.port(1)};
  std::unique_ptr<Agent> agent_;
};

TEST_F(RedirectedRequestTest, IsAnsweredByTheQueuePairThatServesIt) {
  RedirectingServer redirecting(Elsewhere());
  LongServer answering;
  const auto first = first_host_.Register(1, kSa, redirecting);
  const auto second = second_host_.Register(1, kSa, answering);
  Ask(own_host_);

  ASSERT_THAT(client_.inbox, SizeIs(1));
  const IncomingMessage& answer = client_.inbox[0];
  EXPECT_EQ(answer.slid, kOtherLid);
  EXPECT_EQ(answer.source_qpn, kOtherQp);
  EXPECT_EQ(answer.sl, 2);
  EXPECT_THAT(answer.mad, SizeIs(5000));
  EXPECT_THAT(redirecting.inbox, SizeIs(1));
  EXPECT_THAT(answering.inbox, SizeIs(1));
  EXPECT_THAT(client_.done, ElementsAre(6, 6));
  EXPECT_THAT(answering.done, SizeIs(1));  // its last segment was acknowledged
  EXPECT_TRUE(timers_.idle());
}

TEST_F(RedirectedRequestTest, ToWhereNobodyIsTimesOut) {
  ClassPortInfo info = Elsewhere();
  info.redirect_qp = kOtherQp + 1;
  RedirectingServer redirecting(info);
  LongServer answering;
  const auto first = first_host_.Register(1, kSa, redirecting);
  const auto second = second_host_.Register(1, kSa, answering);
  Ask(own_host_);
  EXPECT_THAT(client_.timed_out, ElementsAre(6));
  EXPECT_THAT(answering.inbox, IsEmpty());
}

TEST_F(RedirectedRequestTest, InACircleEnds) {
  ClassPortInfo back = Elsewhere();
  back.redirect_lid = kFirst;
  back.redirect_qp = 1;
  RedirectingServer there(Elsewhere()), here(back);
  const auto first = first_host_.Register(1, kSa, there);
  const auto second = second_host_.Register(1, kSa, here);
  Ask(own_host_);
  EXPECT_EQ(client_.result.code(), StatusCode::kResourceExhausted);
  EXPECT_THAT(client_.inbox, SizeIs(1));
  EXPECT_EQ(there.inbox.size() + here.inbox.size(),
            static_cast<size_t>(Redirection::kMost) + 1);
}

}  // namespace
}  // namespace ibemu::mad

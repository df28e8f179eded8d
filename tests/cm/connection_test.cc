// The table of states, messages and calls.
#include "cm/connection.h"

#include <functional>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "tests/cm/connection_states.h"

namespace ibemu::cm {
namespace {

using Kind = CmEvent::Kind;

TEST(ConnectionTest, EveryStateIsReached) {
  for (const State state : kConnectionStates) {
    EXPECT_EQ(In(state).state(), state);
  }
}

// --- Messages.  What a table does not name changes nothing and has no answer.

struct Effect {
  State after{};
  std::optional<Kind> event{};
  std::optional<Message> answer{};
  bool duplicate = false;
};
using Effects = std::map<State, Effect>;

void ExpectEffects(const Effects& effects,
                   const std::function<Step(Connection&)>& arrive) {
  for (const State before : kConnectionStates) {
    SCOPED_TRACE(NameOf(before));
    Connection it = In(before);
    const Step step = arrive(it);
    const auto named = effects.find(before);
    const Effect expected =
        named == effects.end() ? Effect{.after = before} : named->second;
    EXPECT_EQ(it.state(), expected.after);
    EXPECT_EQ(step.event.has_value(), expected.event.has_value());
    if (step.event && expected.event) {
      EXPECT_EQ(step.event->kind, *expected.event);
    }
    EXPECT_EQ(step.send.has_value(), expected.answer.has_value());
    if (step.send && expected.answer) {
      EXPECT_EQ(step.send->message, *expected.answer);
      EXPECT_EQ(step.send->kind, Sending::Kind::kResponse);
    }
    EXPECT_EQ(step.duplicate, expected.duplicate);
  }
}

// All states, as a duplicate without an answer.
Effects Duplicates() {
  Effects all;
  for (const State state : kConnectionStates) {
    all[state] = {.after = state, .duplicate = true};
  }
  return all;
}

TEST(ConnectionTest, OnlyTwoStatesAwaitARep) {
  for (const State state : kConnectionStates) {
    EXPECT_EQ(In(state).AwaitsRep(),
              state == State::kReqSent || state == State::kMraReqReceived);
  }
}

TEST(ConnectionTest, ARepIsToldWithItsValues) {
  for (const State state : {State::kReqSent, State::kMraReqReceived}) {
    Connection it = In(state);
    Rep rep = RepOfPeer();
    rep.private_data[0] = std::byte{0x55};
    rep.vendor_id_high = 1;
    rep.vendor_id_middle = 2;
    rep.vendor_id_low = 3;
    mad::MadHeader header = HeaderOfPeer();
    header.attr_mod = 0x4444;
    const Step step = it.OnRep(header, rep);
    EXPECT_EQ(it.state(), State::kRepReceived);
    EXPECT_FALSE(it.deadline().has_value());
    ASSERT_TRUE(step.event.has_value());
    EXPECT_EQ(step.event->kind, Kind::kRep);
    EXPECT_EQ(step.event->reply.qpn, kPeerQpn);
    EXPECT_EQ(step.event->reply.starting_psn, 0x456u);
    EXPECT_EQ(step.event->reply.responder_resources, 1);
    EXPECT_EQ(step.event->reply.initiator_depth, 2);
    EXPECT_EQ(step.event->reply.rnr_retry_count, 3);
    EXPECT_EQ(step.event->reply.ece, (Ece{0x010203, 0x4444}));
    ASSERT_EQ(step.event->private_data.size(), 196u);
    EXPECT_EQ(step.event->private_data[0], std::byte{0x55});
    EXPECT_EQ(it.peer(),
              (Peer{.ca = kPeerCa, .comm_id = kPeerId, .qpn = kPeerQpn}));
  }
}

TEST(ConnectionTest, ADuplicateRepGetsTheRtuOrAnMra) {
  Effects effects = Duplicates();
  effects[State::kEstablished].answer = Message::kRtu;
  effects[State::kMraRepSent].answer = Message::kMra;
  ExpectEffects(effects, [](Connection& it) { return it.OnDuplicateRep(); });
}

TEST(ConnectionTest, ADuplicateReqGetsAnMraOnceThatWasAskedFor) {
  Effects effects = Duplicates();
  effects[State::kMraReqSent].answer = Message::kMra;
  ExpectEffects(effects, [](Connection& it) { return it.OnDuplicateReq(); });
}

TEST(ConnectionTest, AnRtuEstablishesAfterARep) {
  Effects effects = Duplicates();
  for (const State state : {State::kRepSent, State::kMraRepReceived}) {
    effects[state] = {.after = State::kEstablished, .event = Kind::kRtu};
  }
  ExpectEffects(effects, [](Connection& it) { return it.OnRtu({}); });
}

TEST(ConnectionTest, ARejEndsAConnection) {
  Effects effects;
  for (const State state :
       {State::kReqSent, State::kMraReqReceived, State::kReqReceived,
        State::kMraReqSent, State::kRepSent, State::kMraRepReceived}) {
    effects[state] = {.after = State::kIdle, .event = Kind::kRej};
  }
  for (const State state : {State::kRepReceived, State::kMraRepSent,
                            State::kEstablished, State::kDreqSent}) {
    effects[state] = {.after = State::kTimewait, .event = Kind::kRej};
  }
  ExpectEffects(
      effects, [](Connection& it) { return it.OnRej(kStart, {.reason = 28}); });
}

TEST(ConnectionTest, ARejOfAStaleConnectionAlwaysLeadsToTimewait) {
  Effects effects;
  for (const State state : kConnectionStates) {
    if (state == State::kIdle || state == State::kDreqReceived ||
        state == State::kTimewait) {
      continue;
    }
    effects[state] = {.after = State::kTimewait, .event = Kind::kRej};
  }
  ExpectEffects(
      effects, [](Connection& it) { return it.OnRej(kStart, {.reason = 10}); });
}

TEST(ConnectionTest, ARejIsToldWithItsReason) {
  Connection it = In(State::kReqSent);
  const Step step = it.OnRej(kStart, {.reason = 8});
  ASSERT_TRUE(step.event.has_value());
  EXPECT_EQ(step.event->reason, 8);
  EXPECT_EQ(step.event->private_data.size(), 148u);
}

TEST(ConnectionTest, AnMraIsForTheMessageThatIsOut) {
  Effects effects;
  effects[State::kReqSent] = {.after = State::kMraReqReceived};
  for (const State state : {State::kMraReqReceived, State::kMraRepReceived}) {
    effects[state] = {.after = state, .duplicate = true};
  }
  ExpectEffects(effects, [](Connection& it) {
    return it.OnMra(kStart, {.message_mraed = About::kReq});
  });
  effects.erase(State::kReqSent);
  effects[State::kRepSent] = {.after = State::kMraRepReceived};
  ExpectEffects(effects, [](Connection& it) {
    return it.OnMra(kStart, {.message_mraed = About::kRep});
  });
  effects.erase(State::kRepSent);
  ExpectEffects(effects, [](Connection& it) {
    return it.OnMra(kStart, {.message_mraed = About::kLapOrOther});
  });
}

TEST(ConnectionTest, ADreqIsToldOrAnsweredAgain) {
  Effects effects;
  for (const State state : {State::kRepSent, State::kMraRepReceived,
                            State::kEstablished, State::kDreqSent}) {
    effects[state] = {.after = State::kDreqReceived, .event = Kind::kDreq};
  }
  effects[State::kDreqReceived] = {.after = State::kDreqReceived,
                                   .duplicate = true};
  effects[State::kTimewait] = {
      .after = State::kTimewait, .answer = Message::kDrep, .duplicate = true};
  ExpectEffects(effects, [](Connection& it) {
    return it.OnDreq(HeaderOfPeer(), DreqOfPeer());
  });
}

TEST(ConnectionTest, ADreqForAnotherQueuePairIsDropped) {
  ExpectEffects({}, [](Connection& it) {
    Dreq dreq = DreqOfPeer();
    dreq.remote_qpn = kOwnQpn + 1;
    return it.OnDreq(HeaderOfPeer(), dreq);
  });
}

TEST(ConnectionTest, ADrepLeadsToTimewait) {
  Effects effects;
  for (const State state : {State::kDreqSent, State::kDreqReceived}) {
    effects[state] = {.after = State::kTimewait, .event = Kind::kDrep};
  }
  ExpectEffects(effects, [](Connection& it) { return it.OnDrep(kStart, {}); });
}

// --- Calls.

void ExpectAllowed(const std::map<State, State>& allowed,
                   const std::function<absl::Status(Connection&)>& call) {
  for (const State before : kConnectionStates) {
    SCOPED_TRACE(NameOf(before));
    Connection it = In(before);
    const absl::Status status = call(it);
    const auto named = allowed.find(before);
    if (named == allowed.end()) {
      EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
      EXPECT_EQ(it.state(), before);
    } else {
      EXPECT_TRUE(status.ok()) << status;
      EXPECT_EQ(it.state(), named->second);
    }
  }
}

TEST(ConnectionTest, AReqIsSentFromIdle) {
  ExpectAllowed({{State::kIdle, State::kReqSent}}, [](Connection& it) {
    return it.SendReq(kStart, RequestToPeer(), WayToPeer()).status();
  });
}

TEST(ConnectionTest, ARepAnswersAReq) {
  ExpectAllowed({{State::kReqReceived, State::kRepSent},
                 {State::kMraReqSent, State::kRepSent}},
                [](Connection& it) {
                  return it.SendRep(kStart, ReplyToPeer()).status();
                });
}

TEST(ConnectionTest, AnRtuAnswersARep) {
  ExpectAllowed({{State::kRepReceived, State::kEstablished},
                 {State::kMraRepSent, State::kEstablished}},
                [](Connection& it) { return it.SendRtu({}).status(); });
}

TEST(ConnectionTest, ARejIsSentUntilItIsEstablished) {
  ExpectAllowed({{State::kReqSent, State::kIdle},
                 {State::kMraReqReceived, State::kIdle},
                 {State::kReqReceived, State::kIdle},
                 {State::kMraReqSent, State::kIdle},
                 {State::kRepReceived, State::kIdle},
                 {State::kMraRepSent, State::kIdle},
                 {State::kRepSent, State::kTimewait},
                 {State::kMraRepReceived, State::kTimewait}},
                [](Connection& it) {
                  return it
                      .SendRej(kStart, RejectReason::kConsumerDefined, {}, {})
                      .status();
                });
}

TEST(ConnectionTest, ADreqIsSentWhenItIsEstablished) {
  ExpectAllowed({{State::kEstablished, State::kDreqSent}}, [](Connection& it) {
    return it.SendDreq(kStart, {}).status();
  });
}

TEST(ConnectionTest, ADrepAnswersADreq) {
  ExpectAllowed({{State::kDreqReceived, State::kTimewait}}, [](Connection& it) {
    return it.SendDrep(kStart, {}).status();
  });
}

TEST(ConnectionTest, AnMraIsPreparedForAReqOrRep) {
  ExpectAllowed({{State::kReqReceived, State::kMraReqSent},
                 {State::kRepReceived, State::kMraRepSent}},
                [](Connection& it) { return it.PrepareMra(); });
}

TEST(ConnectionTest, AMessageOnTheConnectionEstablishesItLikeAnRtu) {
  for (const State state : kConnectionStates) {
    Connection it = In(state);
    const absl::Status status = it.NotifyEstablished();
    if (state == State::kRepSent || state == State::kMraRepReceived) {
      EXPECT_TRUE(status.ok());
      EXPECT_EQ(it.state(), State::kEstablished);
      EXPECT_FALSE(it.deadline().has_value());
    } else if (state == State::kEstablished) {
      EXPECT_EQ(status.code(), absl::StatusCode::kAlreadyExists);
    } else {
      EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    }
  }
}

TEST(ConnectionTest, TheQueuePairOfAnEstablishedConnectionMayHaveMigrated) {
  for (const State state : kConnectionStates) {
    EXPECT_EQ(In(state).NotifyMigrated().ok(), state == State::kEstablished);
  }
}

TEST(ConnectionTest, PrivateDataFitIntoTheirMessage) {
  const std::vector<std::byte> data(300);
  const std::span all(data);
  for (const bool fits : {true, false}) {
    const size_t more = fits ? 0 : 1;
    CmRequest request = RequestToPeer();
    request.private_data.resize(92 + more);
    EXPECT_EQ(In(State::kIdle).SendReq(kStart, request, WayToPeer()).ok(),
              fits);
    CmReply reply = ReplyToPeer();
    reply.private_data.resize(196 + more);
    EXPECT_EQ(In(State::kReqReceived).SendRep(kStart, reply).ok(), fits);
    EXPECT_EQ(In(State::kRepReceived).SendRtu(all.first(224 + more)).ok(),
              fits);
    EXPECT_EQ(
        In(State::kEstablished).SendDreq(kStart, all.first(220 + more)).ok(),
        fits);
    EXPECT_EQ(
        In(State::kDreqReceived).SendDrep(kStart, all.first(224 + more)).ok(),
        fits);
    EXPECT_EQ(In(State::kReqReceived)
                  .SendRej(kStart, RejectReason::kConsumerDefined, {},
                           all.first(148 + more))
                  .ok(),
              fits);
    EXPECT_EQ(In(State::kReqReceived)
                  .SendRej(kStart, RejectReason::kConsumerDefined,
                           all.first(72 + more), {})
                  .ok(),
              fits);
  }
}

TEST(ConnectionTest, OnlyRcAndUcAreConnected) {
  CmRequest request = RequestToPeer();
  request.qp_type = verbs::QpType::kUd;
  EXPECT_FALSE(In(State::kIdle).SendReq(kStart, request, WayToPeer()).ok());
  request.qp_type = verbs::QpType::kUc;
  EXPECT_TRUE(In(State::kIdle).SendReq(kStart, request, WayToPeer()).ok());
}

// --- Destruction.

TEST(ConnectionTest, DestroyedInAnyStateItTellsThePeer) {
  const std::map<State, Message> last = {
      {State::kReqSent, Message::kRej},
      {State::kMraReqReceived, Message::kRej},
      {State::kReqReceived, Message::kRej},
      {State::kMraReqSent, Message::kRej},
      {State::kRepSent, Message::kRej},
      {State::kMraRepReceived, Message::kRej},
      {State::kRepReceived, Message::kRej},
      {State::kMraRepSent, Message::kRej},
      {State::kEstablished, Message::kDreq},
      {State::kDreqReceived, Message::kDrep},
  };
  for (const State state : kConnectionStates) {
    SCOPED_TRACE(NameOf(state));
    Connection it = In(state);
    const std::optional<Sending> said = it.Destroy(kStart);
    EXPECT_EQ(it.state(), State::kIdle);
    EXPECT_FALSE(it.deadline().has_value());
    EXPECT_FALSE(it.peer().has_value());
    const auto named = last.find(state);
    ASSERT_EQ(said.has_value(), named != last.end());
    if (!said) continue;
    EXPECT_EQ(said->message, named->second);
    EXPECT_EQ(said->kind, Sending::Kind::kFirst);
    if (said->message != Message::kRej) continue;
    const bool gives_up =
        state == State::kReqSent || state == State::kMraReqReceived;
    EXPECT_EQ(BodyOf<Rej>(said->mad).reason, gives_up ? 4 : 28);
  }
}

TEST(ConnectionTest, WhoGivesUpNamesItsCaInTheRej) {
  const std::optional<Sending> said = In(State::kReqSent).Destroy(kStart);
  ASSERT_TRUE(said.has_value());
  const auto rej = BodyOf<Rej>(said->mad);
  EXPECT_EQ(rej.info_length, 8);
  EXPECT_EQ(wire::Decode<TimeoutInfo>(rej.info).ca_guid, kOwnCa);
  EXPECT_EQ(rej.local_comm_id, kOwnId);
  EXPECT_EQ(rej.remote_comm_id, 0u);
}

TEST(ConnectionTest, AnIgnoredRequestEndsWithoutAWord) {
  Connection it = In(State::kReqReceived);
  it.Ignore();
  EXPECT_EQ(it.state(), State::kIdle);
  EXPECT_FALSE(it.Destroy(kStart).has_value());
}

TEST(ConnectionTest, ARejSaysWhatItIsAbout) {
  const std::map<State, std::pair<About, uint32_t>> expected = {
      {State::kReqSent, {About::kLapOrOther, kOwnId}},
      {State::kReqReceived, {About::kReq, 0}},
      {State::kMraReqSent, {About::kReq, kOwnId}},
      {State::kRepSent, {About::kLapOrOther, kOwnId}},
      {State::kRepReceived, {About::kRep, kOwnId}},
      {State::kMraRepSent, {About::kRep, kOwnId}},
  };
  for (const auto& [state, about] : expected) {
    SCOPED_TRACE(NameOf(state));
    const absl::StatusOr<Sending> sending =
        In(state).SendRej(kStart, RejectReason::kConsumerDefined, {}, {});
    ASSERT_TRUE(sending.ok());
    const auto rej = BodyOf<Rej>(sending->mad);
    EXPECT_EQ(rej.message_rejected, about.first);
    EXPECT_EQ(rej.local_comm_id, about.second);
  }
}

// --- Transaction ids.

uint64_t TidOf(const Sending& sending) {
  return wire::Get<&mad::MadHeader::tid>(sending.mad);
}

TEST(ConnectionTest, RequestsHaveTheAgentsTidAndAnswersThatOfTheRequest) {
  constexpr uint64_t kOwnTid = uint64_t{0x99} << 32 | kOwnId;
  EXPECT_EQ(
      TidOf(*In(State::kIdle).SendReq(kStart, RequestToPeer(), WayToPeer())),
      kOwnTid);
  EXPECT_EQ(TidOf(*In(State::kRepReceived).SendRtu({})), kOwnTid);
  EXPECT_EQ(TidOf(*In(State::kReqReceived).SendRep(kStart, ReplyToPeer())),
            kPeerTid);
  EXPECT_EQ(TidOf(*In(State::kEstablished).SendDreq(kStart, {})), kOwnTid);
  Connection it = In(State::kEstablished);
  it.OnDreq(HeaderOfPeer(0x1234), DreqOfPeer());
  EXPECT_EQ(TidOf(*it.SendDrep(kStart, {})), 0x1234u);
  const Step again = it.OnDreq(HeaderOfPeer(0x1235), DreqOfPeer());
  ASSERT_TRUE(again.send.has_value());
  EXPECT_EQ(TidOf(*again.send), 0x1235u);
}

TEST(ConnectionTest, ARepeatedRtuHasItsPrivateData) {
  Connection it = In(State::kRepReceived);
  const std::byte data[] = {std::byte{0x42}};
  ASSERT_TRUE(it.SendRtu(data).ok());
  const Step step = it.OnDuplicateRep();
  ASSERT_TRUE(step.send.has_value());
  EXPECT_EQ(BodyOf<Rtu>(step.send->mad).private_data[0], std::byte{0x42});
}

TEST(ConnectionTest, AnAlternatePathIsDeclined) {
  for (const bool asked : {false, true}) {
    Connection it({.comm_id = kOwnId, .ca_guid = kOwnCa});
    Req req = ReqOfPeer();
    if (asked) req.alternate.local_lid = wire::Lid{9};
    it.OnReq(HeaderOfPeer(), req, WayToPeer());
    const absl::StatusOr<Sending> rep = it.SendRep(kStart, ReplyToPeer());
    ASSERT_TRUE(rep.ok());
    EXPECT_EQ(BodyOf<Rep>(rep->mad).failover,
              asked ? Failover::kUnsupported : Failover::kAccepted);
  }
}

TEST(ConnectionTest, APeerCountsFromTheReqOrRepUntilTimewait) {
  for (const State state : kConnectionStates) {
    const bool counts = state != State::kIdle && state != State::kReqSent &&
                        state != State::kMraReqReceived &&
                        state != State::kTimewait;
    EXPECT_EQ(In(state).peer().has_value(), counts) << NameOf(state);
  }
}

}  // namespace
}  // namespace ibemu::cm

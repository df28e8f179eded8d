// Connections in every state, for tests of the state machine.
#ifndef IBEMU_TESTS_CM_CONNECTION_STATES_H_
#define IBEMU_TESTS_CM_CONNECTION_STATES_H_

#include <cstddef>
#include <ostream>
#include <string_view>

#include "cm/cm_mad.h"
#include "cm/connection.h"
#include "cm/wire/connection_messages.h"
#include "cm/wire/req.h"
#include "gtest/gtest.h"

namespace ibemu::cm {

inline constexpr uint32_t kOwnId = 0x11;
inline constexpr uint32_t kPeerId = 0x22;
inline constexpr uint32_t kOwnQpn = 0x101;
inline constexpr uint32_t kPeerQpn = 0x202;
inline constexpr wire::Guid kOwnCa{0xca01};
inline constexpr wire::Guid kPeerCa{0xca02};
inline constexpr uint64_t kPeerTid = 0x7700000022;
inline constexpr absl::Time kStart = absl::UnixEpoch();
// 2 * ms(18) + ms(20): of a REQ and of what its sender sends later.
inline constexpr absl::Duration kActiveTimeout = absl::Milliseconds(6144);
inline constexpr absl::Duration kPassiveTimeout = absl::Milliseconds(4096);

inline constexpr State kConnectionStates[] = {
    State::kIdle,           State::kReqSent,     State::kMraReqReceived,
    State::kReqReceived,    State::kMraReqSent,  State::kRepSent,
    State::kMraRepReceived, State::kRepReceived, State::kMraRepSent,
    State::kEstablished,    State::kDreqSent,    State::kDreqReceived,
    State::kTimewait};

inline std::string_view NameOf(State state) {
  constexpr std::string_view kNames[] = {
      "IDLE",         "REQ_SENT",      "MRA_REQ_RCVD", "REQ_RCVD",
      "MRA_REQ_SENT", "REP_SENT",      "MRA_REP_RCVD", "REP_RCVD",
      "MRA_REP_SENT", "ESTABLISHED",   "DREQ_SENT",    "DREQ_RCVD",
      "TIMEWAIT",     "SIDR_REQ_SENT", "SIDR_REQ_RCVD"};
  return kNames[static_cast<size_t>(state)];
}
inline std::string_view NameOf(Message message) {
  constexpr std::string_view kNames[] = {"REQ",      "MRA",  "REJ",  "REP",
                                         "RTU",      "DREQ", "DREP", "SIDR_REQ",
                                         "SIDR_REP", "LAP",  "APR"};
  return kNames[static_cast<size_t>(message)];
}
inline void PrintTo(State state, std::ostream* out) { *out << NameOf(state); }
inline void PrintTo(Message message, std::ostream* out) {
  *out << NameOf(message);
}

inline Route WayToPeer() {
  return {.port = 1,
          .high_tid = 0x99,
          .to = {.dlid = wire::Lid{2}, .sl = 3, .qpn = 1},
          .static_rate = 7,
          .mtu = 4,
          .packet_life_time = 18};
}

inline CmRequest RequestToPeer() {
  return {.path = {.dgid = {0xfe80, 2},
                   .sgid = {0xfe80, 1},
                   .dlid = wire::Lid{2},
                   .slid = wire::Lid{1},
                   .p_key = 0xffff,
                   .sl = 3,
                   .mtu = 4,
                   .rate = 7,
                   .packet_life_time = 18},
          .service_id = 0x1060001,
          .qpn = kOwnQpn,
          .starting_psn = 0xabc,
          .responder_resources = 4,
          .initiator_depth = 5,
          .retry_count = 6,
          .rnr_retry_count = 7};
}

inline CmReply ReplyToPeer() {
  return {.qpn = kOwnQpn,
          .starting_psn = 0xdef,
          .responder_resources = 2,
          .initiator_depth = 3,
          .rnr_retry_count = 1};
}

inline Req ReqOfPeer() {
  return {.local_comm_id = kPeerId,
          .service_id = 0x1060001,
          .local_ca_guid = kPeerCa,
          .local_qpn = kPeerQpn,
          .responder_resources = 8,
          .initiator_depth = 9,
          .starting_psn = 0x123,
          .local_cm_response_timeout = 20,
          .retry_count = 5,
          .path_mtu = 4,
          .rnr_retry_count = 4,
          .max_cm_retries = 15,
          .primary = {.local_lid = wire::Lid{7}},
          .primary_local_ack_timeout = 19};
}

inline Rep RepOfPeer() {
  return {.local_comm_id = kPeerId,
          .remote_comm_id = kOwnId,
          .local_qpn = kPeerQpn,
          .starting_psn = 0x456,
          .responder_resources = 1,
          .initiator_depth = 2,
          .target_ack_delay = 15,
          .rnr_retry_count = 3,
          .local_ca_guid = kPeerCa};
}

inline Dreq DreqOfPeer() {
  return {.local_comm_id = kPeerId,
          .remote_comm_id = kOwnId,
          .remote_qpn = kOwnQpn};
}

inline mad::MadHeader HeaderOfPeer(uint64_t tid = kPeerTid) {
  return {.tid = tid};
}

// Returns a connection that has gone, at kStart, to `state` by the shortest
// way: the active one, where there are two.
inline Connection In(State state) {
  Connection it({.comm_id = kOwnId, .ca_guid = kOwnCa, .ca_ack_delay = 15});
  const bool passive =
      (state >= State::kReqReceived && state <= State::kMraRepReceived);
  if (state == State::kIdle) return it;
  if (passive) {
    it.OnReq(HeaderOfPeer(), ReqOfPeer(), WayToPeer());
    if (state == State::kMraReqSent) it.PrepareMra().IgnoreError();
    if (state >= State::kRepSent) {
      EXPECT_TRUE(it.SendRep(kStart, ReplyToPeer()).ok());
    }
    if (state == State::kMraRepReceived) {
      it.OnMra(kStart, {.message_mraed = About::kRep, .service_timeout = 24});
    }
    return it;
  }
  EXPECT_TRUE(it.SendReq(kStart, RequestToPeer(), WayToPeer()).ok());
  if (state == State::kMraReqReceived) {
    it.OnMra(kStart, {.message_mraed = About::kReq, .service_timeout = 24});
  }
  if (state < State::kRepReceived) return it;
  it.OnRep(HeaderOfPeer(), RepOfPeer());
  if (state == State::kMraRepSent) it.PrepareMra().IgnoreError();
  if (state < State::kEstablished) return it;
  EXPECT_TRUE(it.SendRtu({}).ok());
  if (state == State::kDreqReceived) it.OnDreq(HeaderOfPeer(), DreqOfPeer());
  if (state == State::kDreqSent || state == State::kTimewait) {
    EXPECT_TRUE(it.SendDreq(kStart, {}).ok());
  }
  if (state == State::kTimewait) it.OnDrep(kStart, {});
  return it;
}

}  // namespace ibemu::cm

#endif  // IBEMU_TESTS_CM_CONNECTION_STATES_H_

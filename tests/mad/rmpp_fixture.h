// RMPP between an agent and a peer that the test plays.
#ifndef IBEMU_TESTS_MAD_RMPP_FIXTURE_H_
#define IBEMU_TESTS_MAD_RMPP_FIXTURE_H_

#include <algorithm>
#include <memory>
#include <vector>

#include "tests/mad/fixture.h"

namespace ibemu::mad {

using ::testing::Not;

constexpr size_t kSaHeader = 56;
constexpr absl::Duration kTimeout = absl::Milliseconds(500);
// Asks, and serves GetTable and GetMulti.
inline const Registration kSaAgent{
    .mgmt_class = 3,
    .mgmt_class_version = 2,
    .methods = Methods({Method::kGetTable, Method::kGetMulti}),
    .rmpp_version = 1};
constexpr MadHeader kSaQuery{.mgmt_class = MgmtClass::kSubnetAdministration,
                             .class_version = 2,
                             .method = Method::kGetTable,
                             .tid = 0x77,
                             .attr_id = AttributeId::kNodeRecord};

class RmppAgentTest : public HostTest {
 protected:
  // A message of class SA with `data` bytes after the header, RMPP active.
  static OutgoingMessage Message(MadHeader header, size_t data,
                                 absl::Duration timeout, int retries = 0) {
    MadBytes head = MakeMad(header);
    SetRmpp(head, {.version = 77,  // the core's business: it is replaced
                   .type = RmppType::kAbort,
                   .resp_time = 9,
                   .status = RmppStatus{3},
                   .segment = 12,
                   .length_or_window = 13});
    OutgoingMessage message = MessageTo(kPeer, head, timeout, retries, 4);
    message.mad.resize(kSaHeader);
    for (size_t i = 0; i < data; ++i) {
      message.mad.push_back(std::byte(i % 251));
    }
    return message;
  }
  void Send(const OutgoingMessage& message) {
    ASSERT_TRUE(agent_->Send(message).ok());
    ASSERT_THAT(port_.sent, Not(IsEmpty()));
    first_ = port_.sent.back().mad;
  }
  void SendRequest(size_t data, absl::Duration timeout = kTimeout,
                   int retries = 0) {
    MadHeader header = kSaQuery;
    header.method = Method::kGetMulti;
    Send(Message(header, data, timeout, retries));
  }
  void SendAnswer(size_t data, absl::Duration timeout = absl::ZeroDuration(),
                  int retries = 0) {
    MadHeader header = kSaQuery;
    header.method = Method::kGetTableResp;
    Send(Message(header, data, timeout, retries));
  }

  // The peer's RMPP packet about our message.
  Arrival Control(const RmppHeader& rmpp) {
    MadBytes mad = first_;
    wire::Put<&MadHeader::method>(
        mad, Method(static_cast<uint8_t>(HeaderOf(mad).method) ^ kResponseBit));
    SetRmpp(mad, rmpp);
    return From(kPeer, mad);
  }
  void Ack(uint32_t segment, uint32_t window) {
    port_.Receive(Control({.type = RmppType::kAck,
                           .segment = segment,
                           .length_or_window = window}));
  }

  // Opens a query, to be answered by Data().
  void Query(absl::Duration timeout = kTimeout) {
    OutgoingMessage query = MessageTo(kPeer, MakeMad(kSaQuery), timeout, 0, 4);
    EXPECT_TRUE(agent_->Send(query).ok());
    query_ = port_.sent.back().mad;
    port_.sent.clear();
  }
  // Segment `n` of the answer, all of its data n.
  Arrival Data(uint32_t n, uint32_t segments, uint32_t last_length = 220) {
    MadBytes mad = query_;
    std::fill(mad.begin() + kSaHeader, mad.end(), std::byte(n));
    wire::Put<&MadHeader::method>(mad, Method::kGetTableResp);
    SetRmpp(mad, {.type = RmppType::kData,
                  .resp_time = 17,
                  .last = n == segments,
                  .first = n == 1,
                  .segment = n,
                  .length_or_window = n == segments ? last_length : 0});
    return From(kPeer, mad);
  }

  // RMPP headers and segment numbers of what was sent.
  RmppHeader LastSent() { return RmppOf(port_.sent.back().mad); }
  std::vector<uint32_t> SentSegments() {
    std::vector<uint32_t> segments;
    for (const Outgoing& packet : port_.sent) {
      segments.push_back(RmppOf(packet.mad).segment);
    }
    port_.sent.clear();
    return segments;
  }
  // The status of the last packet, which must be an ABORT.
  int AbortSent() {
    EXPECT_EQ(LastSent().type, RmppType::kAbort);
    EXPECT_EQ(LastSent().segment, 0u);
    EXPECT_EQ(LastSent().length_or_window, 0u);
    return static_cast<int>(LastSent().status);
  }
  void ExpectSilence() {
    EXPECT_THAT(client_.inbox, IsEmpty());
    EXPECT_THAT(client_.timed_out, IsEmpty());
  }

  std::unique_ptr<Agent> agent_ = Register(kSaAgent);
  MadBytes first_{};  // segment of what we send
  MadBytes query_{};
};

}  // namespace ibemu::mad

#endif  // IBEMU_TESTS_MAD_RMPP_FIXTURE_H_

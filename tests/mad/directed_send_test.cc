// Which directed-route SMPs an agent may send, and which stay in the port.
#include "mad/wire/smp.h"
#include "tests/mad/fixture.h"

namespace ibemu::mad {
namespace {

enum class Fate { kRefused, kLocal, kWire };

struct Vector {
  const char* what;
  Fate fate;
  uint8_t pointer = 0;
  uint8_t count = 0;
  bool returning = false;
  uint8_t path_1 = 1;  // first entry of the initial and of the return path
  uint16_t slid = 0xffff;
  uint16_t dlid = 0xffff;
};

// Of an agent at port 1 of a channel adapter.
constexpr Vector kVectors[] = {
    {"no hop", Fate::kLocal},
    {"one hop", Fate::kWire, 0, 1},
    {"out of another port", Fate::kRefused, 0, 1, false, 2},
    {"out of no port", Fate::kRefused, 0, 1, false, 0},
    {"63 hops", Fate::kWire, 0, 63},
    {"64 hops", Fate::kRefused, 0, 64},
    {"255 hops", Fate::kRefused, 0, 255},
    {"in the middle", Fate::kRefused, 1, 2},
    {"at the end", Fate::kLocal, 1, 1},
    {"at the end, delivered", Fate::kLocal, 2, 1},
    {"no hop, delivered", Fate::kLocal, 1, 0},
    {"beyond the end", Fate::kRefused, 3, 1},
    {"no hop, then by LID", Fate::kRefused, 0, 0, false, 1, 0xffff, 7},
    {"at the end, then by LID", Fate::kRefused, 1, 1, false, 1, 0xffff, 7},
    {"one hop, then by LID", Fate::kWire, 0, 1, false, 1, 0xffff, 7},
    {"by LID, another port", Fate::kWire, 0, 1, false, 2, 7},
    {"by LID, 200 hops", Fate::kWire, 0, 200, false, 1, 7},
    {"answer, no hop", Fate::kLocal, 1, 0, true},
    {"answer, delivered", Fate::kLocal, 0, 0, true},
    {"answer, one hop", Fate::kWire, 2, 1, true},
    {"answer, out of another port", Fate::kRefused, 2, 1, true, 2},
    {"answer, in the middle", Fate::kRefused, 2, 2, true},
    {"answer, beyond the end", Fate::kRefused, 4, 2, true},
    {"answer, 64 hops", Fate::kRefused, 65, 64, true},
    {"answer, then by LID", Fate::kRefused, 1, 0, true, 1, 7},
    {"answer by LID, another port", Fate::kWire, 2, 1, true, 2, 0xffff, 7},
};

class DirectedSendTest : public HostTest {
 protected:
  static MadBytes Encode(const Vector& vector) {
    Smp smp{.mgmt_class = MgmtClass::kSubnetDirectedRoute,
            .method = vector.returning ? Method::kGetResp : Method::kGet,
            .direction = vector.returning,
            .hop_pointer = vector.pointer,
            .hop_count = vector.count,
            .attr_id = AttributeId::kNodeInfo,
            .dr_slid = wire::Lid{vector.slid},
            .dr_dlid = wire::Lid{vector.dlid}};
    smp.initial_path[1] = smp.return_path[1] = vector.path_1;
    MadBytes mad;
    wire::Encode(smp, mad);
    return mad;
  }

  Fate Send(Agent& agent, const Vector& vector) {
    port_.sent.clear();
    port_.local_requests.clear();
    const absl::Status status =
        agent.Send(MessageTo(wire::Lid::kPermissive, Encode(vector)));
    timers_.RunPending();
    if (!status.ok()) {
      EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
      EXPECT_THAT(port_.sent, IsEmpty());
      EXPECT_THAT(port_.local_requests, IsEmpty());
      return Fate::kRefused;
    }
    EXPECT_EQ(port_.sent.size() + port_.local_requests.size(), 1u);
    return port_.sent.empty() ? Fate::kLocal : Fate::kWire;
  }
};

// [smi_send_checks] [smi_send_checks_qp1]
TEST_F(DirectedSendTest, IsCheckedWhicheverQueuePairTheAgentHas) {
  for (const int qp : {0, 1}) {
    auto agent = Register({.qp = qp});
    for (const Vector& vector : kVectors) {
      EXPECT_EQ(Send(*agent, vector), vector.fate)
          << vector.what << ", QP" << qp;
    }
  }
}

// [smi_hop_pointer]
TEST_F(DirectedSendTest, MovesTheHopPointerUnlessTheFirstPartIsByLid) {
  auto agent = Register({.qp = 0});
  const auto pointer = [&](const Vector& vector) {
    EXPECT_EQ(Send(*agent, vector), Fate::kWire);
    return wire::Get<&Smp::hop_pointer>(port_.sent[0].mad);
  };
  EXPECT_EQ(pointer({"", Fate::kWire, 0, 1}), 1);
  EXPECT_EQ(pointer({"", Fate::kWire, 2, 1, true}), 1);
  EXPECT_EQ(pointer({"", Fate::kWire, 0, 1, false, 1, 7}), 0);
  EXPECT_EQ(pointer({"", Fate::kWire, 2, 1, true, 1, 0xffff, 7}), 2);
}

// [q0_dr_local]
TEST_F(DirectedSendTest, TheReplyOfTheSmaLooksAsIfFromThePermissiveLid) {
  port_.local = [](const Arrival& request, MadBytes& reply) {
    reply = request.mad;
    wire::Put<&Smp::method>(reply, Method::kGetResp);
    wire::Put<&Smp::direction>(reply, true);
    return LocalVerdict::kReply;
  };
  auto agent = Register({.qp = 0});
  OutgoingMessage message = MessageTo(wire::Lid{3}, Encode({"", Fate::kLocal}));
  message.to.sl = 5;
  message.to.path_bits = 1;
  message.to.pkey_index = 2;
  ASSERT_TRUE(agent->Send(message).ok());
  timers_.RunPending();
  ASSERT_THAT(client_.inbox, SizeIs(1));
  const IncomingMessage& got = client_.inbox[0];
  EXPECT_EQ(got.slid, wire::Lid::kPermissive);
  EXPECT_EQ(got.source_qpn, 0u);
  EXPECT_EQ(got.sl, 0);
  EXPECT_EQ(got.path_bits, 0);
  EXPECT_EQ(got.pkey_index, 2);
  EXPECT_FALSE(got.grh.has_value());
  const Smp reply = wire::Decode<Smp>(got.mad);
  EXPECT_EQ(reply.hop_pointer, 1);
  EXPECT_TRUE(reply.direction);
}

}  // namespace
}  // namespace ibemu::mad

#include "hca/mlx4/core/qp_context.h"

#include <gtest/gtest.h>

#include "hca/mlx4/core/verbs_attributes.h"

namespace ibemu::hca::mlx4 {
namespace {

namespace attribute = verbs::qp_attribute;
using prm::Opcode;
using verbs::QpState, verbs::QpType;

constexpr uint16_t kAllRates = 0xffff;

TEST(QpContextTest, PutsAnAddressWhereDatagramsAndConnectionsHaveIt) {
  verbs::QpAttributes attributes{};
  verbs::AddressAttributes& to = attributes.ah_attr;
  to.dlid = 0x1234;
  to.sl = 5;
  to.src_path_bits = 3;
  to.port_num = 2;
  to.static_rate = 2;  // 2.5 Gbit/s
  to.is_global = 1;
  to.grh.sgid_index = 7;
  to.grh.hop_limit = 9;
  to.grh.traffic_class = 0x11;
  to.grh.flow_label = 0x54321;
  to.grh.dgid[15] = 0x42;
  const prm::Mlx4Av vector = AddressVectorOf(to, kAllRates);
  EXPECT_EQ(vector.rlid, 0x1234);
  EXPECT_EQ(vector.sl, 5);
  EXPECT_EQ(vector.my_lid_path_bits, 3);
  EXPECT_EQ(vector.port, 2);
  EXPECT_EQ(vector.max_stat_rate, 7) << "codes begin at 5";
  EXPECT_TRUE(vector.grh);
  EXPECT_EQ(vector.mgid_index, 7);
  EXPECT_EQ(vector.flow_label, 0x54321u);
  EXPECT_EQ(vector.rgid[15], 0x42);

  attributes.port_num = 2;
  prm::QpContext context;
  SetAttributes(QpType::kRc, attributes, kAllRates, context);
  EXPECT_EQ(context.primary.rlid, 0x1234);
  EXPECT_EQ(context.primary.mgid_index, 7);
  EXPECT_EQ(context.primary.hop_limit, 9);
  EXPECT_EQ(prm::PortOfSchedQueue(context.primary.sched_queue), 2);
  EXPECT_EQ(prm::SlOfSchedQueue(context.primary.sched_queue), 5);
}

TEST(QpContextTest, TakesTheNextLowerRateThatTheAdapterHas) {
  const auto code = [](uint8_t rate, uint16_t supported) {
    verbs::AddressAttributes to{};
    to.static_rate = rate;
    return AddressVectorOf(to, supported).max_stat_rate;
  };
  EXPECT_EQ(code(0, kAllRates), 0) << "the port's own";
  EXPECT_EQ(code(2, 0), 7) << "2.5 Gbit/s, which all have";
  EXPECT_EQ(code(10, kAllRates), 15);
  EXPECT_EQ(code(7, 1 << 9 | 1 << 13), 9);
  for (uint8_t rate = 11; rate <= 18; ++rate) {
    EXPECT_EQ(code(rate, kAllRates), 15) << int{rate};
    EXPECT_EQ(code(rate, 0x7f7f), 14) << int{rate};
  }
}

TEST(QpContextTest, TellsReadsAsPowersOfTwoThatHoldThem) {
  for (const auto& [reads, log] :
       {std::pair{0, 0}, {1, 0}, {2, 1}, {3, 2}, {4, 2}, {5, 3}, {16, 4}}) {
    verbs::QpAttributes attributes{};
    attributes.max_rd_atomic = static_cast<uint8_t>(reads);
    attributes.max_dest_rd_atomic = static_cast<uint8_t>(reads);
    prm::QpContext context;
    SetAttributes(QpType::kRc, attributes, kAllRates, context);
    EXPECT_EQ(context.log_sra_max, log) << reads;
    EXPECT_EQ(context.log_rra_max, log) << reads;
    EXPECT_EQ(context.log_msg_max, kLogMaxMessage);
  }
}

TEST(QpContextTest, LetsPeersOfAnUnreliableConnectionWriteAtMost) {
  verbs::QpAttributes attributes{};
  attributes.qp_access_flags = verbs::access::kRemoteWrite |
                               verbs::access::kRemoteRead |
                               verbs::access::kRemoteAtomic;
  attributes.path_mtu = 3;
  attributes.max_dest_rd_atomic = 1;
  prm::QpContext context;
  SetAttributes(QpType::kUc, attributes, kAllRates, context);
  EXPECT_EQ(context.service, prm::QpService::kUc);
  EXPECT_EQ(context.mtu, 3);
  EXPECT_EQ(context.log_msg_max, kLogMaxMessage);
  EXPECT_TRUE(context.remote_write);
  EXPECT_FALSE(context.remote_read);
  EXPECT_FALSE(context.remote_atomic);
}

TEST(QpContextTest, FindsTheCommandOfATransition) {
  EXPECT_EQ(TransitionOf(QpState::kReset, QpState::kInit), Opcode::kRst2InitQp);
  EXPECT_EQ(TransitionOf(QpState::kReadyToSend, QpState::kError),
            Opcode::k2ErrQp);
  EXPECT_EQ(TransitionOf(QpState::kError, QpState::kReset), Opcode::k2RstQp);
  EXPECT_EQ(TransitionOf(QpState::kSendQueueError, QpState::kReadyToSend),
            Opcode::kSqErr2RtsQp);
  EXPECT_EQ(TransitionOf(QpState::kReset, QpState::kReadyToSend), std::nullopt);
}

TEST(QpContextTest, NamesOptionalComponents) {
  EXPECT_EQ(
      OptionalOf(Opcode::kRtr2RtsQp, attribute::kState | attribute::kSendPsn),
      0u);
  EXPECT_EQ(
      OptionalOf(Opcode::kInit2RtrQp, attribute::kQKey | attribute::kPKeyIndex),
      prm::kOptQKey | prm::kOptPKeyIndex);
  const auto mailbox = QpMailbox({}, prm::kOptQKey);
  EXPECT_EQ(mailbox[3], std::byte{prm::kOptQKey}) << "big-endian, and first";
}

TEST(QpContextTest, NamesThePortByItselfOnlyWhereNoPathBringsIt) {
  EXPECT_EQ(OptionalOf(Opcode::kInit2InitQp, attribute::kPort), 0u);
  EXPECT_EQ(OptionalOf(Opcode::kSqd2SqdQp, attribute::kPort),
            prm::kOptSchedQueue);
}

TEST(QpContextTest, GrantsReadsOnlyWithRoomForThem) {
  verbs::QpAttributes attributes{};
  attributes.qp_access_flags = verbs::access::kRemoteRead |
                               verbs::access::kRemoteWrite |
                               verbs::access::kRemoteAtomic;
  prm::QpContext context;
  SetAttributes(QpType::kRc, attributes, 0, context);
  EXPECT_TRUE(context.remote_write);
  EXPECT_FALSE(context.remote_read);
  EXPECT_FALSE(context.remote_atomic);
  attributes.max_dest_rd_atomic = 1;
  SetAttributes(QpType::kRc, attributes, 0, context);
  EXPECT_TRUE(context.remote_read);
  EXPECT_TRUE(context.remote_atomic);
  // So who says how many may come says the rights again.
  EXPECT_EQ(OptionalOf(Opcode::kInit2RtrQp, attribute::kMaxReadsHere),
            prm::kOptRraMax | prm::kOptRemoteRead | prm::kOptRemoteWrite |
                prm::kOptRemoteAtomic);
}

TEST(QpContextTest, StatesAreTheSameBothWays) {
  for (int i = 0; i <= static_cast<int>(QpState::kError); ++i) {
    const QpState state{static_cast<uint8_t>(i)};
    EXPECT_EQ(StateOf(ContextState(state)), state);
  }
  EXPECT_EQ(StateOf(prm::QpContextState::kSqDraining),
            QpState::kSendQueueDrain);
}

}  // namespace
}  // namespace ibemu::hca::mlx4

#include "hca/mlx4/qp_context.h"

#include <gtest/gtest.h>

#include "hca/mlx4/verbs_attributes.h"

namespace ibemu::hca::mlx4 {
namespace {

namespace attribute = verbs::qp_attribute;
using prm::Opcode;
using verbs::QpState, verbs::QpType;

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
  const prm::AddressVector vector = AddressVectorOf(to);
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
  SetAttributes(QpType::kReliable, attributes, context);
  EXPECT_EQ(context.primary.rlid, 0x1234);
  EXPECT_EQ(context.primary.mgid_index, 7);
  EXPECT_EQ(context.primary.hop_limit, 9);
  EXPECT_EQ(prm::PortOfSchedQueue(context.primary.sched_queue), 2);
  EXPECT_EQ(prm::SlOfSchedQueue(context.primary.sched_queue), 5);
}

TEST(QpContextTest, TellsReadsAsPowersOfTwoThatHoldThem) {
  for (const auto& [reads, log] :
       {std::pair{0, 0}, {1, 0}, {2, 1}, {3, 2}, {4, 2}, {5, 3}, {16, 4}}) {
    verbs::QpAttributes attributes{};
    attributes.max_rd_atomic = static_cast<uint8_t>(reads);
    attributes.max_dest_rd_atomic = static_cast<uint8_t>(reads);
    prm::QpContext context;
    SetAttributes(QpType::kReliable, attributes, context);
    EXPECT_EQ(context.log_sra_max, log) << reads;
    EXPECT_EQ(context.log_rra_max, log) << reads;
    EXPECT_EQ(context.log_msg_max, kLogMostMessage);
  }
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
  EXPECT_EQ(OptionalOf(attribute::kState | attribute::kSendPsn), 0u);
  EXPECT_EQ(OptionalOf(attribute::kQKey | attribute::kPKeyIndex),
            prm::kOptQKey | prm::kOptPKeyIndex);
  const auto mailbox = QpMailbox({}, prm::kOptQKey);
  EXPECT_EQ(mailbox[3], std::byte{prm::kOptQKey}) << "big-endian, and first";
}

TEST(QpContextTest, StatesAreTheSameBothWays) {
  for (int i = 0; i <= static_cast<int>(QpState::kError); ++i) {
    const QpState state{static_cast<uint8_t>(i)};
    EXPECT_EQ(StateOf(ContextState(state)), state);
  }
  EXPECT_EQ(StateOf(prm::QpState::kSqDraining), QpState::kSendQueueDrain);
}

}  // namespace
}  // namespace ibemu::hca::mlx4

#include "hca/model/mlx4/core/command_trace.h"

#include <cstddef>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "hca/prm/mlx4_events.h"
#include "hca/prm/mlx4_hca.h"
#include "hca/prm/mlx4_memory.h"
#include "hca/prm/mlx4_qp.h"
#include "mad/wire/mad_header.h"
#include "testing/virtual_timers.h"
#include "tests/hca/model/fake_driver.h"

namespace ibemu::hca::model {
namespace {

using prm::Opcode;
using ::testing::ElementsAre;
using ::testing::SizeIs;

template <wire::Structure T>
std::vector<std::byte> Mailbox(const T& value) {
  std::vector<std::byte> bytes;
  wire::Append(value, bytes);
  return bytes;
}

TEST(CommandTextTest, TellsNameModifiersAndHowItEnds) {
  EXPECT_EQ(CommandText({.opcode = Opcode::kQueryPort, .in_modifier = 1}),
            "QUERY_PORT poll in=0x1 op=0");
  EXPECT_EQ(CommandText({.opcode = Opcode::kNop,
                         .op_modifier = 3,
                         .in_modifier = 0x1f,
                         .by_event = true}),
            "NOP event in=0x1f op=3");
}

TEST(CommandTextTest, TellsARefusal) {
  EXPECT_EQ(CommandText({.opcode = Opcode::kCloseHca,
                         .status = prm::CommandStatus::kBadSysState}),
            "CLOSE_HCA poll in=0 op=0 status=BAD_SYS_STATE");
}

TEST(CommandTextTest, TellsTheNumberOfACommandWithoutName) {
  EXPECT_EQ(CommandText({.opcode = Opcode{0xabc}}),
            "? poll in=0 op=0 opcode=0xabc");
}

TEST(CommandTextTest, TellsAnInputParameterOnlyWhereItIsAValue) {
  EXPECT_EQ(CommandText({.opcode = Opcode::kSetIcmSize, .in_param = 0x4000}),
            "SET_ICM_SIZE poll in=0 op=0 value=0x4000");
  EXPECT_EQ(
      CommandText(
          {.opcode = Opcode::kInitPort, .in_modifier = 1, .in_param = 0x4000}),
      "INIT_PORT poll in=0x1 op=0");
}

TEST(CommandTextTest, TellsWhatIsNotZeroInTheMailbox) {
  prm::EqContext context;
  context.state = prm::kEqArmed;
  context.log_eq_size = 8;
  EXPECT_EQ(CommandText({.opcode = Opcode::kSw2HwEq,
                         .in_modifier = 4,
                         .inbox = Mailbox(context)}),
            "SW2HW_EQ poll in=0x4 op=0 st=0x9 log_eq_size=0x8");
}

TEST(CommandTextTest, TellsStructuresWithinStructures) {
  prm::InitHca init;
  init.tables.qpc = prm::TableWord(0x10000, 17);
  init.tables.check_ud_port = true;
  EXPECT_EQ(CommandText({.opcode = Opcode::kInitHca, .inbox = Mailbox(init)}),
            "INIT_HCA poll in=0 op=0 version=0x2 tables.udav_port_chk=0x1 "
            "tables.qpc_base_addr=0x10011");
}

TEST(CommandTextTest, TellsOfABusAddressOnlyThatItIsThere) {
  prm::CqContext context;
  context.db_record_addr = 0x123456780;
  EXPECT_EQ(
      CommandText({.opcode = Opcode::kSw2HwCq, .inbox = Mailbox(context)}),
      "SW2HW_CQ poll in=0 op=0 db_record_addr=bus");
}

TEST(CommandTextTest, TellsWhatIsInReservedBits) {
  std::vector<std::byte> mailbox = Mailbox(prm::EqContext{});
  mailbox[0x20] = std::byte{0x80};
  EXPECT_EQ(CommandText({.opcode = Opcode::kSw2HwEq, .inbox = mailbox}),
            "SW2HW_EQ poll in=0 op=0 ?0x20=0x80");
}

TEST(CommandTextTest, TellsAsManyMappingsAsThereAre) {
  std::vector<std::byte> mailbox;
  for (const uint64_t page : {0x40, 0x80, 0xc0}) {
    wire::Append(
        prm::VirtualPhysicalMapping{
            .virtual_page = page, .physical_page = 0x777, .log2size = 6},
        mailbox);
  }
  EXPECT_EQ(
      CommandText(
          {.opcode = Opcode::kMapIcm, .in_modifier = 2, .inbox = mailbox}),
      "MAP_ICM poll in=0x2 op=0 va=0x40 pa=bus log2size=0x6"
      " va=0x80 pa=bus log2size=0x6");
}

TEST(CommandTextTest, TellsTheOptionalComponentsOfAQueuePair) {
  std::vector<std::byte> mailbox(prm::kQpContextInMailbox);
  mailbox[3] = std::byte{prm::kOptQKey};
  prm::QpContext context;
  context.qkey = 0x80010000;
  context.primary.rgid[15] = 1;
  wire::Append(context, mailbox);
  EXPECT_EQ(CommandText({.opcode = Opcode::kInit2RtrQp,
                         .in_modifier = 0x48,
                         .inbox = mailbox}),
            "INIT2RTR_QP poll in=0x48 op=0 opt_param_mask=0x20"
            " primary_address_path.rgid=0x00000000000000000000000000000001"
            " q_key=0x80010000");
}

TEST(CommandTextTest, TellsAMadsHeader) {
  mad::MadHeader header;
  header.mgmt_class = mad::MgmtClass::kSubnetLidRouted;
  header.method = mad::Method::kGet;
  header.attr_id = mad::AttributeId::kPortInfo;
  header.attr_mod = 1;
  header.tid = 77;
  EXPECT_EQ(CommandText({.opcode = Opcode::kMadIfc,
                         .op_modifier = 3,
                         .in_modifier = 1,
                         .inbox = Mailbox(header)}),
            "MAD_IFC poll in=0x1 op=3 class=0x1 method=0x1 attribute=0x15"
            " modifier=0x1");
}

TEST(CommandTextTest, LeavesOutAMailboxThatCouldNotBeRead) {
  EXPECT_EQ(CommandText({.opcode = Opcode::kSw2HwEq}),
            "SW2HW_EQ poll in=0 op=0");
}

TEST(CommandTraceTest, WritesWhatSoftwareHadInItsMailbox) {
  testing::VirtualTimers timers;
  FakeDriver driver(timers);
  std::vector<std::string> lines;
  CommandTrace trace(
      [&lines](std::string_view text) { lines.emplace_back(text); });
  driver.device.AddObserver(trace);
  driver.Boot();
  ASSERT_THAT(lines, SizeIs(2));
  EXPECT_THAT(
      lines,
      ElementsAre(::testing::StartsWith("MAP_FA poll in=0x1 op=0 pa=bus log2"),
                  "RUN_FW poll in=0 op=0"));
}

TEST(CommandTraceTest, DoesNotTakeAnotherPagesBytesForTheMailbox) {
  testing::VirtualTimers timers;
  FakeDriver driver(timers);
  std::vector<std::string> lines;
  CommandTrace trace(
      [&lines](std::string_view text) { lines.emplace_back(text); });
  driver.device.AddObserver(trace);
  driver.machine.unmapped = driver.inbox;
  EXPECT_NE(driver.Map(Opcode::kMapFa, 1), prm::CommandStatus::kOk);
  EXPECT_THAT(lines,
              ElementsAre("MAP_FA poll in=0x1 op=0 status=INTERNAL_ERR"));
}

}  // namespace
}  // namespace ibemu::hca::model

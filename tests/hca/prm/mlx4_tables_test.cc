// The tables against the offsets that the Linux driver has as numbers.
#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstdint>

#include "hca/prm/mlx4_commands.h"
#include "hca/prm/mlx4_completion.h"
#include "hca/prm/mlx4_dev_cap.h"
#include "hca/prm/mlx4_events.h"
#include "hca/prm/mlx4_hca.h"
#include "hca/prm/mlx4_management.h"
#include "hca/prm/mlx4_memory.h"
#include "hca/prm/mlx4_qp.h"
#include "hca/prm/mlx4_query.h"
#include "hca/prm/mlx4_wqe.h"

namespace ibemu::hca::prm {
namespace {

// The bytes of a structure, as the driver looks at them.
template <wire::Structure T>
class Image {
 public:
  explicit Image(const T& value) { wire::Encode(value, bytes_); }
  uint8_t Byte(size_t offset) const {
    return static_cast<uint8_t>(bytes_[offset]);
  }
  uint16_t Half(size_t offset) const {
    return static_cast<uint16_t>(Byte(offset) << 8 | Byte(offset + 1));
  }
  uint32_t Word(size_t offset) const {
    return static_cast<uint32_t>(Half(offset)) << 16 | Half(offset + 2);
  }
  uint64_t Quad(size_t offset) const {
    return static_cast<uint64_t>(Word(offset)) << 32 | Word(offset + 4);
  }

 private:
  std::array<std::byte, wire::kBytes<T>> bytes_{};
};

TEST(Mlx4Tables, SwapThePartsOfTheFirmwaresVersion) {
  const Image image(QueryFw{.fw_pages = 0x100,
                            .fw_rev_major = 2,
                            .fw_rev_minor = 42,
                            .fw_rev_subminor = 5000,
                            .error_buf_start = 0x78000,
                            .error_buf_bar = 1});
  EXPECT_EQ(image.Quad(0), 0x0100000213880000u | 42);
  EXPECT_EQ(image.Quad(0x30), 0x78000u);
  EXPECT_EQ((image.Word(0x3c) >> 30) * 2, 2u) << "BAR 2";
}

TEST(Mlx4Tables, PutCapabilitiesWhereTheDriverReadsThem) {
  QueryDevCap cap;
  cap.log_rsvd_qp = 6;
  cap.log_max_qp = 19;
  cap.log_rsvd_srq = 6;
  cap.log_max_eq = 8;
  cap.num_ports = 2;
  cap.max_vl = 4;
  cap.flags = kDevCapRc | kDevCap64ByteCqe;
  cap.num_rsvd_uar = 1;
  cap.cqc_entry_sz = 128;
  cap.max_icm_sz = 1;
  const Image image(cap);
  EXPECT_EQ(image.Byte(0x12) & 0xf, 6);
  EXPECT_EQ(image.Byte(0x13) & 0x1f, 19);
  EXPECT_EQ(image.Byte(0x14) >> 4, 6);
  EXPECT_EQ(image.Byte(0x1f) & 0xf, 8);
  EXPECT_EQ(image.Byte(0x37), 0x42);
  EXPECT_EQ(image.Word(0x44), 1u);
  EXPECT_EQ(image.Word(0x40), 1u << 30);
  EXPECT_EQ(image.Byte(0x48) >> 4, 1);
  EXPECT_EQ(image.Half(0x8a), 128);
  EXPECT_EQ(image.Quad(0xa0), 1u);
}

TEST(Mlx4Tables, PutTheContextTablesWhereTheDriverWritesThem) {
  InitHca init;
  init.tables.qpc = TableWord(0x1000000, 18);
  init.tables.check_ud_port = true;
  init.tables.eqc = TableWord(0x2000, 7);
  init.tables.log_mc_hash_sz = 12;
  init.tables.mtt_base = 0x123400000;
  init.tables.log_max_uars = 11;
  const Image image(init);
  EXPECT_EQ(image.Byte(0x00), 2);
  EXPECT_EQ(image.Word(0x14), 1u);
  EXPECT_EQ(image.Byte(0x37), 18);
  EXPECT_EQ(image.Quad(0x30) & ~uint64_t{0x1f}, 0x1000000u);
  EXPECT_EQ(image.Byte(0x87), 7);
  EXPECT_EQ(image.Half(0xd6), 12);
  EXPECT_EQ(image.Quad(0x100), 0x123400000u);
  EXPECT_EQ(image.Byte(0x12a), 11);
}

TEST(Mlx4Tables, TurnKeysIntoIndexesAndBack) {
  EXPECT_EQ(KeyOfMpt(0x00000014), 0x1400u);
  EXPECT_EQ(KeyOfMpt(0x12000014), 0x1412u);
  EXPECT_EQ(MptOfKey(KeyOfMpt(0xabcdef01)), 0xabcdef01u);
}

TEST(Mlx4Tables, PutProtectionWhereTheDriverWritesIt) {
  Mpt entry;
  entry.status = MptStatus::kSoftware;
  entry.mio = entry.region = entry.physical = true;
  entry.local_read = entry.remote_write = true;
  entry.pd = 7;
  entry.invalidate_enable = 3;
  entry.mtt_addr = 0x1122334455667788;
  entry.entity_size = 12;
  const Image image(entry);
  EXPECT_EQ(image.Word(0x00),
            0xf0000000u | 1u << 17 | 1u << 9 | 1u << 8 | 1u << 10 | 1u << 13);
  EXPECT_EQ(image.Word(0x0c), 3u << 24 | 7);
  EXPECT_EQ(image.Quad(0x2c), 0x1122334455667788u);
  EXPECT_EQ(image.Word(0x38), 12u);
  const Image mtt(MttEntry{.page = 0x12345000 >> 3, .present = true});
  EXPECT_EQ(mtt.Quad(0), 0x12345001u);
}

TEST(Mlx4Tables, PutQueueContextsWhereTheDriverWritesThem) {
  EqContext events;
  events.state = kEqArmed;
  events.log_eq_size = 9;
  events.intr = 3;
  events.mtt_base_addr = 0x1122334450;
  const Image eq(events);
  EXPECT_EQ(eq.Word(0x00), 9u << 8);
  EXPECT_EQ(eq.Byte(0x0c), 9);
  EXPECT_EQ(eq.Byte(0x17), 3);
  EXPECT_EQ(eq.Byte(0x1b), 0x11);
  EXPECT_EQ(eq.Word(0x1c), 0x22334450u);
  CqContext completions;
  completions.log_cq_size = 8;
  completions.usr_page = 0x81;
  completions.comp_eqn = 5;
  completions.db_record_addr = 0x1000;
  const Image cq(completions);
  EXPECT_EQ(cq.Word(0x0c), 8u << 24 | 0x81);
  EXPECT_EQ(cq.Byte(0x17), 5);
  EXPECT_EQ(cq.Quad(0x38), 0x1000u);
}

TEST(Mlx4Tables, PutAQueuePairsContextWhereTheDriverWritesIt) {
  QpContext context;
  context.state = QpContextState::kInit;
  context.service = QpService::kMlx;
  context.pm_state = kPathMigrated;
  context.mtu = 4;
  context.log_msg_max = 11;
  context.log_rq_size = 9;
  context.log_rq_stride = 1;
  context.log_sq_size = 7;
  context.log_sq_stride = 5;
  context.primary.grh = true;
  context.primary.ack_timeout = 14;
  context.primary.sched_queue = SchedQueue(2, 3);
  context.retry_count = 7;
  context.rnr_retry = 6;
  context.log_sra_max = 4;
  context.remote_read = true;
  context.min_rnr_nak = 12;
  context.cqn_receive = 0x83;
  context.srq = true;
  context.srqn = 0x41;
  context.mtt_base_addr = 0x1122334450;
  const Image image(context);
  EXPECT_EQ(image.Word(0x00), 1u << 28 | 7u << 16 | 3u << 11);
  EXPECT_EQ(image.Byte(0x08), 4 << 5 | 11);
  EXPECT_EQ(image.Byte(0x09), 9 << 3 | 1);
  EXPECT_EQ(image.Byte(0x0a), 7 << 3 | 5);
  EXPECT_EQ(image.Byte(0x1d), 0x80);
  EXPECT_EQ(image.Byte(0x20), 14 << 3);
  EXPECT_EQ(image.Byte(0x38), 0x83 | 1 << 6 | 3 << 2);
  EXPECT_EQ(image.Word(0x70), 4u << 21 | 7u << 16 | 6u << 13);
  EXPECT_EQ(image.Word(0x90), 1u << 15);
  EXPECT_EQ(image.Word(0x94), 12u << 24);
  EXPECT_EQ(image.Word(0x9c), 0x83u);
  EXPECT_EQ(image.Word(0xac), 1u << 24 | 0x41);
  EXPECT_EQ(image.Byte(0xcb), 0x11);
  EXPECT_EQ(PortOfSchedQueue(image.Byte(0x38)), 2);
  EXPECT_EQ(SlOfSchedQueue(image.Byte(0x38)), 3);
}

TEST(Mlx4Tables, PutAnEntrysOwnerIntoItsLastByte) {
  EXPECT_EQ(Image(Eqe{.owner = true}).Byte(0x1f), 0x80);
  EXPECT_EQ(
      Image(Cqe{.owner = true, .is_send = true, .opcode = 0x0a}).Byte(0x1f),
      0xca);
  EXPECT_EQ(Image(ErrorCqe{.syndrome = CqeSyndrome::kFlushed}).Byte(0x1b),
            0x05);
  EXPECT_EQ(Image(Cqe{.byte_count = 296}).Word(0x14), 296u);
}

TEST(Mlx4Tables, PutEventsWhereTheDriverReadsThem) {
  const Image command(
      CommandEvent{.token = 0x1234, .status = 3, .out_param = 5});
  EXPECT_EQ(command.Half(2), 0x1234);
  EXPECT_EQ(command.Byte(0x0b), 3);
  EXPECT_EQ(command.Quad(0x0c), 5u);
  EXPECT_EQ(Image(PortChangeEvent{.port = 2}).Word(8), 2u << 28);
  const Image change(PortManagementEvent{
      .port = 1, .sm_lid = 2, .port_lid = 3, .changed = kLidChange});
  EXPECT_EQ(change.Byte(3), 1);
  EXPECT_EQ(change.Half(4), 2);
  EXPECT_EQ(change.Half(6), 3);
  EXPECT_EQ(change.Word(8), kLidChange);
}

TEST(Mlx4Tables, PutSegmentsWhereTheDriverWritesThem) {
  const Image control(ControlSegment{.owner = true,
                                     .opcode = WqeOpcode::kSend,
                                     .fence = true,
                                     .size = 5,
                                     .completion = kCompletionRequested,
                                     .solicited = true});
  EXPECT_EQ(control.Word(0), 0x8000000au);
  EXPECT_EQ(control.Byte(7), 1 << 6 | 5);
  EXPECT_EQ(control.Word(8), 3u << 2 | 1u << 1);
  const Image mlx(
      MlxSegment{.vl15 = true, .source_lid_given = true, .sl = 2, .rlid = 9});
  EXPECT_EQ(mlx.Word(8), 1u << 17 | 1u << 16 | 2u << 8);
  EXPECT_EQ(mlx.Half(12), 9);
  DatagramSegment datagram;
  datagram.address.port = 1;
  datagram.address.pd = 7;
  datagram.address.grh = true;
  datagram.address.sl = 4;
  datagram.remote_qpn = 0xffffff;
  datagram.qkey = 0x80010000;
  const Image ud(datagram);
  EXPECT_EQ(ud.Word(0), 1u << 24 | 7);
  EXPECT_EQ(ud.Byte(5), 0x80);
  EXPECT_EQ(ud.Word(12), 4u << 28);
  EXPECT_EQ(ud.Word(32), 0xffffffu);
  EXPECT_EQ(ud.Word(36), 0x80010000u);
  EXPECT_EQ(Image(InlineSegment{.byte_count = 44}).Word(0), 0x8000002cu);
  EXPECT_EQ(Image(CqDoorbell{.sequence = 1, .command = 2, .cqn = 0x83}).Word(0),
            1u << 28 | 2u << 24 | 0x83);
}

TEST(Mlx4Tables, PutManagementWhereTheDriverWritesIt) {
  const Image how(MadIfcExtension{
      .my_qpn = 0x40, .remote_qpn = 1, .sl = 3, .pkey_index = 2});
  EXPECT_EQ(how.Word(0), 0x40u);
  EXPECT_EQ(how.Word(8), 1u);
  EXPECT_EQ(how.Byte(12), 3 << 4);
  EXPECT_EQ(how.Half(18), 2);
  const Image group(McgHeader{.next_gid_index = 5, .member_count = 2});
  EXPECT_EQ(group.Word(0) >> 6, 5u);
  EXPECT_EQ(group.Word(4), 2u);
  EXPECT_EQ(Image(McgMember{.block_loopback = true, .qpn = 1}).Word(0),
            1u << 30 | 1);
  const Image port(SetPort{.change_mtu_cap = true,
                           .change_vl_cap = true,
                           .mtu_cap = 5,
                           .vl_cap = 8,
                           .capability_mask = 2});
  EXPECT_EQ(port.Word(0), 1u << 22 | 1u << 21 | 5u << 12 | 8u << 4);
  EXPECT_EQ(port.Word(4), 2u);
}

TEST(Mlx4Tables, NameCommandsAndStatuses) {
  EXPECT_EQ(Name(Opcode::kMadIfc), "MAD_IFC");
  EXPECT_EQ(Name(static_cast<Opcode>(0x7ff)), "?");
  EXPECT_EQ(Name(CommandStatus::kIcmError), "ICM_ERROR");
  EXPECT_EQ(Name(static_cast<CommandStatus>(0x7f)), "?");
}

}  // namespace
}  // namespace ibemu::hca::prm

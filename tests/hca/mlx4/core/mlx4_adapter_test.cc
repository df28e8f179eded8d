#include "hca/mlx4/core/mlx4_adapter.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "testing/mad_builder.h"
#include "testing/mlx4_machine.h"
#include "tests/hca/mlx4/troubled_function.h"

namespace ibemu::hca::mlx4 {
namespace {

using prm::CommandStatus, prm::Opcode;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using testing::HasStatusCode;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::Mlx4Lab, testing::Mlx4Machine;
using ::testing::Not;
using ::testing::SizeIs;
using Stage = model::mlx4::Firmware::Stage;

class Mlx4AdapterTest : public Mlx4Lab {
 protected:
  absl::StatusOr<std::unique_ptr<Mlx4Adapter>> StartAdapter() {
    return Mlx4Adapter::Start(*host_.function, timers_, Options());
  }
  // How many pages the commands of this kind gave.
  uint64_t PagesGiven(Opcode opcode) const {
    uint64_t pages = 0;
    for (const model::CommandRecord& record : host_.trace.records) {
      if (record.opcode != opcode) continue;
      constexpr size_t kBytes = wire::kBytes<prm::VirtualPhysicalMapping>;
      for (uint32_t i = 0; i < record.in_modifier; ++i) {
        const auto chunk = wire::Decode<prm::VirtualPhysicalMapping>(
            std::span(record.inbox).subspan(i * kBytes).first<kBytes>());
        pages += uint64_t{1} << chunk.log2size;
      }
    }
    return pages;
  }
  void ExpectNothingLeft() {
    EXPECT_EQ(host_.function->mapped(), 0u);
    EXPECT_EQ(host_.model.icm_pages(), 0u);
    EXPECT_EQ(host_.model.stage(), Stage::kReset);
    EXPECT_EQ(host_.function->faults(), 0);
    EXPECT_EQ(host_.model.violations(), 0);
  }

  Mlx4Machine& host_ = PlugIn();
};

TEST_F(Mlx4AdapterTest, IsBroughtUpInTheOrderOfTheLinuxDriver) {
  const auto adapter = StartAdapter();
  ASSERT_TRUE(adapter.ok()) << adapter.status();
  EXPECT_THAT(
      host_.trace.Names(),
      ElementsAre("QUERY_FW", "MAP_FA", "RUN_FW", "MOD_STAT_CFG",
                  "QUERY_DEV_CAP", "QUERY_PORT", "SET_ICM_SIZE", "MAP_ICM_AUX",
                  "MAP_ICM", "INIT_HCA", "QUERY_ADAPTER"));
  for (const model::CommandRecord& record : host_.trace.records) {
    EXPECT_EQ(record.status, CommandStatus::kOk) << prm::Name(record.opcode);
  }
  EXPECT_EQ(host_.model.stage(), Stage::kUp);
  EXPECT_EQ(VersionText((*adapter)->firmware().fw()), "2.42.5000");
  EXPECT_THAT(notes_, IsEmpty());
}

TEST_F(Mlx4AdapterTest, GivesFirmwareItsMemoryInPieces) {
  // Then firmware wants more than a piece for its tables about the tables.
  host_.model.limits().c_mpt_entry_sz = 256;
  TroubledFunction function(*host_.function);
  function.longest_piece = kDmaPiece;
  const auto adapter = Mlx4Adapter::Start(function, timers_, Options());
  ASSERT_TRUE(adapter.ok()) << adapter.status();
  constexpr uint64_t kPieceInPages = kDmaPiece / prm::kIcmPageBytes;
  EXPECT_EQ(PagesGiven(Opcode::kMapFa), 1542u);
  EXPECT_GT(PagesGiven(Opcode::kMapIcmAux), kPieceInPages);
  EXPECT_EQ(host_.function->faults(), 0);
}

TEST_F(Mlx4AdapterTest, GivesFirmwareNoMoreThanAGigabyte) {
  constexpr uint64_t kGigabyte = (uint64_t{1} << 30) / prm::kIcmPageBytes;
  EXPECT_THAT(AllocatePages(*host_.function, kGigabyte + 1),
              HasStatusCode(absl::StatusCode::kResourceExhausted));
  EXPECT_THAT(AllocatePages(*host_.function, ~uint64_t{0}),
              HasStatusCode(absl::StatusCode::kResourceExhausted));
  const auto some = AllocatePages(*host_.function, 513);
  ASSERT_TRUE(some.ok()) << some.status();
  EXPECT_THAT(*some, SizeIs(2));
}

TEST_F(Mlx4AdapterTest, DoesNotTryToResetWhatIsGone) {
  TroubledFunction function(*host_.function);
  const auto adapter = Mlx4Adapter::Start(function, timers_, Options());
  ASSERT_TRUE(adapter.ok()) << adapter.status();
  function.gone = true;
  const absl::Time start = timers_.Now();
  const absl::Status health = (*adapter)->health().Check();
  EXPECT_EQ(health.code(), absl::StatusCode::kUnavailable);
  (*adapter)->CutOff(health);
  EXPECT_EQ(timers_.Now(), start);
  EXPECT_THAT(notes_, ElementsAre(AllOf(
                          HasSubstr("does not answer on the bus any more"),
                          Not(HasSubstr("reset")))));
}

TEST_F(Mlx4AdapterTest, DoesWithoutACommandThatOldFirmwareDoesNotKnow) {
  host_.model.faults().Refuse(Opcode::kModStatCfg, CommandStatus::kBadOp);
  const auto adapter = StartAdapter();
  EXPECT_TRUE(adapter.ok()) << adapter.status();
}

TEST_F(Mlx4AdapterTest, GoesDownTheOtherWayAndLeavesNothingMapped) {
  auto adapter = StartAdapter();
  ASSERT_TRUE(adapter.ok()) << adapter.status();
  EXPECT_GT(host_.function->mapped(), 0u);
  host_.trace.records.clear();
  adapter->reset();
  EXPECT_THAT(host_.trace.Names(), ElementsAre("CLOSE_HCA", "UNMAP_ICM",
                                               "UNMAP_ICM_AUX", "UNMAP_FA"));
  ExpectNothingLeft();
  EXPECT_THAT(notes_, IsEmpty());
}

TEST_F(Mlx4AdapterTest, CanBeStartedAgain) {
  for (int i = 0; i < 3; ++i) {
    auto adapter = StartAdapter();
    ASSERT_TRUE(adapter.ok()) << adapter.status();
  }
  ExpectNothingLeft();
  EXPECT_THAT(notes_, IsEmpty()) << "each gave the owner semaphore back";
}

TEST_F(Mlx4AdapterTest, UndoesWhatItDidBeforeAnError) {
  for (const Opcode opcode :
       {Opcode::kQueryFw, Opcode::kMapFa, Opcode::kRunFw, Opcode::kQueryDevCap,
        Opcode::kQueryPort, Opcode::kSetIcmSize, Opcode::kMapIcmAux,
        Opcode::kMapIcm, Opcode::kInitHca, Opcode::kQueryAdapter}) {
    SCOPED_TRACE(prm::Name(opcode));
    host_.model.faults().Refuse(opcode, CommandStatus::kBadParam);
    const auto adapter = StartAdapter();
    EXPECT_THAT(adapter, HasStatusCode(absl::StatusCode::kInternal));
    EXPECT_THAT(std::string(adapter.status().message()),
                HasSubstr(std::string(prm::Name(opcode))));
    EXPECT_THAT(std::string(adapter.status().message()),
                HasSubstr("BAD_PARAM"));
    ExpectNothingLeft();
  }
  EXPECT_TRUE(StartAdapter().ok()) << "nothing is wrong with it";
}

TEST_F(Mlx4AdapterTest, ResetsAnAdapterWhoseFirmwareHangsOnTheWayUp) {
  host_.model.faults().Hang(Opcode::kInitHca);
  EXPECT_THAT(StartAdapter(),
              HasStatusCode(absl::StatusCode::kDeadlineExceeded));
  ExpectNothingLeft();
  EXPECT_THAT(notes_, Contains(HasSubstr("INIT_HCA")));
  EXPECT_TRUE(StartAdapter().ok());
}

TEST_F(Mlx4AdapterTest, ResetsAnAdapterWhoseFirmwareHangsOnTheWayDown) {
  auto adapter = StartAdapter();
  ASSERT_TRUE(adapter.ok()) << adapter.status();
  host_.model.faults().Hang(Opcode::kCloseHca);
  adapter->reset();
  ExpectNothingLeft();
  EXPECT_THAT(notes_, Contains(HasSubstr("CLOSE_HCA")));
}

TEST_F(Mlx4AdapterTest, TakesOverFromAnOwnerThatWasKilled) {
  // It never gets to its destructor; its machine keeps its memory.
  auto killed = StartAdapter();
  ASSERT_TRUE(killed.ok()) << killed.status();
  Mlx4Adapter* const left = killed->release();
  {
    model::InProcessFunction next(host_.model);
    const auto adapter = Mlx4Adapter::Start(next, timers_, Options());
    ASSERT_TRUE(adapter.ok()) << adapter.status();
    EXPECT_THAT(notes_, ElementsAre(HasSubstr("owner semaphore")));
    EXPECT_EQ(host_.model.stage(), Stage::kUp);
    EXPECT_EQ(next.faults(), 0) << "the reset made it forget what it had";
  }
  // For the leak checker: the adapter is another machine's by now.
  left->CutOff(absl::UnavailableError("killed"));
  delete left;
}

TEST_F(Mlx4AdapterTest, SaysWhichDevicesItDrives) {
  EXPECT_TRUE(CheckDevice(0x15b3, 0x1003).ok());
  EXPECT_TRUE(CheckDevice(0x15b3, 0x673c).ok());
  const absl::Status connectx5 = CheckDevice(0x15b3, 0x1017);
  EXPECT_EQ(connectx5.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(connectx5.message()), HasSubstr("ConnectX-3"));
  EXPECT_FALSE(CheckDevice(0x8086, 0x1003).ok());
  EXPECT_THAT(std::string(CheckDevice(0x15b3, 0x1004).message()),
              AllOf(HasSubstr("virtual function"),
                    HasSubstr("\"ls -l /sys/bus/pci/devices/*/physfn\""),
                    HasSubstr("-device vfio-pci,host=")));
}

TEST_F(Mlx4AdapterTest, RefusesPortsInEthernetMode) {
  prm::QueryPort port;
  port.supported_type = prm::PortType::kEthernet;
  const absl::Status refused = CheckPort(2, port, "0000:3b:00.0");
  EXPECT_EQ(refused.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(refused.message()),
              HasSubstr("\"mstconfig -d 0000:3b:00.0 set LINK_TYPE_P2=1\""));
  port.supported_type = static_cast<prm::PortType>(3);  // either
  EXPECT_TRUE(CheckPort(1, port, "0000:3b:00.0").ok());

  host_.model.SetPortType(1, prm::PortType::kEthernet);
  const auto adapter = StartAdapter();
  EXPECT_THAT(adapter, HasStatusCode(absl::StatusCode::kFailedPrecondition));
  EXPECT_THAT(std::string(adapter.status().message()),
              HasSubstr("mstconfig -d 0000:3b:00.0 set LINK_TYPE_P1=1"));
  ExpectNothingLeft();
  host_.model.SetPortType(1, prm::PortType::kInfiniBand);
  EXPECT_TRUE(StartAdapter().ok()) << "it was given back";
}

TEST_F(Mlx4AdapterTest, RefusesFirmwareInSecureHostMode) {
  host_.model.faults().SecureHost();
  EXPECT_TRUE(StartAdapter().ok()) << "older firmware has no way to tell";
  host_.model.limits().mad_demux = true;
  const auto adapter = StartAdapter();
  EXPECT_THAT(adapter, HasStatusCode(absl::StatusCode::kFailedPrecondition));
  EXPECT_THAT(std::string(adapter.status().message()),
              HasSubstr("\"mstflint -d 0000:3b:00.0 hw_access enable\""));
  ExpectNothingLeft();
}

TEST_F(Mlx4AdapterTest, AsksFirmwareWhetherItIsInSecureHostMode) {
  host_.model.limits().mad_demux = true;
  const auto adapter = StartAdapter();
  ASSERT_TRUE(adapter.ok()) << adapter.status();
  EXPECT_EQ(host_.trace.Names().back(), "MAD_DEMUX");
  prm::MadDemuxRestrictions some{.set = 1, .get_response = 1, .trap = 1};
  EXPECT_TRUE(CheckHostAccess(some, "0000:3b:00.0").ok());
}

TEST_F(Mlx4AdapterTest, RefusesFirmwareThatItDoesNotKnow) {
  prm::QueryFw fw;
  fw.cmd_interface_rev = 2;
  const absl::Status refused = CheckFirmware(fw, "0000:3b:00.0");
  EXPECT_EQ(refused.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(refused.message()),
              HasSubstr("mstflint -d 0000:3b:00.0 query"));
  prm::QueryDevCap caps;
  caps.num_ports = 1;
  caps.log_page_sz = 12;
  EXPECT_TRUE(CheckCaps(caps).ok());
  caps.log_page_sz = 16;
  EXPECT_EQ(CheckCaps(caps).code(), absl::StatusCode::kFailedPrecondition);
}

}  // namespace
}  // namespace ibemu::hca::mlx4

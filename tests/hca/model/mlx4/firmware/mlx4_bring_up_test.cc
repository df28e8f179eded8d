// From power-on to INIT_HCA, and back.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "tests/hca/model/fake_driver.h"

namespace ibemu::hca::model {
namespace {

using prm::Opcode;
using Status = prm::CommandStatus;

// What firmware does not offer at all.
const std::set<Opcode> kNever = {Opcode::kSensePort, Opcode::kReadMtt};

class Mlx4BringUp : public ::testing::Test {
 protected:
  // With a modifier that the command has, and at this stage.
  void ExpectAllRefused(const std::set<Opcode>& but_these) {
    for (const Opcode opcode : AllOpcodes()) {
      if (but_these.contains(opcode)) continue;
      const uint8_t op_modifier =
          opcode == Opcode::k2RstQp ? prm::kFromAnyState : uint8_t{0};
      EXPECT_EQ(driver_.Ask(opcode, 1, op_modifier),
                kNever.contains(opcode) ? Status::kBadOp : Status::kBadSysState)
          << prm::Name(opcode);
    }
  }

  testing::VirtualTimers timers_;
  FakeDriver driver_{timers_};
};

TEST_F(Mlx4BringUp, IsAConnectX3) {
  EXPECT_EQ(driver_.device.ReadConfig(0, 4), 0x100315b3u);
  EXPECT_EQ(driver_.device.BarSize(0), size_t{1} << 20);
  EXPECT_EQ(driver_.device.BarSize(2), size_t{8} << 20);
}

TEST_F(Mlx4BringUp, TellsItsFirmwareBeforeItRuns) {
  ASSERT_EQ(driver_.Ask(Opcode::kQueryFw), Status::kOk);
  const auto info = driver_.Out<prm::QueryFw>();
  EXPECT_EQ(info.fw_rev_major, 2);
  EXPECT_EQ(info.fw_rev_minor, 42);
  EXPECT_EQ(info.fw_rev_subminor, 5000);
  EXPECT_EQ(info.cmd_interface_rev, 3);
  EXPECT_EQ(info.error_buf_start, mlx4::kErrorBuffer);
}

TEST_F(Mlx4BringUp, TakesNothingElseBeforeTheFirmwareRuns) {
  const std::set<Opcode> early = {Opcode::kQueryFw, Opcode::kMapFa,
                                  Opcode::kRunFw, Opcode::kUnmapFa};
  ExpectAllRefused(early);
}

TEST_F(Mlx4BringUp, TakesNoObjectsBeforeItIsInitialised) {
  driver_.Boot();
  driver_.MapTables();
  const std::set<Opcode> settling = {
      Opcode::kQueryFw,      Opcode::kUnmapFa,     Opcode::kQueryDevCap,
      Opcode::kQueryAdapter, Opcode::kQueryPort,   Opcode::kModStatCfg,
      Opcode::kSetIcmSize,   Opcode::kUnmapIcmAux, Opcode::kMapIcmAux,
      Opcode::kInitHca,      Opcode::kMapIcm,      Opcode::kUnmapIcm,
      Opcode::kNop};
  ExpectAllRefused(settling);
  EXPECT_EQ(driver_.Ask(Opcode::kNop), Status::kOk);
}

// Nor the modifiers that are left for the future.
TEST_F(Mlx4BringUp, TakesNoModifierThatACommandDoesNotHave) {
  for (const Opcode opcode : AllOpcodes()) {
    if (opcode == Opcode::kMadIfc) continue;  // has all four bits
    EXPECT_EQ(driver_.Ask(opcode, 1, 15), Status::kBadOp) << prm::Name(opcode);
  }
}

TEST_F(Mlx4BringUp, RunsTheFirmwareOnlyInTheMemoryItWants) {
  EXPECT_EQ(driver_.Command(Opcode::kRunFw), Status::kBadSysState);
  driver_.Map(Opcode::kMapFa, 1024);
  EXPECT_EQ(driver_.Command(Opcode::kRunFw), Status::kBadSysState);
  driver_.Map(Opcode::kMapFa, 1024);
  EXPECT_EQ(driver_.Map(Opcode::kMapFa, 1), Status::kBadSysState)
      << "that is enough";
  EXPECT_EQ(driver_.Command(Opcode::kRunFw), Status::kOk);
  EXPECT_EQ(driver_.Command(Opcode::kRunFw), Status::kBadSysState);
}

TEST_F(Mlx4BringUp, TellsWhatItHasOnceTheFirmwareRuns) {
  driver_.Boot();
  ASSERT_EQ(driver_.Ask(Opcode::kQueryDevCap), Status::kOk);
  const auto cap = driver_.Out<prm::QueryDevCap>();
  EXPECT_EQ(cap.num_ports, 1);
  EXPECT_EQ(cap.flags & prm::kDevCapRc, prm::kDevCapRc);
  ASSERT_EQ(driver_.Ask(Opcode::kQueryAdapter), Status::kOk);
  EXPECT_EQ(driver_.Out<prm::QueryAdapter>().vsd[prm::kVsdBoardId + 3], 'I');
  ASSERT_EQ(driver_.Ask(Opcode::kQueryPort, 1), Status::kOk);
  const auto port = driver_.Out<prm::QueryPort>();
  EXPECT_EQ(port.supported_type, prm::PortType::kInfiniBand);
  EXPECT_EQ(port.ib_mtu, 5);
  EXPECT_EQ(port.log_max_gid, 3);
  EXPECT_EQ(port.max_vl, 8);
  EXPECT_EQ(driver_.Ask(Opcode::kQueryPort, 2), Status::kBadParam);
}

TEST_F(Mlx4BringUp, HasAsManyPortsAsWires) {
  FakeDriver two(timers_, 2);
  two.Boot();
  two.cables[1].info.mtu_cap = 4;
  two.Ask(Opcode::kQueryDevCap);
  EXPECT_EQ(two.Out<prm::QueryDevCap>().num_ports, 2);
  ASSERT_EQ(two.Ask(Opcode::kQueryPort, 2), Status::kOk);
  EXPECT_EQ(two.Out<prm::QueryPort>().ib_mtu, 4);
  EXPECT_EQ(two.Ask(Opcode::kQueryPort, 3), Status::kBadParam);
}

TEST_F(Mlx4BringUp, TellsAPortsIdentity) {
  driver_.Boot();
  driver_.cables[0].gid0 = 0x0002c90300000102;
  EXPECT_EQ(driver_.Ask(Opcode::kModStatCfg), Status::kOk);
  ASSERT_EQ(
      driver_.Ask(Opcode::kModStatCfg, 1 << 8, prm::kQueryStaticConfiguration),
      Status::kOk);
  const auto identity = driver_.Out<prm::StaticConfiguration>();
  EXPECT_EQ(identity.uplink_guid_high, 0x0002c903u);
  EXPECT_EQ(identity.uplink_guid_low, 0x00000102u);
  EXPECT_EQ(
      driver_.Ask(Opcode::kModStatCfg, 2 << 8, prm::kQueryStaticConfiguration),
      Status::kBadParam);
  EXPECT_EQ(driver_.Ask(Opcode::kModStatCfg, 0, 1), Status::kBadOp);
}

TEST_F(Mlx4BringUp, HasPagesOf4KibAndNoLargerOnes) {
  driver_.Boot();
  prm::PageSizeConfiguration wanted{.change_page_size = 1};
  EXPECT_EQ(driver_.Give(Opcode::kModStatCfg, 0, wanted), Status::kOk);
  wanted.log_page_size = 1;
  EXPECT_EQ(driver_.Give(Opcode::kModStatCfg, 0, wanted), Status::kBadParam);
  wanted.change_page_size = 0;
  EXPECT_EQ(driver_.Give(Opcode::kModStatCfg, 0, wanted), Status::kOk);
}

TEST_F(Mlx4BringUp, RefusesWhatItDoesNotKnow) {
  driver_.Boot();
  EXPECT_EQ(driver_.Ask(static_cast<Opcode>(0x7ff)), Status::kBadOp);
  EXPECT_EQ(driver_.Ask(Opcode::kSensePort), Status::kBadOp);
  EXPECT_EQ(driver_.Ask(Opcode::kQueryFw, 0, 1), Status::kBadOp);
}

TEST_F(Mlx4BringUp, RefusesAMailboxWhereNoneCanBe) {
  EXPECT_EQ(driver_.Command(Opcode::kQueryFw, 0, 0, 0, driver_.outbox + 8),
            Status::kBadParam);
  EXPECT_EQ(driver_.Command(Opcode::kQueryFw, 0, 0, 0, 0x7700001000),
            Status::kInternalError);
}

TEST_F(Mlx4BringUp, MapsContextMemoryOnlyWithItsAuxiliaryPages) {
  driver_.Boot();
  EXPECT_EQ(driver_.Map(Opcode::kMapIcmAux, 1), Status::kBadSysState);
  ASSERT_EQ(driver_.Command(Opcode::kSetIcmSize, 0, 0, 1 << 20), Status::kOk);
  const uint64_t wanted = driver_.out_value;
  EXPECT_GT(wanted, 0u);
  EXPECT_EQ(driver_.Map(Opcode::kMapIcm, 1, 0), Status::kIcmError);
  ASSERT_EQ(driver_.Map(Opcode::kMapIcmAux, wanted), Status::kOk);
  EXPECT_EQ(driver_.Map(Opcode::kMapIcm, 1, 0), Status::kOk);
  EXPECT_EQ(driver_.Map(Opcode::kMapIcm, 2, 0), Status::kIcmError);
  EXPECT_EQ(driver_.Map(Opcode::kMapIcm, 1, 1 << 20), Status::kIcmError);
  EXPECT_EQ(driver_.device.icm_pages(), 1u);
}

// Where firmware can't reach an end of what it is lent, it says so at once.
TEST_F(Mlx4BringUp, BorrowsNoMemoryThatIsNotThere) {
  const auto lend = [this](Opcode opcode, uint64_t address) {
    return driver_.Give(opcode, 1,
                        prm::VirtualPhysicalMapping{
                            .physical_page = address >> 12, .log2size = 1});
  };
  const uint64_t last = FakePciHost::kBase + FakePciHost::kBytes - 8192;
  driver_.machine.unmapped = last + 4096;
  EXPECT_EQ(lend(Opcode::kMapFa, last), Status::kInternalError);
  driver_.Boot();
  driver_.Command(Opcode::kSetIcmSize, 0, 0, 1 << 20);
  const uint64_t wanted = driver_.out_value;
  EXPECT_EQ(lend(Opcode::kMapIcmAux, last), Status::kInternalError);
  EXPECT_EQ(driver_.Map(Opcode::kMapIcmAux, wanted), Status::kOk);
  EXPECT_EQ(lend(Opcode::kMapIcm, last), Status::kInternalError);
  EXPECT_EQ(driver_.device.icm_pages(), 0u);
  driver_.machine.unmapped = 0;
  EXPECT_EQ(lend(Opcode::kMapIcm, last), Status::kOk);
  EXPECT_EQ(driver_.device.icm_pages(), 2u);
}

TEST_F(Mlx4BringUp, SetsNoSizeBeyondItsLimit) {
  driver_.Boot();
  EXPECT_EQ(driver_.Command(Opcode::kSetIcmSize, 0, 0, uint64_t{1} << 41),
            Status::kExceedLimit);
}

TEST_F(Mlx4BringUp, RefusesChunksThatAreNotAlignedOrTooMany) {
  driver_.Boot();
  EXPECT_EQ(driver_.Give(Opcode::kSetIcmSize, 0, prm::VirtualPhysicalMapping{}),
            Status::kOk);
  EXPECT_EQ(driver_.Give(
                Opcode::kMapIcmAux, 1,
                prm::VirtualPhysicalMapping{.physical_page = 1, .log2size = 1}),
            Status::kBadParam);
  EXPECT_EQ(
      driver_.Give(Opcode::kMapIcmAux, 257, prm::VirtualPhysicalMapping{}),
      Status::kBadParam);
}

TEST_F(Mlx4BringUp, InitialisesOnceAndAgainAfterItWasClosed) {
  ASSERT_EQ(driver_.Initialise(), Status::kOk);
  const prm::InitHca again{.tables = FakeDriver::Tables()};
  EXPECT_EQ(driver_.Give(Opcode::kInitHca, 0, again), Status::kBadSysState);
  ASSERT_EQ(driver_.Ask(Opcode::kQueryHca), Status::kOk);
  EXPECT_EQ(driver_.Out<prm::QueryHca>().tables.mtt_base,
            FakeDriver::Tables().mtt_base);
  EXPECT_EQ(driver_.Command(Opcode::kCloseHca), Status::kOk);
  EXPECT_EQ(driver_.Command(Opcode::kCloseHca), Status::kBadSysState);
  EXPECT_EQ(driver_.Give(Opcode::kInitHca, 0, again), Status::kOk);
}

TEST_F(Mlx4BringUp, RefusesTablesWithoutMemoryOrBeyondItsLimits) {
  driver_.Boot();
  prm::InitHca wanted{.tables = FakeDriver::Tables()};
  EXPECT_EQ(driver_.Give(Opcode::kInitHca, 0, wanted), Status::kIcmError);
  driver_.MapTables();
  wanted.tables.qpc = prm::TableWord(0, 20);
  EXPECT_EQ(driver_.Give(Opcode::kInitHca, 0, wanted), Status::kExceedLimit);
  wanted.tables = FakeDriver::Tables();
  wanted.tables.cqe_64 = true;
  EXPECT_EQ(driver_.Give(Opcode::kInitHca, 0, wanted), Status::kBadParam);
  wanted.tables = FakeDriver::Tables();
  wanted.version = 1;
  EXPECT_EQ(driver_.Give(Opcode::kInitHca, 0, wanted), Status::kBadParam);
}

TEST_F(Mlx4BringUp, RefusesMulticastGroupsOfOddSizes) {
  driver_.Boot();
  driver_.MapTables();
  prm::InitHca wanted{.tables = FakeDriver::Tables()};
  for (const uint8_t log_entry : {5, 13}) {
    wanted.tables.log_mc_entry_sz = log_entry;
    EXPECT_EQ(driver_.Give(Opcode::kInitHca, 0, wanted), Status::kBadParam);
  }
  wanted.tables = FakeDriver::Tables();
  wanted.tables.log_mc_hash_sz = 7;
  EXPECT_EQ(driver_.Give(Opcode::kInitHca, 0, wanted), Status::kBadParam)
      << "more hashes than groups";
  wanted.tables = FakeDriver::Tables();
  wanted.tables.log_mc_table_sz = 14;
  EXPECT_EQ(driver_.Give(Opcode::kInitHca, 0, wanted), Status::kExceedLimit);
}

TEST_F(Mlx4BringUp, RefusesTablesThatLieUponEachOther) {
  driver_.Boot();
  driver_.MapTables();
  prm::InitHca wanted{.tables = FakeDriver::Tables()};
  wanted.tables.auxc_base = wanted.tables.altc_base + 4096;
  EXPECT_EQ(driver_.Give(Opcode::kInitHca, 0, wanted), Status::kBadParam);
  wanted.tables = FakeDriver::Tables();
  wanted.tables.cmpt_base = wanted.tables.mtt_base;
  EXPECT_EQ(driver_.Give(Opcode::kInitHca, 0, wanted), Status::kBadParam);
}

TEST_F(Mlx4BringUp, WantsMemoryForAllMulticastGroups) {
  driver_.Boot();
  driver_.MapTables();
  const prm::InitHca wanted{.tables = FakeDriver::Tables()};
  const uint64_t last_page = wanted.tables.mc_base + 4096;
  ASSERT_EQ(driver_.Command(Opcode::kUnmapIcm, 1, 0, last_page), Status::kOk);
  EXPECT_EQ(driver_.Give(Opcode::kInitHca, 0, wanted), Status::kIcmError);
}

TEST_F(Mlx4BringUp, WantsToBeAskedForItsSizeEachTime) {
  driver_.Boot();
  EXPECT_EQ(driver_.Command(Opcode::kSetIcmSize, 0, 0, 0),
            Status::kExceedLimit);
  ASSERT_EQ(driver_.Command(Opcode::kSetIcmSize, 0, 0, 1 << 20), Status::kOk);
  ASSERT_EQ(driver_.Map(Opcode::kMapIcmAux, driver_.out_value), Status::kOk);
  EXPECT_EQ(driver_.Command(Opcode::kSetIcmSize, 0, 0, 1 << 20),
            Status::kBadSysState);
  driver_.Command(Opcode::kUnmapIcmAux);
  driver_.Command(Opcode::kUnmapFa);
  driver_.Boot();
  EXPECT_EQ(driver_.Map(Opcode::kMapIcmAux, 64), Status::kBadSysState);
}

TEST_F(Mlx4BringUp, FaultsWhereItsMemoryWasTakenAwayTooEarly) {
  driver_.Boot();
  driver_.Command(Opcode::kSetIcmSize, 0, 0, 1 << 20);
  driver_.Map(Opcode::kMapIcmAux, driver_.out_value);
  driver_.machine.unmapped = driver_.auxiliary_area;
  EXPECT_EQ(driver_.Command(Opcode::kUnmapIcmAux), Status::kInternalError);
  driver_.machine.unmapped = driver_.firmware_area;
  EXPECT_EQ(driver_.Command(Opcode::kUnmapIcmAux), Status::kOk);
  EXPECT_EQ(driver_.Command(Opcode::kUnmapFa), Status::kInternalError);
  EXPECT_EQ(driver_.machine.faults, 2);
  driver_.machine.unmapped = 0;
  EXPECT_EQ(driver_.Command(Opcode::kUnmapFa), Status::kOk);
}

TEST_F(Mlx4BringUp, ComesDownInTheOrderItCameUp) {
  ASSERT_EQ(driver_.Initialise(), Status::kOk);
  EXPECT_EQ(driver_.Command(Opcode::kUnmapFa), Status::kBadSysState);
  EXPECT_EQ(driver_.Command(Opcode::kUnmapIcmAux), Status::kBadSysState);
  ASSERT_EQ(driver_.Command(Opcode::kCloseHca), Status::kOk);
  EXPECT_EQ(driver_.Command(Opcode::kUnmapIcmAux), Status::kBadSysState);
  EXPECT_EQ(driver_.Command(Opcode::kUnmapIcm, 0, 0, 0), Status::kBadParam);
  EXPECT_EQ(driver_.Command(Opcode::kUnmapIcm, 1, 0, 256), Status::kBadParam);
  ASSERT_EQ(driver_.Command(Opcode::kUnmapIcm, 1u << 22, 0, 0), Status::kOk);
  EXPECT_EQ(driver_.device.icm_pages(), 0u);
  EXPECT_EQ(driver_.Command(Opcode::kUnmapFa), Status::kBadSysState);
  ASSERT_EQ(driver_.Command(Opcode::kUnmapIcmAux), Status::kOk);
  ASSERT_EQ(driver_.Command(Opcode::kUnmapFa), Status::kOk);
  EXPECT_EQ(driver_.device.stage(), mlx4::Firmware::Stage::kReset);
  EXPECT_EQ(driver_.Command(Opcode::kRunFw), Status::kBadSysState);
}

TEST_F(Mlx4BringUp, HasAnOwnerUntilItGivesUp) {
  EXPECT_EQ(driver_.ReadControl(prm::kOwner), 0u);
  EXPECT_EQ(driver_.ReadControl(prm::kOwner), 1u);
  driver_.WriteControl(prm::kOwner, 0);
  EXPECT_EQ(driver_.ReadControl(prm::kOwner), 0u);
}

TEST_F(Mlx4BringUp, ForgetsEverythingInASoftwareReset) {
  ASSERT_EQ(driver_.Initialise(), Status::kOk);
  driver_.WriteControl(prm::kReset, prm::kResetValue);
  EXPECT_EQ(driver_.device.stage(), mlx4::Firmware::Stage::kUp)
      << "without the semaphore nothing happens";
  ASSERT_EQ(driver_.ReadControl(prm::kResetSemaphore), 0u);
  EXPECT_EQ(driver_.ReadControl(prm::kResetSemaphore), 1u);
  driver_.WriteControl(prm::kReset, prm::kResetValue);
  EXPECT_EQ(driver_.ReadControl(prm::kOwner), 0xffffffffu) << "it is busy";
  timers_.RunFor(ConnectX3Model::kResetTime);
  EXPECT_EQ(driver_.device.stage(), mlx4::Firmware::Stage::kReset);
  EXPECT_EQ(driver_.ReadControl(prm::kOwner), 0u);
  // It is no bus master any more.
  EXPECT_EQ(driver_.Ask(Opcode::kQueryFw), Status::kInternalError);
  driver_.EnableFunction();
  EXPECT_EQ(driver_.Ask(Opcode::kQueryFw), Status::kOk);
}

TEST_F(Mlx4BringUp, KeepsATraceOfItsCommands) {
  driver_.Command(Opcode::kRunFw);
  driver_.Ask(Opcode::kQueryFw);
  EXPECT_THAT(driver_.trace, ::testing::ElementsAre(
                                 CommandRecord{.opcode = Opcode::kRunFw,
                                               .status = Status::kBadSysState},
                                 CommandRecord{.opcode = Opcode::kQueryFw,
                                               .in_param = driver_.inbox}));
}

TEST_F(Mlx4BringUp, FaultsAsOftenWithATraceAsWithoutOne) {
  driver_.Boot();
  const auto faults = [this] {
    driver_.machine.faults = 0;
    driver_.Command(Opcode::kMapIcmAux, 1, 0, 0x7700001000);
    driver_.Command(Opcode::kInitHca, 0, 0, 0x7700001000);
    return driver_.machine.faults;
  };
  const int with_trace = faults();
  driver_.StopTrace();
  EXPECT_EQ(faults(), with_trace);
  EXPECT_EQ(with_trace, 1) << "the first comes too early to be read";
}

TEST_F(Mlx4BringUp, CountsWhatItRefuses) {
  driver_.Boot();
  EXPECT_EQ(driver_.device.refusals(), 0);
  driver_.Ask(Opcode::kQueryHca);
  EXPECT_EQ(driver_.device.refusals(), 1);
}

TEST_F(Mlx4BringUp, CountsACommandWhoseToggleIsThatOfTheOneBefore) {
  driver_.Ask(Opcode::kQueryFw);
  driver_.toggle = !driver_.toggle;
  driver_.Ask(Opcode::kQueryFw);
  EXPECT_EQ(driver_.device.violations(), 1);
}

TEST_F(Mlx4BringUp, GivesTheRegisterBackWithItsToggle) {
  driver_.Ask(Opcode::kQueryFw);
  const uint32_t first = driver_.ReadControl(prm::kHcr + prm::kHcrStatus);
  driver_.Ask(Opcode::kQueryFw);
  const uint32_t second = driver_.ReadControl(prm::kHcr + prm::kHcrStatus);
  EXPECT_EQ(first & prm::kHcrGo, 0u);
  EXPECT_EQ((first ^ second) & prm::kHcrToggle, prm::kHcrToggle);
}

TEST_F(Mlx4BringUp, FailsWhenATestWantsIt) {
  driver_.device.faults().Refuse(Opcode::kQueryFw, Status::kBadNvmem);
  EXPECT_EQ(driver_.Ask(Opcode::kQueryFw), Status::kBadNvmem);
  EXPECT_EQ(driver_.Ask(Opcode::kQueryFw), Status::kOk);
  driver_.device.faults().Hang(Opcode::kQueryFw);
  driver_.Ask(Opcode::kQueryFw);
  EXPECT_NE(driver_.ReadControl(prm::kHcr + prm::kHcrStatus) & prm::kHcrGo, 0u);
  EXPECT_EQ(driver_.device.violations(), 0);
  driver_.Ask(Opcode::kQueryFw);
  EXPECT_GT(driver_.device.violations(), 0)
      << "the register is the adapter's while GO is set";
}

TEST_F(Mlx4BringUp, ShowsACatastropheInItsErrorBuffer) {
  EXPECT_EQ(driver_.ReadControl(mlx4::kErrorBuffer), 0u);
  driver_.device.Fail(0xdead);
  EXPECT_EQ(driver_.ReadControl(mlx4::kErrorBuffer), 0xdeadu);
  driver_.Ask(Opcode::kQueryFw);
  EXPECT_NE(driver_.ReadControl(prm::kHcr + prm::kHcrStatus) & prm::kHcrGo, 0u);
}

}  // namespace
}  // namespace ibemu::hca::model

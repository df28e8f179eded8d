// Memory that work requests register and invalidate, as the kernel's storage
// protocols do for each command.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/hca/model/mlx4/transport/mlx4_connection.h"

namespace ibemu::hca::model {
namespace {

using prm::CqeSyndrome;
using prm::WqeOpcode;

constexpr uint32_t kFree = 21;
constexpr uint32_t kUse = kFree << 8 | 0x5a;  // its key, one time
constexpr uint64_t kStart = 0x7000'0123;
constexpr uint32_t kMtts = 4;
constexpr uint64_t kPage = 4096;

class Mlx4FastRegister : public Mlx4Connection {
 protected:
  Mlx4FastRegister() : Mlx4Connection(prm::QpService::kRc) {
    pages_ = there_.machine.Allocate(kMtts * kPage);
    list_ = there_.machine.Allocate(kPage);
    Give(FreeEntry());
  }

  static prm::Mpt FreeEntry() {
    return FakeDriver::FreeRegion(kFree, FakeHost::kPd, kMtts);
  }
  void Give(prm::Mpt entry) {
    entry.mtt_addr = there_.MakeBuffer(kMtts * kPage).mtt;
    there_.Command(prm::Opcode::kHw2SwMpt, kFree, 1);
    ASSERT_EQ(there_.Give(prm::Opcode::kSw2HwMpt, kFree, entry),
              prm::CommandStatus::kOk);
  }
  // The pages, the last one first.
  prm::FastRegisterSegment Segment(uint64_t length) {
    for (uint64_t i = 0; i < kMtts; ++i) {
      there_.machine.Put(list_ + i * 8, prm::MttEntry{.page = PageAt(i) >> 3,
                                                      .present = true});
    }
    return {.local_write = true,
            .remote_write = true,
            .key = kUse,
            .page_list = list_,
            .start = kStart,
            .length = length,
            .log_page_size = 12};
  }
  uint64_t PageAt(uint64_t i) const { return pages_ + (kMtts - 1 - i) * kPage; }
  void Register(const prm::FastRegisterSegment& segment) {
    there_.Post(kQpn, Control(WqeOpcode::kFastRegister), Concat(segment));
  }
  void InvalidateLocally(uint32_t key) {
    there_.Post(kQpn, Control(WqeOpcode::kLocalInvalidate),
                Concat(prm::LocalInvalidateSegment{.key = key}));
  }
  void SendWithInvalidate(uint32_t key, uint32_t bytes = 8) {
    prm::ControlSegment control = Control(WqeOpcode::kSendInvalidate);
    control.immediate = key;
    here_.Post(kQpn, control, Concat(FakeHost::At(0, bytes)));
  }
  CqeSyndrome Write(uint32_t bytes) {
    here_.Post(
        kQpn, Control(WqeOpcode::kRdmaWrite),
        Concat(prm::RemoteAddressSegment{.address = kStart, .rkey = kUse},
               FakeHost::At(0, bytes)));
    Run();
    return here_.NextSyndrome(FakeHost::kSendCq);
  }
  CqeSyndrome Ends() { return there_.NextSyndrome(FakeHost::kSendCq); }

  uint64_t pages_ = 0, list_ = 0;
};

TEST_F(Mlx4FastRegister, OpensTheListedPages) {
  const std::string text = Pattern(5000);
  here_.Fill(0, text);
  Register(Segment(5000));
  const prm::Cqe done = there_.NextCqe(FakeHost::kSendCq);
  EXPECT_EQ(done.opcode, static_cast<uint8_t>(WqeOpcode::kFastRegister));
  EXPECT_EQ(Write(5000), CqeSyndrome::kNone);
  std::string found;
  for (uint64_t i = 0; i < 2; ++i) {
    for (const std::byte byte : there_.machine.Bytes(PageAt(i), kPage)) {
      found.push_back(static_cast<char>(byte));
    }
  }
  EXPECT_EQ(found.substr(kStart % kPage, 5000), text);
}

TEST_F(Mlx4FastRegister, OpensNoByteMore) {
  Register(Segment(5000));
  EXPECT_EQ(Write(5001), CqeSyndrome::kRemoteAccess);
}

TEST_F(Mlx4FastRegister, GivesTheRightsThatItNames) {
  prm::FastRegisterSegment segment = Segment(5000);
  segment.remote_write = false;
  Register(segment);
  ASSERT_EQ(Ends(), CqeSyndrome::kNone);
  EXPECT_EQ(Write(8), CqeSyndrome::kRemoteAccess);
}

TEST_F(Mlx4FastRegister, EndsWithALocalInvalidate) {
  Register(Segment(5000));
  InvalidateLocally(kUse);
  ASSERT_EQ(Ends(), CqeSyndrome::kNone);
  const prm::Cqe done = there_.NextCqe(FakeHost::kSendCq);
  EXPECT_EQ(done.opcode, static_cast<uint8_t>(WqeOpcode::kLocalInvalidate));
  EXPECT_EQ(Write(8), CqeSyndrome::kRemoteAccess);
}

TEST_F(Mlx4FastRegister, EndsWithThePeersMessage) {
  Register(Segment(5000));
  for (const uint32_t bytes : {8u, 3000u}) {  // in one packet and in several
    there_.PostReceive(kQpn, {FakeHost::At(0, 4096)});
    SendWithInvalidate(kUse, bytes);
    Run();
    EXPECT_EQ(here_.NextSyndrome(FakeHost::kSendCq), CqeSyndrome::kNone);
    const prm::Cqe came = there_.NextCqe(FakeHost::kReceiveCq);
    EXPECT_EQ(came.opcode, prm::kReceivedSendInvalidate);
    EXPECT_EQ(came.immediate, kUse);
    EXPECT_EQ(came.byte_count, bytes);
    Register(Segment(5000));  // it is free again
  }
  for (int i = 0; i < 3; ++i) EXPECT_EQ(Ends(), CqeSyndrome::kNone);
}

TEST_F(Mlx4FastRegister, WaitsForWhatWasPostedBefore) {
  there_.Post(kQpn, Control(WqeOpcode::kRdmaRead),
              Concat(Remote(0), FakeHost::At(0, 8)));
  Register(Segment(5000));
  EXPECT_TRUE(there_.Empty(FakeHost::kSendCq));
  Run();
  EXPECT_EQ(there_.NextCqe(FakeHost::kSendCq).wqe_counter, 0);
  EXPECT_EQ(there_.NextCqe(FakeHost::kSendCq).wqe_counter, 1);
}

TEST_F(Mlx4FastRegister, IsRefusedForARegionThatIsInUse) {
  Register(Segment(5000));
  Register(Segment(5000));
  EXPECT_EQ(Ends(), CqeSyndrome::kNone);
  EXPECT_EQ(Ends(), CqeSyndrome::kWindowBind);
  EXPECT_EQ(there_.Query(kQpn).state, prm::QpContextState::kError);
}

TEST_F(Mlx4FastRegister, IsRefusedByAQueuePairThatDoesNotEnableIt) {
  prm::QpContext context = Context(there_, 5);
  context.fast_register = false;
  constexpr uint32_t kOther = kQpn + 1;
  ASSERT_EQ(there_.Create(kOther, context), prm::CommandStatus::kOk);
  there_.ToRts(kOther, context);
  there_.Post(kOther, Control(WqeOpcode::kFastRegister), Concat(Segment(5000)));
  EXPECT_EQ(Ends(), CqeSyndrome::kWindowBind);
}

TEST_F(Mlx4FastRegister, IsRefusedWhereTheRegionIsOfAnotherKind) {
  std::vector<prm::Mpt> entries(4, FreeEntry());
  entries[0].fast_register_enable = false;
  entries[1].pd = FakeHost::kPd + 1;
  entries[2].mtt_sz = 1;
  entries[3].mtt_sz = 0;
  for (const prm::Mpt& entry : entries) {
    Give(entry);
    Register(Segment(5000));
    EXPECT_EQ(Ends(), CqeSyndrome::kWindowBind);
    there_.Command(prm::Opcode::k2RstQp, kQpn, 2);
    Connect(there_, 5);
  }
}

TEST_F(Mlx4FastRegister, IsRefusedForPagesThatCanNotBe) {
  std::vector<prm::FastRegisterSegment> segments(5, Segment(5000));
  segments[0].log_page_size = 11;
  segments[1].log_page_size = 64;
  segments[2].length = ~uint64_t{0};
  segments[3].page_list = 8;  // where the host has no memory
  segments[4].key = 255 << 8;
  for (const prm::FastRegisterSegment& segment : segments) {
    Register(segment);
    EXPECT_EQ(Ends(), CqeSyndrome::kWindowBind);
    there_.Command(prm::Opcode::k2RstQp, kQpn, 2);
    Connect(there_, 5);
  }
}

TEST_F(Mlx4FastRegister, IsRefusedForAllOfTheHostsMemory) {
  prm::Mpt entry = FreeEntry();
  entry.physical = true;
  there_.Command(prm::Opcode::kHw2SwMpt, kFree, 1);
  EXPECT_EQ(there_.Give(prm::Opcode::kSw2HwMpt, kFree, entry),
            prm::CommandStatus::kBadParam);
}

TEST_F(Mlx4FastRegister, GivesNoAtomicsThatTheRegionDoesNotEnable) {
  prm::Mpt entry = FreeEntry();
  entry.remote_atomic_enable = false;
  Give(entry);
  prm::FastRegisterSegment segment = Segment(5000);
  segment.atomic = true;
  Register(segment);
  EXPECT_EQ(Ends(), CqeSyndrome::kWindowBind);
}

TEST_F(Mlx4FastRegister, KeysOfOrdinaryRegionsCanNotBeInvalidated) {
  InvalidateLocally(FakeHost::kKey);
  EXPECT_EQ(Ends(), CqeSyndrome::kWindowBind);
}

TEST_F(Mlx4FastRegister, KeysOfAnEarlierUseCanNotBeInvalidated) {
  Register(Segment(5000));
  InvalidateLocally(kUse - 1);
  EXPECT_EQ(Ends(), CqeSyndrome::kNone);
  EXPECT_EQ(Ends(), CqeSyndrome::kWindowBind);
}

TEST_F(Mlx4FastRegister, APeerThatInvalidatesWhatItMayNotHearsNothing) {
  there_.PostReceive(kQpn, {FakeHost::At(0, 64)});
  SendWithInvalidate(FakeHost::kKey);
  Run(absl::Milliseconds(60));
  EXPECT_EQ(there_.NextSyndrome(FakeHost::kReceiveCq),
            CqeSyndrome::kRemoteInvalidRequest);
  EXPECT_EQ(there_.Query(kQpn).state, prm::QpContextState::kError);
  EXPECT_EQ(here_.NextSyndrome(FakeHost::kSendCq),
            CqeSyndrome::kTransportRetryExceeded);
}

}  // namespace
}  // namespace ibemu::hca::model

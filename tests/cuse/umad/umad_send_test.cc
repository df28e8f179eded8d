#include "tests/cuse/umad/umad_fixture.h"

namespace ibemu::cuse {
namespace {

class UmadSendTest : public UmadTest {
 protected:
  UmadSendTest() {
    EXPECT_EQ(Register(Request()), Errno::kOk);
    EXPECT_EQ(Register(Request()), Errno::kOk);
  }

  uint64_t LastTid() { return testing::HeaderOf(port_.sent.back().mad).tid; }

  // An answer to whoever asked with `tid`.
  static mad::MadBytes Response(uint64_t tid) {
    return testing::MakeMad({.mgmt_class = mad::MgmtClass::kPerformance,
                             .method = mad::Method::kGetResp,
                             .tid = tid});
  }
};

// [write_sizes_noagent]
TEST_F(UmadSendTest, AWriteNeedsAHeaderAndTheStartOfAMad) {
  const std::vector<std::byte> written = UmadRequest(1);
  const mad::Bytes bytes(written);
  EXPECT_EQ(umad_.Write(bytes.first(kOldUmadHeader + 35)), Errno::kInvalid);
  EXPECT_EQ(umad_.Write(bytes.first(kOldUmadHeader + 36)), Errno::kOk);
}

// [write_bad_id] [write_sizes_noagent]
TEST_F(UmadSendTest, AnAgentThatIsNotThereIsAnIoError) {
  EXPECT_EQ(umad_.Write(UmadRequest(1, 2)), Errno::kIo);
  EXPECT_EQ(umad_.Write(UmadRequest(1, 31)), Errno::kIo);
  EXPECT_EQ(umad_.Write(UmadRequest(1, 32)), Errno::kInvalid);
  EXPECT_EQ(umad_.Write(UmadRequest(1, 0xffffffff)), Errno::kInvalid);

  // The size is looked at first.
  const std::vector<std::byte> written = UmadRequest(1, 2);
  EXPECT_EQ(umad_.Write(mad::Bytes(written).first(kOldUmadHeader + 35)),
            Errno::kInvalid);

  // An agent that is no longer there is not there.
  ASSERT_EQ(Unregister(1), Errno::kOk);
  EXPECT_EQ(umad_.Write(UmadRequest(1, 1)), Errno::kIo);
}

// [qkey_ignored] [dest_qpn] [write_address]
TEST_F(UmadSendTest, TheAddressIsTheHeaders) {
  ib_user_mad_hdr header = HeaderTo(kPeer);
  header.sl = 3;
  header.path_bits = 1;
  header.qpn = htobe32(0x123456);
  header.qkey = htobe32(0x1234);  // ignored: it is the queue pair's
  header.status = 7;              // ignored, as is this
  header.length = 1;
  ASSERT_EQ(umad_.Write(Umad(header, PerfGet(1))), Errno::kOk);
  const mad::AddressVector& to = port_.sent.back().to;
  EXPECT_EQ(to.dlid, kPeer);
  EXPECT_EQ(to.sl, 3);
  EXPECT_EQ(to.path_bits, 1);
  EXPECT_EQ(to.qpn, 0x123456u);
  EXPECT_EQ(to.qkey, 0x80010000u);
  EXPECT_FALSE(to.grh.has_value());
}

// [tid_hi]
TEST_F(UmadSendTest, RequestsCarryTheirAgentInTheHighHalfOfTheTid) {
  ASSERT_EQ(umad_.Write(UmadRequest(0xffff'ffff'0000'0005)), Errno::kOk);
  const uint64_t first = LastTid();
  ASSERT_EQ(umad_.Write(UmadRequest(5, /*agent=*/1)), Errno::kOk);
  EXPECT_EQ(first & 0xffffffff, 5u);
  EXPECT_EQ(LastTid() & 0xffffffff, 5u);
  EXPECT_NE(mad::HighTid(first), 0xffffffffu);
  EXPECT_NE(mad::HighTid(first), mad::HighTid(LastTid()));
}

// [tid_hi] [tid_of_response]
TEST_F(UmadSendTest, AnswersKeepTheirTid) {
  const uint64_t tid = 0x1122'3344'5566'7788;
  ASSERT_EQ(umad_.Write(Umad(HeaderTo(kPeer), Response(tid))), Errno::kOk);
  EXPECT_EQ(LastTid(), tid);
}

// [write_lengths*]
TEST_F(UmadSendTest, WhatThePortRefusesFailsAndLeavesNothing) {
  ib_user_mad_hdr header = HeaderTo(kPeer);
  header.timeout_ms = 1000;
  const mad::MadBytes long_mad = PerfGet(5);
  std::vector<std::byte> written = Umad(header, long_mad);
  written.push_back({});  // 257 bytes of MAD
  EXPECT_EQ(umad_.Write(written), Errno::kInvalid);
  EXPECT_EQ(umad_.Write(UmadRequest(5)), Errno::kOk);  // no duplicate
}

}  // namespace
}  // namespace ibemu::cuse

#include "tests/cuse/umad_fixture.h"

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

TEST_F(UmadSendTest, AWriteNeedsAHeaderAndTheStartOfAMad) {
  const std::vector<std::byte> written = UmadRequest(1);
  const mad::Bytes bytes(written);
  EXPECT_EQ(umad_.Write(bytes.first(kOldUmadHeader + 35)), Errno::kInvalid);
  EXPECT_EQ(umad_.Write(bytes.first(kOldUmadHeader + 36)), Errno::kOk);
}

TEST_F(UmadSendTest, AnAgentThatIsNotThereIsAnIoError) {
  EXPECT_EQ(umad_.Write(UmadRequest(1, 2)), Errno::kIo);
  EXPECT_EQ(umad_.Write(UmadRequest(1, 32)), Errno::kInvalid);
}

TEST_F(UmadSendTest, TheAddressIsTheHeaders) {
  ib_user_mad_hdr header = HeaderTo(kPeer);
  header.sl = 3;
  header.path_bits = 1;
  header.qkey = htobe32(0x1234);  // ignored: it is the queue pair's
  ASSERT_EQ(umad_.Write(Umad(header, PerfGet(1))), Errno::kOk);
  const mad::AddressVector& to = port_.sent.back().to;
  EXPECT_EQ(to.dlid, kPeer);
  EXPECT_EQ(to.sl, 3);
  EXPECT_EQ(to.path_bits, 1);
  EXPECT_EQ(to.qpn, 1u);
  EXPECT_EQ(to.qkey, 0x80010000u);
  EXPECT_FALSE(to.grh.has_value());
}

TEST_F(UmadSendTest, RequestsCarryTheirAgentInTheHighHalfOfTheTid) {
  ASSERT_EQ(umad_.Write(UmadRequest(0xffff'ffff'0000'0005)), Errno::kOk);
  const uint64_t first = LastTid();
  ASSERT_EQ(umad_.Write(UmadRequest(5, /*agent=*/1)), Errno::kOk);
  EXPECT_EQ(first & 0xffffffff, 5u);
  EXPECT_EQ(LastTid() & 0xffffffff, 5u);
  EXPECT_NE(mad::HighTid(first), 0xffffffffu);
  EXPECT_NE(mad::HighTid(first), mad::HighTid(LastTid()));
}

TEST_F(UmadSendTest, AnswersKeepTheirTid) {
  const uint64_t tid = 0x1122'3344'5566'7788;
  ASSERT_EQ(umad_.Write(Umad(HeaderTo(kPeer), Response(tid))), Errno::kOk);
  EXPECT_EQ(LastTid(), tid);
}

TEST_F(UmadSendTest, ASecondRequestOfTheSameTidMustWaitForTheFirst) {
  ASSERT_EQ(umad_.Write(UmadRequest(5)), Errno::kOk);
  EXPECT_EQ(umad_.Write(UmadRequest(5)), Errno::kInvalid);
  EXPECT_EQ(umad_.Write(UmadRequest(6)), Errno::kOk);
  EXPECT_EQ(umad_.Write(UmadRequest(5, /*agent=*/1)), Errno::kOk);

  timers_.RunFor(absl::Seconds(1));  // it times out; nobody has read that yet
  EXPECT_EQ(umad_.Write(UmadRequest(5)), Errno::kOk);
}

TEST_F(UmadSendTest, ARequestWithoutATimeoutIsOverAtOnce) {
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(umad_.Write(Umad(HeaderTo(kPeer), PerfGet(5))), Errno::kOk);
    Settle();
  }
}

TEST_F(UmadSendTest, AnswersOfOneTidMayGoToTwoPlaces) {
  ib_user_mad_hdr header = HeaderTo(kPeer);
  header.timeout_ms = 1000;
  EXPECT_EQ(umad_.Write(Umad(header, Response(5))), Errno::kOk);
  EXPECT_EQ(umad_.Write(Umad(header, Response(5))), Errno::kInvalid);
  header.lid = htobe16(9);
  EXPECT_EQ(umad_.Write(Umad(header, Response(5))), Errno::kOk);
}

TEST_F(UmadSendTest, UnregisteringForgetsWhatWasSent) {
  ASSERT_EQ(umad_.Write(UmadRequest(5)), Errno::kOk);
  ASSERT_EQ(Unregister(0), Errno::kOk);
  timers_.RunFor(absl::Seconds(10));
  EXPECT_EQ(umad_.Read(1024).error, Errno::kTryAgain);  // no timeout packet
}

TEST_F(UmadSendTest, ATimeoutComesBackWithTheWritersHeader) {
  ib_user_mad_hdr header = HeaderTo(kPeer);
  header.timeout_ms = 100;
  header.retries = 2;
  header.length = 4711;
  header.qkey = 0x55;
  ASSERT_EQ(umad_.Write(Umad(header, PerfGet(5))), Errno::kOk);
  timers_.RunFor(absl::Milliseconds(299));
  EXPECT_EQ(file_.Poll(), unsigned{kIdle});
  EXPECT_EQ(port_.sent.size(), 3u);
  timers_.RunFor(absl::Milliseconds(1));
  EXPECT_EQ(file_.Poll(), unsigned{kReadable});

  EXPECT_EQ(umad_.Read(kOldUmadHeader + 23).error, Errno::kInvalid);
  const FileDriver::Answer answer = umad_.Read(kOldUmadHeader + 24);
  ASSERT_EQ(answer.data.size(), kOldUmadHeader + 24);
  header.status = ETIMEDOUT;
  EXPECT_EQ(std::memcmp(answer.data.data(), &header, kOldUmadHeader), 0);
  EXPECT_EQ(TidIn(answer.data), LastTid());
}

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

// What a reader gets when no answer came.
#include "tests/cuse/umad/umad_fixture.h"

namespace ibemu::cuse {
namespace {

class UmadTimeoutTest : public UmadTest {
 protected:
  UmadTimeoutTest() {
    EXPECT_EQ(Register(Request()), Errno::kOk);
    EXPECT_EQ(Register(Request()), Errno::kOk);
  }

  // A request that waits for so long.
  std::vector<std::byte> Query(uint64_t tid, uint32_t timeout_ms,
                               uint32_t agent = 0) {
    ib_user_mad_hdr header = HeaderTo(kPeer, agent);
    header.timeout_ms = timeout_ms;
    return Umad(header, PerfGet(tid));
  }
};

// [timeout_packet] [retries] [rx_header] [timeout_packet_old]
TEST_F(UmadTimeoutTest, ATimeoutComesBackWithTheWritersHeader) {
  ib_user_mad_hdr header = HeaderTo(kPeer);
  header.timeout_ms = 100;
  header.retries = 2;
  header.status = 99;
  header.length = 4711;
  header.qkey = 0x55;
  header.sl = 3;
  header.path_bits = 1;
  ASSERT_EQ(umad_.Write(Umad(header, PerfGet(5))), Errno::kOk);
  timers_.RunFor(absl::Milliseconds(299));
  EXPECT_EQ(file_.Poll(), unsigned{kUmadIdle});
  ASSERT_EQ(port_.sent.size(), 3u);
  EXPECT_EQ(port_.sent[1].mad, port_.sent[0].mad);
  EXPECT_EQ(port_.sent[2].mad, port_.sent[0].mad);
  timers_.RunFor(absl::Milliseconds(1));
  EXPECT_EQ(file_.Poll(), unsigned{kUmadReadable});
  EXPECT_EQ(umad_.events, 1);

  EXPECT_EQ(umad_.Read(kOldUmadHeader + 23).error, Errno::kInvalid);
  const FileDriver::Answer answer = umad_.Read(kOldUmadHeader + 24);
  ASSERT_EQ(answer.data.size(), kOldUmadHeader + 24);
  header.status = ETIMEDOUT;
  EXPECT_EQ(std::memcmp(answer.data.data(), &header, kOldUmadHeader), 0);
  // As it was sent: with the agent's half of the TID.
  EXPECT_EQ(
      std::memcmp(&answer.data[kOldUmadHeader], port_.sent[0].mad.data(), 24),
      0);
}

// [timeout_packet]
TEST_F(UmadTimeoutTest, InTheNewLayoutItHas88Bytes) {
  UmadFile file(host_, 1);
  FileDriver umad(file);
  ib_user_mad_reg_req2 request{};
  request.qpn = 1;
  ASSERT_EQ(Register(umad, request), Errno::kOk);
  ib_user_mad_hdr header = HeaderTo(kPeer);
  header.timeout_ms = 100;
  header.pkey_index = 1;
  ASSERT_EQ(umad.Write(Umad(header, PerfGet(5), kUmadHeader)), Errno::kOk);
  timers_.RunFor(absl::Milliseconds(100));
  EXPECT_EQ(umad.Read(87).error, Errno::kInvalid);
  const FileDriver::Answer answer = umad.Read(88);
  ASSERT_EQ(answer.data.size(), 88u);
  header.status = ETIMEDOUT;
  EXPECT_EQ(std::memcmp(answer.data.data(), &header, kUmadHeader), 0);
}

// [timeout0_response] [timeout0]
TEST_F(UmadTimeoutTest, WithoutATimeoutThereIsNoRetryNoPacketAndNoAnswer) {
  ib_user_mad_hdr header = HeaderTo(kPeer);
  header.retries = 5;
  ASSERT_EQ(umad_.Write(Umad(header, PerfGet(5))), Errno::kOk);
  timers_.RunFor(absl::Hours(1));
  EXPECT_EQ(port_.sent.size(), 1u);
  port_.Receive(AnswerTo(port_.sent.back()));
  EXPECT_EQ(file_.Poll(), unsigned{kUmadIdle});
}

// [roundtrip] [timeout_late_answer]
TEST_F(UmadTimeoutTest, OnlyTheFirstAnswerInTimeIsRead) {
  ASSERT_EQ(umad_.Write(Query(1, 100)), Errno::kOk);
  port_.Receive(AnswerTo(port_.sent.back()));
  port_.Receive(AnswerTo(port_.sent.back()));
  EXPECT_EQ(umad_.Read(1024).data.size(), kWholeMad);

  ASSERT_EQ(umad_.Write(Query(2, 100)), Errno::kOk);
  timers_.RunFor(absl::Milliseconds(100));
  port_.Receive(AnswerTo(port_.sent.back()));
  EXPECT_EQ(umad_.Read(1024).data.size(), kOldUmadHeader + 24);
  EXPECT_EQ(umad_.Read(1024).error, Errno::kTryAgain);
}

// [dup_response]
TEST_F(UmadTimeoutTest, AnAnswerWithATimeoutIsTimedToo) {
  ib_user_mad_hdr header = HeaderTo(kPeer);
  header.timeout_ms = 100;
  constexpr uint64_t kTid = 0x1122'3344'5566'7788;
  const mad::MadBytes answer =
      testing::MakeMad({.mgmt_class = mad::MgmtClass::kPerformance,
                        .method = mad::Method::kGetResp,
                        .tid = kTid});
  ASSERT_EQ(umad_.Write(Umad(header, answer)), Errno::kOk);
  timers_.RunFor(absl::Milliseconds(100));
  const FileDriver::Answer timeout = umad_.Read(1024);
  ASSERT_EQ(timeout.data.size(), kOldUmadHeader + 24);
  EXPECT_EQ(HeaderIn(timeout.data).status, unsigned{ETIMEDOUT});
  EXPECT_EQ(TidIn(timeout.data), kTid);
}

// [timeout_order]
TEST_F(UmadTimeoutTest, PacketsComeInTheOrderOfExpiryWhoeverSent) {
  ASSERT_EQ(umad_.Write(Query(1, 300, 0)), Errno::kOk);
  ASSERT_EQ(umad_.Write(Query(2, 100, 1)), Errno::kOk);
  ASSERT_EQ(umad_.Write(Query(3, 200, 0)), Errno::kOk);
  timers_.RunFor(absl::Seconds(1));
  for (const uint32_t tid : {2, 3, 1}) {
    const FileDriver::Answer answer = umad_.Read(1024);
    ASSERT_EQ(answer.data.size(), kOldUmadHeader + 24);
    EXPECT_EQ(TidIn(answer.data) & 0xffffffff, tid);
    EXPECT_EQ(HeaderIn(answer.data).id, tid == 2 ? 1u : 0u);
  }
}

// [unreg_*]
TEST_F(UmadTimeoutTest, APacketThatIsQueuedOutlivesItsAgent) {
  ASSERT_EQ(umad_.Write(Query(1, 100)), Errno::kOk);
  timers_.RunFor(absl::Milliseconds(100));
  ASSERT_EQ(Unregister(0), Errno::kOk);
  EXPECT_EQ(umad_.Read(1024).data.size(), kOldUmadHeader + 24);
}

}  // namespace
}  // namespace ibemu::cuse

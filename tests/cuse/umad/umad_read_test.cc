#include "tests/cuse/umad/umad_fixture.h"

namespace ibemu::cuse {
namespace {

class UmadReadTest : public UmadTest {
 protected:
  UmadReadTest() {
    EXPECT_EQ(Register(Request()), Errno::kOk);  // agent 0
    ib_user_mad_reg_req rmpp = Request();        // agent 1
    rmpp.rmpp_version = 1;
    EXPECT_EQ(Register(rmpp), Errno::kOk);
  }

  void Ask(uint64_t tid, uint32_t agent = 0) {
    ASSERT_EQ(umad_.Write(UmadRequest(tid, agent)), Errno::kOk);
    Settle();
  }
  void AskForTable(uint64_t tid) {
    ASSERT_EQ(umad_.Write(TableRequest(tid)), Errno::kOk);
    Settle();
  }
  static uint64_t LowTid(const FileDriver::Answer& answer) {
    return TidIn(answer.data) & 0xffffffff;
  }

  Peer peer_{timers_, port_};
};

// [queue_fifo] [rx_id]
TEST_F(UmadReadTest, TheQueueIsOneForAllAgents) {
  Ask(1, 0);
  ASSERT_EQ(Register(Request()), Errno::kOk);  // agent 2
  Ask(2, 2);
  Ask(3, 0);
  for (const uint64_t tid : {1, 2, 3}) {
    const FileDriver::Answer answer = umad_.Read(1024);
    EXPECT_EQ(LowTid(answer), tid);
    EXPECT_EQ(HeaderIn(answer.data).id, tid == 2 ? 2u : 0u);
  }
  EXPECT_EQ(umad_.Read(1024).error, Errno::kTryAgain);
}

// [unreg_*]
TEST_F(UmadReadTest, WhatAnAgentReceivedOutlivesIt) {
  Ask(5);
  ASSERT_EQ(Unregister(0), Errno::kOk);
  EXPECT_EQ(LowTid(umad_.Read(1024)), 5u);
}

// [read_sizes_empty]
TEST_F(UmadReadTest, ABufferWithoutRoomForTheHeaderIsInvalidWhateverComes) {
  EXPECT_EQ(umad_.Read(kOldUmadHeader - 1).error, Errno::kInvalid);
  EXPECT_EQ(umad_.Read(0).error, Errno::kInvalid);
}

// [read_short] [read_requeue_order]
TEST_F(UmadReadTest, AMadThatDoesNotFitStaysFirst) {
  Ask(1);
  Ask(2);
  const FileDriver::Answer answer = umad_.Read(kWholeMad - 1);
  EXPECT_EQ(answer.error, Errno::kInvalid);
  EXPECT_TRUE(answer.data.empty());
  EXPECT_EQ(LowTid(umad_.Read(kWholeMad)), 1u);
}

// [rmpp_recv_basic]
TEST_F(UmadReadTest, ALongMessageThatDoesNotFitSaysHowLongItIs) {
  AskForTable(1);
  const size_t length = kOldUmadHeader + 56 + peer_.table_bytes;
  EXPECT_EQ(umad_.Read(kWholeMad - 1).error, Errno::kInvalid);

  const FileDriver::Answer answer = umad_.Read(length - 1);
  EXPECT_EQ(answer.error, Errno::kNoSpace);
  ASSERT_EQ(answer.data.size(), kWholeMad);
  EXPECT_EQ(HeaderIn(answer.data).length, length);
  EXPECT_EQ(answer.data.back(), Peer::TableByte(199));

  const FileDriver::Answer whole = umad_.Read(length);
  ASSERT_EQ(whole.data.size(), length);
  EXPECT_EQ(whole.data.back(), Peer::TableByte(peer_.table_bytes - 1));
}

// [queue_fifo] [read_blocking]
TEST_F(UmadReadTest, ParkedReadsAreServedInTheOrderTheyCame) {
  const RequestId first = umad_.StartRead(1024);
  const RequestId second = umad_.StartRead(1024);
  EXPECT_FALSE(umad_.AnswerTo(first).has_value());
  Ask(1);
  EXPECT_EQ(LowTid(umad_.AnswerTo(first).value()), 1u);
  EXPECT_FALSE(umad_.AnswerTo(second).has_value());
  Ask(2);
  EXPECT_EQ(LowTid(umad_.AnswerTo(second).value()), 2u);
  EXPECT_EQ(umad_.events, 0);  // readers took all: poll() has not changed
}

// [read_requeue_order]
TEST_F(UmadReadTest, AParkedReadThatIsTooShortLeavesTheMadToTheNext) {
  const RequestId small = umad_.StartRead(kOldUmadHeader);
  const RequestId large = umad_.StartRead(1024);
  Ask(1);
  EXPECT_EQ(umad_.AnswerTo(small).value().error, Errno::kInvalid);
  EXPECT_EQ(LowTid(umad_.AnswerTo(large).value()), 1u);
}

// [read_signal]
TEST_F(UmadReadTest, AnInterruptEndsOneParkedRead) {
  const RequestId first = umad_.StartRead(1024);
  const RequestId second = umad_.StartRead(1024);
  file_.Interrupt(second);
  EXPECT_EQ(umad_.AnswerTo(second).value().error, Errno::kInterrupted);
  Ask(1);
  EXPECT_TRUE(umad_.AnswerTo(first).has_value());
  file_.Interrupt(first);  // too late, harmless
}

// [poll_*] [epoll_edge]
TEST_F(UmadReadTest, EachArrivalTellsPoll) {
  EXPECT_EQ(file_.Poll(), unsigned{kUmadIdle});
  Ask(1);
  Ask(2);
  EXPECT_EQ(umad_.events, 2);
  EXPECT_EQ(file_.Poll(), unsigned{kUmadReadable});
  umad_.Read(1024);
  EXPECT_EQ(file_.Poll(), unsigned{kUmadReadable});
  umad_.Read(1024);
  EXPECT_EQ(file_.Poll(), unsigned{kUmadIdle});
}

// [queue_limit]
TEST(UmadQueueTest, TakesOneMoreThanItsLimit) {
  UmadQueue queue;
  for (size_t i = 0; i < UmadQueue::kLimit; ++i) queue.Push({});
  EXPECT_FALSE(queue.IsFull(0));
  queue.Push({});
  EXPECT_TRUE(queue.IsFull(0));
}

}  // namespace
}  // namespace ibemu::cuse

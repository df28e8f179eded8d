// What is left of an open umad file when its device is gone.
#include "tests/cuse/umad/umad_fixture.h"

namespace ibemu::cuse {
namespace {

class UmadRemovalTest : public UmadTest {
 protected:
  UmadRemovalTest() { EXPECT_EQ(Register(Request()), Errno::kOk); }

  void Remove() {
    device_.Remove();
    Settle();
  }
  // Sends a request and lets its answer wait to be read.
  void SendAndAnswer() {
    ASSERT_EQ(umad_.Write(UmadRequest(1)), Errno::kOk);
    port_.Receive(AnswerTo(port_.sent.back()));
    ASSERT_EQ(file_.Poll(), unsigned{kUmadReadable});
  }
};

// [removal]
TEST_F(UmadRemovalTest, EachCallFailsAsInLinux) {
  Remove();
  EXPECT_EQ(Register(Request()), Errno::kPipe);
  EXPECT_EQ(umad_.Ioctl(IB_USER_MAD_REGISTER_AGENT, {}).error, Errno::kPipe);
  EXPECT_EQ(Unregister(0), Errno::kInvalid);
  EXPECT_EQ(umad_.Write(UmadRequest(1, 0)), Errno::kIo);
  EXPECT_EQ(umad_.Write(UmadRequest(1, 32)), Errno::kInvalid);
  EXPECT_EQ(umad_.Read(kOldUmadHeader - 1).error, Errno::kInvalid);
  EXPECT_EQ(umad_.Read(1024).error, Errno::kIo);
  EXPECT_EQ(file_.Poll(), unsigned{POLLERR});
}

// [removal]
TEST_F(UmadRemovalTest, PKeyIndexesCanBeEnabledByWhoNeverHadAnAgent) {
  UmadFile file(host_, 1);
  FileDriver umad(file);
  Remove();
  EXPECT_EQ(umad.Ioctl(IB_USER_MAD_ENABLE_PKEY, {}).error, Errno::kOk);
  EXPECT_EQ(EnablePKey(), Errno::kInvalid);
}

// [removal]
TEST_F(UmadRemovalTest, ANodeThatIsOpenedTooLateLeadsNowhere) {
  Remove();
  UmadFile late(host_, 1);
  EXPECT_EQ(FileDriver(late).Open(), Errno::kNoSuchAddress);
}

// [removal]
TEST_F(UmadRemovalTest, QueuedMadsAreLost) {
  SendAndAnswer();
  Remove();
  EXPECT_EQ(file_.Poll(), unsigned{POLLERR});
  EXPECT_EQ(umad_.Read(1024).error, Errno::kIo);
}

// [removal]
TEST_F(UmadRemovalTest, OutstandingSendsEndWithoutATimeout) {
  ASSERT_EQ(umad_.Write(UmadRequest(1)), Errno::kOk);
  Remove();
  EXPECT_TRUE(timers_.idle());
  EXPECT_EQ(umad_.events, 1);
  timers_.RunFor(absl::Hours(1));
  EXPECT_EQ(umad_.events, 1);
}

// [removal]
TEST_F(UmadRemovalTest, PollWakesUpAndABlockedReadDoesNot) {
  const RequestId blocked = umad_.StartRead(1024);
  Remove();
  EXPECT_EQ(umad_.events, 1);
  EXPECT_FALSE(umad_.AnswerTo(blocked).has_value());
  file_.Interrupt(blocked);
  EXPECT_EQ(umad_.AnswerTo(blocked).value().error, Errno::kInterrupted);
}

}  // namespace
}  // namespace ibemu::cuse

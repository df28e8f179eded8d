#include "testing/kernel_side.h"
#include "tests/cuse/umad_fixture.h"

namespace ibemu::cuse {
namespace {

constexpr uint8_t kPerformance = 4;
constexpr uint64_t kGetAndSet = 0b110;

TEST_F(UmadTest, AgentsGetTheLowestFreeIds) {
  for (uint32_t id = 0; id < 3; ++id) {
    ib_user_mad_reg_req request = Request();
    EXPECT_EQ(Register(umad_, request), Errno::kOk);
    EXPECT_EQ(request.id, id);
  }
  EXPECT_EQ(Unregister(1), Errno::kOk);
  ib_user_mad_reg_req again = Request();
  EXPECT_EQ(Register(umad_, again), Errno::kOk);
  EXPECT_EQ(again.id, 1u);
}

TEST_F(UmadTest, TheThirtyThirdAgentHasNoPlace) {
  for (int i = 0; i < 32; ++i) ASSERT_EQ(Register(Request()), Errno::kOk);
  EXPECT_EQ(Register(Request()), Errno::kNoMemory);
  ib_user_mad_reg_req wrong = Request();
  wrong.qpn = 2;  // is looked at before
  EXPECT_EQ(Register(umad_, wrong), Errno::kInvalid);
}

TEST_F(UmadTest, AFailedRegistrationLeavesTheIdAlone) {
  ib_user_mad_reg_req request = Request(/*mgmt_class=*/1);  // QP0's
  EXPECT_EQ(Register(umad_, request), Errno::kInvalid);
  EXPECT_EQ(request.id, 77u);
}

TEST_F(UmadTest, TwoFilesOfAPortConflictAndOfTwoPortsDoNot) {
  UmadFile same_port(host_, 1);
  UmadFile other_port(host_, 2);
  FileDriver second(same_port);
  FileDriver third(other_port);
  ib_user_mad_reg_req request = Request(kPerformance, kGetAndSet);
  EXPECT_EQ(Register(umad_, request), Errno::kOk);
  EXPECT_EQ(Register(second, request), Errno::kInvalid);
  EXPECT_EQ(Register(third, request), Errno::kOk);
}

TEST_F(UmadTest, UnregisterWantsAnAgent) {
  EXPECT_EQ(Unregister(0), Errno::kInvalid);
  EXPECT_EQ(Unregister(32), Errno::kInvalid);
  ASSERT_EQ(Register(Request()), Errno::kOk);
  EXPECT_EQ(Unregister(0), Errno::kOk);
  EXPECT_EQ(Unregister(0), Errno::kInvalid);
}

TEST_F(UmadTest, UnknownFlagsAreAnsweredWithTheKnownOnes) {
  ib_user_mad_reg_req2 request{};
  request.qpn = 1;
  request.flags = 6;
  EXPECT_EQ(Register(umad_, request), Errno::kInvalid);
  EXPECT_EQ(request.flags, 1u);

  request.qpn = 9;  // comes first, and leaves the flags alone
  request.flags = 6;
  EXPECT_EQ(Register(umad_, request), Errno::kInvalid);
  EXPECT_EQ(request.flags, 6u);
}

TEST_F(UmadTest, AnOuiHas24BitsUnlessTheClassIsNone) {
  ib_user_mad_reg_req2 request{};
  request.qpn = 1;
  request.oui = 1 << 24;
  EXPECT_EQ(Register(umad_, request), Errno::kOk);
  request.mgmt_class = 0x30;
  request.mgmt_class_version = 1;
  EXPECT_EQ(Register(umad_, request), Errno::kInvalid);
}

TEST_F(UmadTest, PKeyIndexesCanBeEnabledUntilTheFirstAgentIsThere) {
  EXPECT_EQ(EnablePKey(), Errno::kOk);
  EXPECT_EQ(EnablePKey(), Errno::kOk);
  EXPECT_EQ(Register(Request(/*mgmt_class=*/1)), Errno::kInvalid);
  EXPECT_EQ(EnablePKey(), Errno::kOk);  // a failure doesn't count
  EXPECT_EQ(Register(Request()), Errno::kOk);
  EXPECT_EQ(EnablePKey(), Errno::kInvalid);
  EXPECT_EQ(Unregister(0), Errno::kOk);
  EXPECT_EQ(EnablePKey(), Errno::kInvalid);
}

TEST_F(UmadTest, TheSecondFormOfRegisteringTurnsTheNewHeaderOn) {
  ib_user_mad_reg_req2 request{};
  request.qpn = 1;
  ASSERT_EQ(Register(umad_, request), Errno::kOk);
  EXPECT_EQ(umad_.Read(kUmadHeader - 1).error, Errno::kInvalid);
  EXPECT_EQ(umad_.Read(kUmadHeader).error, Errno::kTryAgain);
}

TEST_F(UmadTest, TheSecondFormComesTooLateAfterTheFirst) {
  ASSERT_EQ(Register(Request()), Errno::kOk);
  ib_user_mad_reg_req2 request{};
  request.qpn = 1;
  ASSERT_EQ(Register(umad_, request), Errno::kOk);
  EXPECT_EQ(umad_.Read(kOldUmadHeader).error, Errno::kTryAgain);
}

TEST_F(UmadTest, UnknownIoctlsAreRefused) {
  EXPECT_EQ(umad_.Ioctl(0x1b05, {}).error, Errno::kNotTty);
  // The right number with the wrong size is another one.
  const uint32_t wrong = IB_USER_MAD_REGISTER_AGENT ^ (1u << 16);
  EXPECT_EQ(umad_.Ioctl(wrong, {}).error, Errno::kNotTty);
}

TEST_F(UmadTest, AnArgumentThatIsNotThereIsAFault) {
  EXPECT_EQ(umad_.Ioctl(IB_USER_MAD_REGISTER_AGENT, {}).error, Errno::kFault);
  EXPECT_EQ(umad_.Ioctl(IB_USER_MAD_UNREGISTER_AGENT, {}).error, Errno::kFault);
}

TEST_F(UmadTest, AnIdThatCannotBeToldIsAFaultAndTheAgentIsGone) {
  const ib_user_mad_reg_req request = Request(kPerformance, kGetAndSet);
  EXPECT_EQ(umad_
                .Ioctl(IB_USER_MAD_REGISTER_AGENT, testing::AsBytes(request),
                       /*writable=*/false)
                .error,
            Errno::kFault);
  EXPECT_EQ(EnablePKey(), Errno::kOk);  // as if there had been none
  ib_user_mad_reg_req again = request;  // and no conflict
  EXPECT_EQ(Register(umad_, again), Errno::kOk);
  EXPECT_EQ(again.id, 0u);

  ib_user_mad_reg_req wrong = Request(/*mgmt_class=*/1);
  EXPECT_EQ(umad_
                .Ioctl(IB_USER_MAD_REGISTER_AGENT, testing::AsBytes(wrong),
                       /*writable=*/false)
                .error,
            Errno::kInvalid);  // is found first
}

TEST_F(UmadTest, ARemovedDeviceAnswersAsLinuxDoes) {
  ASSERT_EQ(Register(Request()), Errno::kOk);
  device_.Remove();
  Settle();
  EXPECT_EQ(Register(Request()), Errno::kPipe);
  EXPECT_EQ(Unregister(0), Errno::kInvalid);
  EXPECT_EQ(umad_.Write(UmadRequest(1, 0)), Errno::kIo);
  EXPECT_EQ(umad_.Write(UmadRequest(1, 32)), Errno::kInvalid);
  EXPECT_EQ(umad_.Read(kOldUmadHeader - 1).error, Errno::kInvalid);
  EXPECT_EQ(umad_.Read(1024).error, Errno::kIo);
  EXPECT_EQ(file_.Poll(), unsigned{POLLERR});

  UmadFile late(host_, 1);
  EXPECT_EQ(FileDriver(late).Open(), Errno::kNoSuchAddress);
}

TEST_F(UmadTest, PKeyIndexesCanBeEnabledOnARemovedDevice) {
  device_.Remove();
  EXPECT_EQ(EnablePKey(), Errno::kOk);
}

}  // namespace
}  // namespace ibemu::cuse

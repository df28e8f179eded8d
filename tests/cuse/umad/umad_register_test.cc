#include "testing/kernel_side.h"
#include "tests/cuse/umad/umad_fixture.h"

namespace ibemu::cuse {
namespace {

constexpr uint8_t kVendor = 0x32;
constexpr uint64_t kGetAndSet = 0b110;

ib_user_mad_reg_req2 Request2() {
  ib_user_mad_reg_req2 request{};
  request.qpn = 1;
  return request;
}

// [reg_ids]
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

// [reg_limit]
TEST_F(UmadTest, TheThirtyThirdAgentHasNoPlace) {
  for (int i = 0; i < 32; ++i) ASSERT_EQ(Register(Request()), Errno::kOk);
  EXPECT_EQ(Register(Request()), Errno::kNoMemory);
  ib_user_mad_reg_req wrong = Request();
  wrong.qpn = 2;  // is looked at before
  EXPECT_EQ(Register(umad_, wrong), Errno::kInvalid);
}

// [reg_limit]
TEST_F(UmadTest, EachFileHasAgentsOfItsOwn) {
  UmadFile other_file(host_, 1);
  FileDriver other(other_file);
  for (int i = 0; i < 32; ++i) ASSERT_EQ(Register(Request()), Errno::kOk);
  ib_user_mad_reg_req request = Request();
  EXPECT_EQ(Register(other, request), Errno::kOk);
  EXPECT_EQ(request.id, 0u);
}

// [reg_qpn]
TEST_F(UmadTest, AgentsAreOfQp0OrQp1) {
  for (const uint8_t qpn : {2, 255}) {
    ib_user_mad_reg_req request = Request();
    request.qpn = qpn;
    EXPECT_EQ(Register(umad_, request), Errno::kInvalid);
  }
  for (const uint32_t qpn : {2u, 256u, 0xffffffffu}) {
    ib_user_mad_reg_req2 request = Request2();
    request.qpn = qpn;
    EXPECT_EQ(Register(umad_, request), Errno::kInvalid);
  }
  for (const uint32_t qpn : {0u, 1u}) {
    ib_user_mad_reg_req2 request = Request2();
    request.qpn = qpn;
    EXPECT_EQ(Register(umad_, request), Errno::kOk);
  }
}

// [reg_qp0] [rxe]
TEST_F(UmadTest, APortWithoutQp0SaysSoBeforeAnythingThatTheMadLayerChecks) {
  port_.has_qp0 = false;
  ib_user_mad_reg_req request = Request(/*mgmt_class=*/0xff);
  request.rmpp_version = 9;
  EXPECT_EQ(Register(umad_, request), Errno::kInvalid);
  request.qpn = 0;
  EXPECT_EQ(Register(umad_, request), Errno::kNoProtocol);
}

// [reg_order]
TEST_F(UmadTest, ARegistrationIsCheckedInLinuxsOrder) {
  port_.has_qp0 = false;
  for (int i = 0; i < 32; ++i) ASSERT_EQ(Register(Request()), Errno::kOk);
  // All is wrong; what is found first is mended before the next try.
  ib_user_mad_reg_req2 request = Request2();
  request.qpn = 2;
  request.flags = 6;
  request.mgmt_class = 0xff;
  request.oui = 1 << 24;
  request.rmpp_version = 9;
  EXPECT_EQ(umad_.Ioctl(IB_USER_MAD_REGISTER_AGENT2, {}).error, Errno::kFault);

  EXPECT_EQ(Register(umad_, request), Errno::kInvalid);
  EXPECT_EQ(request.flags, 6u);  // so it was the queue pair
  request.qpn = 0;

  EXPECT_EQ(Register(umad_, request), Errno::kInvalid);
  EXPECT_EQ(request.flags, 1u);  // so it was the flags

  EXPECT_EQ(Register(umad_, request), Errno::kNoMemory);
  EXPECT_EQ(Unregister(31), Errno::kOk);

  EXPECT_EQ(Register(umad_, request), Errno::kInvalid);
  request.oui = 0;

  EXPECT_EQ(Register(umad_, request), Errno::kNoProtocol);
  port_.has_qp0 = true;

  EXPECT_EQ(Register(umad_, request), Errno::kInvalid);
  request.mgmt_class = 0x81;
  EXPECT_EQ(Register(umad_, request), Errno::kInvalid);
  request.rmpp_version = 0;
  EXPECT_EQ(Register(umad_, request), Errno::kOk);
  EXPECT_EQ(request.id, 31u);
}

// [reg_faults]
TEST_F(UmadTest, AFailedRegistrationLeavesTheIdAlone) {
  ib_user_mad_reg_req request = Request(/*mgmt_class=*/1);  // QP0's
  EXPECT_EQ(Register(umad_, request), Errno::kInvalid);
  EXPECT_EQ(request.id, 77u);
}

// [reg_conflict] [reg_other_port]
TEST_F(UmadTest, TwoFilesOfAPortConflictAndOfTwoPortsDoNot) {
  UmadFile same_port(host_, 1);
  UmadFile other_port(host_, 2);
  FileDriver second(same_port);
  FileDriver third(other_port);
  ib_user_mad_reg_req request = Request(kPerformance, kGetAndSet);
  EXPECT_EQ(Register(umad_, request), Errno::kOk);
  EXPECT_EQ(Register(umad_, request), Errno::kInvalid);  // nor with itself
  EXPECT_EQ(Register(second, request), Errno::kInvalid);
  EXPECT_EQ(Register(third, request), Errno::kOk);
}

// [unreg_*]
TEST_F(UmadTest, UnregisterWantsAnAgent) {
  EXPECT_EQ(Unregister(0), Errno::kInvalid);
  EXPECT_EQ(Unregister(32), Errno::kInvalid);
  ASSERT_EQ(Register(Request()), Errno::kOk);
  EXPECT_EQ(Unregister(0), Errno::kOk);
  EXPECT_EQ(Unregister(0), Errno::kInvalid);
}

// [reg2_flags]
TEST_F(UmadTest, UnknownFlagsAreAnsweredWithTheKnownOnes) {
  ib_user_mad_reg_req2 request = Request2();
  request.flags = 6;
  EXPECT_EQ(Register(umad_, request), Errno::kInvalid);
  EXPECT_EQ(request.flags, 1u);

  request.qpn = 9;  // comes first, and leaves the flags alone
  request.flags = 6;
  EXPECT_EQ(Register(umad_, request), Errno::kInvalid);
  EXPECT_EQ(request.flags, 6u);
}

// [reg2_flags]
TEST_F(UmadTest, RmppByTheUserNeedsAClassAndNothingElse) {
  ib_user_mad_reg_req2 request = Request2();
  request.flags = IB_USER_MAD_USER_RMPP;
  request.rmpp_version = 1;
  EXPECT_EQ(Register(umad_, request), Errno::kInvalid);
  request.mgmt_class = 3;
  request.mgmt_class_version = 2;
  for (const uint8_t version : {1, 0}) {
    request.rmpp_version = version;
    EXPECT_EQ(Register(umad_, request), Errno::kOk);
  }
  request.mgmt_class = kPerformance;  // has no RMPP
  EXPECT_EQ(Register(umad_, request), Errno::kOk);
}

// [reg2_flags]
TEST_F(UmadTest, ReservedFieldsOfTheSecondFormAreIgnored) {
  ib_user_mad_reg_req2 request = Request2();
  request.res = 0xffff;
  std::memset(request.reserved, 0xff, sizeof request.reserved);
  EXPECT_EQ(Register(umad_, request), Errno::kOk);
}

// [reg2_oui]
TEST_F(UmadTest, AnOuiHas24BitsUnlessTheClassIsNone) {
  ib_user_mad_reg_req2 request = Request2();
  request.oui = 1 << 24;
  EXPECT_EQ(Register(umad_, request), Errno::kOk);
  request.mgmt_class = 0x30;
  request.mgmt_class_version = 1;
  EXPECT_EQ(Register(umad_, request), Errno::kInvalid);
}

// [oui_order]
TEST_F(UmadTest, AnOuiIsWrittenFromItsMostSignificantByteOn) {
  ib_user_mad_reg_req2 number = Request2();
  number.mgmt_class = kVendor;
  number.oui = 0x0a0b0c;
  number.method_mask[0] = kGetAndSet;
  ASSERT_EQ(Register(umad_, number), Errno::kOk);
  ib_user_mad_reg_req bytes = Request(kVendor, kGetAndSet);
  bytes.mgmt_class_version = 0;
  const uint8_t oui[] = {0x0c, 0x0b, 0x0a};
  std::memcpy(bytes.oui, oui, sizeof oui);
  ASSERT_EQ(Register(umad_, bytes), Errno::kOk);

  mad::MadBytes request =
      testing::MakeMad({.mgmt_class = mad::MgmtClass{kVendor},
                        .class_version = 0,
                        .method = mad::Method::kGet});
  const auto agent_that_gets = [&](std::array<uint8_t, 3> at_37) {
    std::memcpy(&request[37], at_37.data(), at_37.size());
    port_.Receive({.qp = 1, .slid = kPeer, .source_qpn = 1, .mad = request});
    const FileDriver::Answer answer = umad_.Read(1024);
    return answer.error == Errno::kOk ? HeaderIn(answer.data, kUmadHeader).id
                                      : ~0u;
  };
  EXPECT_EQ(agent_that_gets({0x0a, 0x0b, 0x0c}), number.id);
  EXPECT_EQ(agent_that_gets({0x0c, 0x0b, 0x0a}), bytes.id);
  EXPECT_EQ(agent_that_gets({0x0b, 0x0a, 0x0c}), ~0u);
}

// [open_modes]
TEST_F(UmadTest, APortMayBeOpenedAnyNumberOfTimes) {
  std::vector<std::unique_ptr<UmadFile>> files;
  for (int i = 0; i < 100; ++i) {
    files.push_back(std::make_unique<UmadFile>(host_, 1));
    EXPECT_EQ(FileDriver(*files.back()).Open(), Errno::kOk);
    files.back()->SetListener(nullptr);
  }
}

// [enable_pkey]
TEST_F(UmadTest, PKeyIndexesCanBeEnabledUntilTheFirstAgentIsThere) {
  EXPECT_EQ(EnablePKey(), Errno::kOk);
  EXPECT_EQ(EnablePKey(), Errno::kOk);
  EXPECT_EQ(Register(Request(/*mgmt_class=*/1)), Errno::kInvalid);
  EXPECT_EQ(umad_.Read(1024).error, Errno::kTryAgain);
  EXPECT_EQ(EnablePKey(), Errno::kOk);  // neither counts
  EXPECT_EQ(Register(Request()), Errno::kOk);
  EXPECT_EQ(EnablePKey(), Errno::kInvalid);
  EXPECT_EQ(Unregister(0), Errno::kOk);
  EXPECT_EQ(EnablePKey(), Errno::kInvalid);
}

// [misc_fops]
TEST_F(UmadTest, UnknownIoctlsAreRefused) {
  EXPECT_EQ(umad_.Ioctl(0x1b05, {}).error, Errno::kNotTty);
  // The right number with the wrong size is another one.
  const uint32_t wrong = IB_USER_MAD_REGISTER_AGENT ^ (1u << 16);
  EXPECT_EQ(umad_.Ioctl(wrong, {}).error, Errno::kNotTty);
}

// [reg_faults]
TEST_F(UmadTest, AnArgumentThatIsNotThereIsAFault) {
  EXPECT_EQ(umad_.Ioctl(IB_USER_MAD_REGISTER_AGENT, {}).error, Errno::kFault);
  EXPECT_EQ(umad_.Ioctl(IB_USER_MAD_UNREGISTER_AGENT, {}).error, Errno::kFault);
}

// [reg_faults]
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

}  // namespace
}  // namespace ibemu::cuse

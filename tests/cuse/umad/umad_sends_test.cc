// Which MADs may be under way at the same time.
#include "cuse/umad/umad_sends.h"

#include "tests/cuse/umad/umad_fixture.h"

namespace ibemu::cuse {
namespace {

using wire::Lid, mad::Method, mad::MgmtClass;

class UmadSendsTest : public UmadTest {
 protected:
  UmadSendsTest() {
    EXPECT_EQ(Register(Request()), Errno::kOk);
    EXPECT_EQ(Register(Request()), Errno::kOk);
  }

  static ib_user_mad_hdr Header(Lid lid = kPeer, uint32_t agent = 0) {
    ib_user_mad_hdr header = HeaderTo(lid, agent);
    header.timeout_ms = 1000;
    return header;
  }
  static ib_user_mad_hdr GlobalHeader(uint8_t gid, Lid lid = kPeer) {
    ib_user_mad_hdr header = Header(lid);
    header.grh_present = 1;
    header.gid[15] = gid;
    return header;
  }
  static mad::MadBytes Mad(Method method,
                           MgmtClass mgmt_class = MgmtClass::kPerformance) {
    return testing::MakeMad(
        {.mgmt_class = mgmt_class, .method = method, .tid = 5});
  }
  Errno Write(const ib_user_mad_hdr& header, const mad::MadBytes& mad) {
    return umad_.Write(Umad(header, mad));
  }
};

// [dup_tid]
TEST_F(UmadSendsTest, ASecondRequestOfTheSameTidMustWaitForTheFirst) {
  ASSERT_EQ(umad_.Write(UmadRequest(5)), Errno::kOk);
  EXPECT_EQ(umad_.Write(UmadRequest(5)), Errno::kInvalid);
  EXPECT_EQ(umad_.Write(UmadRequest(6)), Errno::kOk);
  EXPECT_EQ(umad_.Write(UmadRequest(5, /*agent=*/1)), Errno::kOk);

  timers_.RunFor(absl::Seconds(1));  // it times out; nobody has read that yet
  EXPECT_EQ(umad_.Write(UmadRequest(5)), Errno::kOk);
}

// [dup_tid]
TEST_F(UmadSendsTest, ItsDestinationMethodAndTimeoutDoNotMatterButItsClass) {
  ASSERT_EQ(Write(Header(), Mad(Method::kGet)), Errno::kOk);
  EXPECT_EQ(Write(Header(Lid{8}), Mad(Method::kGet)), Errno::kInvalid);
  EXPECT_EQ(Write(GlobalHeader(1), Mad(Method::kGet)), Errno::kInvalid);
  EXPECT_EQ(Write(Header(), Mad(Method::kSet)), Errno::kInvalid);
  EXPECT_EQ(Write(HeaderTo(kPeer), Mad(Method::kGet)), Errno::kInvalid);
  EXPECT_EQ(Write(Header(), Mad(Method::kGet, MgmtClass::kDevice)), Errno::kOk);
  EXPECT_EQ(port_.sent.size(), 2u);
}

// [dup_tid]
TEST_F(UmadSendsTest, TheTidCountsAsItIsSent) {
  ASSERT_EQ(umad_.Write(UmadRequest(5)), Errno::kOk);
  EXPECT_EQ(umad_.Write(UmadRequest(0xffff'ffff'0000'0005)), Errno::kInvalid);
}

// [dup_tid]
TEST_F(UmadSendsTest, AnAnswerFreesTheTid) {
  ASSERT_EQ(umad_.Write(UmadRequest(5)), Errno::kOk);
  port_.Receive(AnswerTo(port_.sent.back()));
  EXPECT_EQ(umad_.Write(UmadRequest(5)), Errno::kOk);
}

// [dup_after_tmo0]
TEST_F(UmadSendsTest, ARequestWithoutATimeoutIsOverAtOnce) {
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(umad_.Write(Umad(HeaderTo(kPeer), PerfGet(5))), Errno::kOk);
    Settle();
  }
}

// [dup_response]
TEST_F(UmadSendsTest, AnswersOfOneTidMayGoToTwoPlaces) {
  const mad::MadBytes answer = Mad(Method::kGetResp);
  EXPECT_EQ(Write(Header(), answer), Errno::kOk);
  EXPECT_EQ(Write(Header(), answer), Errno::kInvalid);
  EXPECT_EQ(Write(Header(kPeer, /*agent=*/1), answer), Errno::kInvalid);
  EXPECT_EQ(Write(Header(Lid{9}), answer), Errno::kOk);

  // With a GRH the GID is the place, and it is no place without one.
  EXPECT_EQ(Write(GlobalHeader(1), answer), Errno::kOk);
  EXPECT_EQ(Write(GlobalHeader(1, Lid{10}), answer), Errno::kInvalid);
  EXPECT_EQ(Write(GlobalHeader(2), answer), Errno::kOk);
}

// [dup_response]
TEST_F(UmadSendsTest, ARequestAndAnAnswerDoNotCollide) {
  ASSERT_EQ(umad_.Write(UmadRequest(5)), Errno::kOk);
  mad::MadBytes answer = port_.sent.back().mad;  // and so with its TID
  wire::Put<&mad::MadHeader::method>(answer, Method::kGetResp);
  EXPECT_EQ(Write(Header(), answer), Errno::kOk);
  EXPECT_EQ(umad_.Write(UmadRequest(5)), Errno::kInvalid);
  EXPECT_EQ(Write(Header(), answer), Errno::kInvalid);
}

// [dup_response]
TEST_F(UmadSendsTest, TwoFilesMaySendTheSameAnswer) {
  UmadFile other_file(host_, 1);
  FileDriver other(other_file);
  ib_user_mad_reg_req request = Request();
  ASSERT_EQ(Register(other, request), Errno::kOk);
  EXPECT_EQ(Write(Header(), Mad(Method::kGetResp)), Errno::kOk);
  EXPECT_EQ(other.Write(Umad(Header(), Mad(Method::kGetResp))), Errno::kOk);
}

// [user_rmpp]
TEST_F(UmadSendsTest, RmppPacketsOfTheUserRepeatTheirTid) {
  mad::MadBytes data = Mad(Method::kGetMulti, MgmtClass::kSubnetAdministration);
  const mad::MadBytes plain = data;
  testing::SetRmpp(data, {.type = mad::RmppType::kData, .segment = 1});
  EXPECT_EQ(Write(Header(), data), Errno::kOk);
  EXPECT_EQ(Write(Header(), data), Errno::kOk);
  EXPECT_EQ(Write(Header(), plain), Errno::kInvalid);
}

// [unreg_*]
TEST_F(UmadSendsTest, UnregisteringForgetsWhatWasSent) {
  ASSERT_EQ(Write(Header(), Mad(Method::kGetResp)), Errno::kOk);
  ASSERT_EQ(Unregister(0), Errno::kOk);
  EXPECT_TRUE(timers_.idle());
  EXPECT_EQ(umad_.Read(1024).error, Errno::kTryAgain);  // no timeout packet
  EXPECT_EQ(Write(Header(kPeer, /*agent=*/1), Mad(Method::kGetResp)),
            Errno::kOk);
}

// [close_outstanding]
TEST_F(UmadSendsTest, ClosingForgetsWhatWasSent) {
  {
    UmadFile file(host_, 1);
    FileDriver umad(file);
    ib_user_mad_reg_req request = Request();
    ASSERT_EQ(Register(umad, request), Errno::kOk);
    ASSERT_EQ(umad.Write(UmadRequest(5)), Errno::kOk);
    EXPECT_FALSE(timers_.idle());
  }
  EXPECT_TRUE(timers_.idle());
  port_.Receive(AnswerTo(port_.sent.back()));  // finds nobody
}

// [burst] [many_outstanding]
TEST_F(UmadSendsTest, NoWriteIsEverTooMany) {
  for (uint32_t tid = 0; tid < 1000; ++tid) {
    ASSERT_EQ(umad_.Write(UmadRequest(tid)), Errno::kOk);
  }
  EXPECT_EQ(port_.sent.size(), 1000u);
  EXPECT_EQ(file_.Poll(), unsigned{kUmadIdle});
  timers_.RunFor(absl::Seconds(1));
  for (uint32_t tid = 0; tid < 1000; ++tid) {
    EXPECT_EQ(TidIn(umad_.Read(1024).data) & 0xffffffff, tid);
  }
}

}  // namespace
}  // namespace ibemu::cuse

// The two layouts of the header, and what a reader finds in it.
#include "cuse/umad/umad_header.h"

#include "tests/cuse/umad/umad_fixture.h"

namespace ibemu::cuse {
namespace {

constexpr uint8_t kDevice = static_cast<uint8_t>(mad::MgmtClass::kDevice);

class UmadHeaderTest : public UmadTest {
 protected:
  static ib_user_mad_reg_req2 Request2() {
    ib_user_mad_reg_req2 request{};
    request.qpn = 1;
    return request;
  }

  // How many bytes the file's header has: less don't do for a read().
  size_t HeaderSize() {
    for (const size_t size : {kOldUmadHeader, kUmadHeader}) {
      if (umad_.Read(size).error == Errno::kTryAgain) return size;
      EXPECT_EQ(umad_.Read(size).error, Errno::kInvalid);
    }
    return 0;
  }

  // Agent 0 only sends, agent 1 gets this.
  void ServeAndReceive(std::optional<mad::GlobalRoute> grh = std::nullopt) {
    ASSERT_EQ(Register(Request()), Errno::kOk);
    ASSERT_EQ(Register(Request(kDevice, kGet)), Errno::kOk);
    port_.gids = {{1, 1}, {1, 2}};
    port_.Receive({.qp = 1,
                   .slid = wire::Lid{9},
                   .sl = 5,
                   .path_bits = 3,
                   .pkey_index = 4,
                   .source_qpn = 0x12345,
                   .grh = grh,
                   .mad = request_});
  }
  static ib_user_mad_hdr ExpectedHeader(size_t header_size) {
    ib_user_mad_hdr header{};  // status, timeout_ms, retries, qkey: 0
    header.id = 1;
    header.length = static_cast<uint32_t>(header_size + 256);
    header.qpn = htobe32(0x12345);
    header.lid = htobe16(9);
    header.sl = 5;
    header.path_bits = 3;
    header.pkey_index = header_size == kUmadHeader ? 4 : 0;
    return header;
  }

  mad::MadBytes request_ = testing::MakeMad(
      {.mgmt_class = mad::MgmtClass::kDevice, .method = mad::Method::kGet},
      0x5a);
};

// [enable_pkey]
TEST_F(UmadHeaderTest, EnablingPKeyIndexesTurnsTheNewLayoutOn) {
  EXPECT_EQ(HeaderSize(), kOldUmadHeader);
  EXPECT_EQ(EnablePKey(), Errno::kOk);
  EXPECT_EQ(HeaderSize(), kUmadHeader);
  EXPECT_EQ(Register(Request()), Errno::kOk);
  EXPECT_EQ(HeaderSize(), kUmadHeader);
}

// [enable_pkey]
TEST_F(UmadHeaderTest, TheSecondFormOfRegisteringTurnsTheNewLayoutOn) {
  ib_user_mad_reg_req2 request = Request2();
  ASSERT_EQ(Register(umad_, request), Errno::kOk);
  EXPECT_EQ(HeaderSize(), kUmadHeader);
  EXPECT_EQ(EnablePKey(), Errno::kInvalid);
}

// [enable_pkey]
TEST_F(UmadHeaderTest, TheSecondFormComesTooLateAfterTheFirst) {
  ASSERT_EQ(Register(Request()), Errno::kOk);
  ib_user_mad_reg_req2 request = Request2();
  ASSERT_EQ(Register(umad_, request), Errno::kOk);
  EXPECT_EQ(HeaderSize(), kOldUmadHeader);
}

// [enable_pkey]
TEST_F(UmadHeaderTest, AFailedSecondFormLeavesTheOldLayout) {
  ib_user_mad_reg_req2 request = Request2();
  request.mgmt_class = 1;  // QP0's
  ASSERT_EQ(Register(umad_, request), Errno::kInvalid);
  EXPECT_EQ(HeaderSize(), kOldUmadHeader);
}

// [write_sizes_noagent]
TEST_F(UmadHeaderTest, AWriteNeedsTheHeaderOfItsLayout) {
  EXPECT_EQ(EnablePKey(), Errno::kOk);
  ASSERT_EQ(Register(Request()), Errno::kOk);
  const auto written = Umad(HeaderTo(kPeer), PerfGet(1), kUmadHeader);
  const mad::Bytes bytes(written);
  EXPECT_EQ(umad_.Write(bytes.first(kUmadHeader + 35)), Errno::kInvalid);
  EXPECT_EQ(umad_.Write(bytes.first(kUmadHeader + 36)), Errno::kOk);
}

// [rx_header] [rx_id] [ib_sl_rx]
TEST_F(UmadHeaderTest, AReaderSeesTheSenderTheAgentAndNothingElse) {
  ASSERT_EQ(EnablePKey(), Errno::kOk);
  ServeAndReceive();
  const FileDriver::Answer answer = umad_.Read(1024);
  ASSERT_EQ(answer.data.size(), kUmadHeader + 256);
  const ib_user_mad_hdr expected = ExpectedHeader(kUmadHeader);
  EXPECT_EQ(std::memcmp(answer.data.data(), &expected, kUmadHeader), 0);
  EXPECT_EQ(std::memcmp(&answer.data[kUmadHeader], request_.data(), 256), 0);
}

// [rx_header_old]
TEST_F(UmadHeaderTest, TheOldLayoutIsTheSameWithoutThePKeyIndex) {
  ServeAndReceive();
  const FileDriver::Answer answer = umad_.Read(1024);
  ASSERT_EQ(answer.data.size(), kWholeMad);
  const ib_user_mad_hdr expected = ExpectedHeader(kOldUmadHeader);
  EXPECT_EQ(std::memcmp(answer.data.data(), &expected, kOldUmadHeader), 0);
  EXPECT_EQ(std::memcmp(&answer.data[kOldUmadHeader], request_.data(), 256), 0);
}

// [ib_grh_rx]
TEST_F(UmadHeaderTest, AGrhIsShownAsAnAnswerWouldNeedIt) {
  ASSERT_EQ(EnablePKey(), Errno::kOk);
  ServeAndReceive(mad::GlobalRoute{.gid = {0x1112131415161718, 0x21},
                                   .flow_label = 0x12345,
                                   .gid_index = 1,
                                   .hop_limit = 3,
                                   .traffic_class = 8});
  const FileDriver::Answer answer = umad_.Read(1024);
  ASSERT_EQ(answer.data.size(), kUmadHeader + 256);
  ib_user_mad_hdr expected = ExpectedHeader(kUmadHeader);
  expected.grh_present = 1;
  for (uint8_t i = 0; i < 8; ++i) {
    expected.gid[i] = static_cast<uint8_t>(0x11 + i);
  }
  expected.gid[15] = 0x21;
  expected.gid_index = 1;
  expected.hop_limit = 255;  // not the received one
  expected.traffic_class = 8;
  expected.flow_label = htobe32(0x12345);
  EXPECT_EQ(std::memcmp(answer.data.data(), &expected, kUmadHeader), 0);
}

// [write_address]
TEST_F(UmadHeaderTest, OnlyTheNewLayoutHasAPKeyIndexToSendWith) {
  ib_user_mad_hdr header = HeaderTo(kPeer);
  header.pkey_index = 2;
  ASSERT_EQ(Register(Request()), Errno::kOk);
  ASSERT_EQ(umad_.Write(Umad(header, PerfGet(1))), Errno::kOk);
  EXPECT_EQ(port_.sent.back().to.pkey_index, 0);

  UmadFile file(host_, 1);
  FileDriver umad(file);
  ib_user_mad_reg_req2 request = Request2();
  ASSERT_EQ(Register(umad, request), Errno::kOk);
  ASSERT_EQ(umad.Write(Umad(header, PerfGet(1), kUmadHeader)), Errno::kOk);
  EXPECT_EQ(port_.sent.back().to.pkey_index, 2);
}

// [write_address]
TEST_F(UmadHeaderTest, AGrhThatIsWrittenIsSent) {
  ASSERT_EQ(Register(Request()), Errno::kOk);
  ib_user_mad_hdr header = HeaderTo(kPeer);
  header.grh_present = 1;
  header.gid[0] = 0xfe;
  header.gid[15] = 7;
  header.gid_index = 0;
  header.hop_limit = 9;
  header.traffic_class = 8;
  header.flow_label = htobe32(0x12345);
  ASSERT_EQ(umad_.Write(Umad(header, PerfGet(1))), Errno::kOk);
  const mad::GlobalRoute expected{.gid = {uint64_t{0xfe} << 56, 7},
                                  .flow_label = 0x12345,
                                  .gid_index = 0,
                                  .hop_limit = 9,
                                  .traffic_class = 8};
  EXPECT_EQ(port_.sent.back().to.grh, expected);
}

// [ah_errors]
TEST_F(UmadHeaderTest, AGidIndexBeyondTheTableIsInvalidAndLeavesNothing) {
  ASSERT_EQ(Register(Request()), Errno::kOk);
  ib_user_mad_hdr header = HeaderTo(kPeer);
  header.timeout_ms = 100;
  header.grh_present = 1;
  header.gid_index = 1;
  EXPECT_EQ(umad_.Write(Umad(header, PerfGet(1))), Errno::kInvalid);
  header.gid_index = 0;
  EXPECT_EQ(umad_.Write(Umad(header, PerfGet(1))), Errno::kOk);
  EXPECT_EQ(port_.sent.size(), 1u);
}

}  // namespace
}  // namespace ibemu::cuse

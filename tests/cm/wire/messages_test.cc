// Messages, byte for byte, as packed by hand from the tables of IBA vol 1
// §12.6; tshark reads the REQ alike.
#include <string>

#include "absl/strings/escaping.h"
#include "cm/cm_mad.h"
#include "cm/connection.h"
#include "cm/wire/connection_messages.h"
#include "cm/wire/req.h"
#include "cm/wire/sidr_messages.h"
#include "gtest/gtest.h"
#include "tests/cm/wire/alternate_path_messages.h"

namespace ibemu::cm {
namespace {

std::string Hex(std::span<const std::byte> bytes) {
  return absl::BytesToHexString(
      {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

// The first bytes of a message after the MAD header.
template <class M>
std::string Front(const M& message, size_t count) {
  const mad::MadBytes mad = MakeMad(message, 0);
  return Hex(std::span(mad).subspan(24, count));
}

TEST(CmMessagesTest, AReqIsPackedAsTheSpecificationSays) {
  CmRequest request{.path = {.dgid = {wire::kDefaultGidPrefix, 0x2002},
                             .sgid = {wire::kDefaultGidPrefix, 0x2001},
                             .dlid = wire::Lid{2},
                             .slid = wire::Lid{1},
                             .flow_label = 0x12345,
                             .hop_limit = 1,
                             .traffic_class = 0x5a,
                             .p_key = 0xffff,
                             .sl = 3,
                             .mtu = 4,
                             .rate = 7,
                             .packet_life_time = 18},
                    .service_id = 0x0000000001061234,
                    .qpn = 0x111,
                    .starting_psn = 0xaaaaaa,
                    .responder_resources = 4,
                    .initiator_depth = 8,
                    .flow_control = true,
                    .retry_count = 7,
                    .rnr_retry_count = 6,
                    .srq = true,
                    .ece = {.vendor_id = 0x0a0b0c, .attr_mod = 0x77},
                    .private_data = std::vector<std::byte>(92)};
  request.private_data.front() = std::byte{0xc1};
  request.private_data.back() = std::byte{0xc2};
  Connection connection({.comm_id = 0x01020304,
                         .ca_guid = wire::Guid{0x0002c90300001001},
                         .ca_ack_delay = 15});
  const absl::StatusOr<Sending> req =
      connection.SendReq(absl::UnixEpoch(), request, {.high_tid = 0x99});
  ASSERT_TRUE(req.ok()) << req.status();
  EXPECT_EQ(Hex(req->mad),
            "01070203000000000000009901020304001000000000007701020304000a0b0c"
            "00000000010612340002c9030000100100000000000000000001110400000008"
            "000000a1aaaaaaa7ffff46f800010002fe800000000000000000000000002001"
            "fe800000000000000000000000002002123450075a0138980000000000000000"
            "0000000000000000000000000000000000000000000000000000000000000000"
            "00000000c1000000000000000000000000000000000000000000000000000000"
            "0000000000000000000000000000000000000000000000000000000000000000"
            "00000000000000000000000000000000000000000000000000000000000000c2");
}

TEST(CmMessagesTest, AReqOverARouterHasNoLids) {
  CmRequest request{
      .path = {.dlid = wire::Lid{2}, .slid = wire::Lid{1}, .hop_limit = 2}};
  Connection connection({.comm_id = 1});
  const auto sending = connection.SendReq(absl::UnixEpoch(), request, {});
  ASSERT_TRUE(sending.ok());
  const auto req = BodyOf<Req>(sending->mad);
  EXPECT_EQ(req.primary.local_lid, wire::Lid::kPermissive);
  EXPECT_EQ(req.primary.remote_lid, wire::Lid::kPermissive);
  EXPECT_FALSE(req.primary.subnet_local);
}

TEST(CmMessagesTest, TheOtherMessagesArePackedLikewise) {
  EXPECT_EQ(Front(Mra{.local_comm_id = 0x01020304,
                      .remote_comm_id = 0x05060708,
                      .message_mraed = About::kRep,
                      .service_timeout = 24},
                  10),
            "010203040506070840c0");
  EXPECT_EQ(Front(Rej{.local_comm_id = 0x01020304,
                      .remote_comm_id = 0x05060708,
                      .message_rejected = About::kLapOrOther,
                      .info_length = 8,
                      .reason = 28,
                      .info = {std::byte{0xaa}}},
                  13),
            "01020304050607088010001caa");
  EXPECT_EQ(Front(Rep{.local_comm_id = 0x01020304,
                      .remote_comm_id = 0x05060708,
                      .local_qpn = 0x111213,
                      .vendor_id_high = 0xa1,
                      .vendor_id_middle = 0xa2,
                      .starting_psn = 0x212223,
                      .vendor_id_low = 0xa3,
                      .responder_resources = 4,
                      .initiator_depth = 8,
                      .target_ack_delay = 15,
                      .failover = Failover::kUnsupported,
                      .end_to_end_flow_control = true,
                      .rnr_retry_count = 7,
                      .srq = true,
                      .local_ca_guid = wire::Guid{0x3132333435363738},
                      .private_data = {std::byte{0xbb}}},
                  37),
            "010203040506070800000000111213a1000000a2212223a304087bf0"
            "3132333435363738bb");
  EXPECT_EQ(Front(Rtu{.local_comm_id = 1,
                      .remote_comm_id = 2,
                      .private_data = {std::byte{0xbb}}},
                  9),
            "0000000100000002bb");
  EXPECT_EQ(Front(Dreq{.local_comm_id = 1,
                       .remote_comm_id = 2,
                       .remote_qpn = 0x111213,
                       .private_data = {std::byte{0xbb}}},
                  13),
            "000000010000000211121300bb");
  EXPECT_EQ(Front(Drep{.local_comm_id = 1,
                       .remote_comm_id = 2,
                       .private_data = {std::byte{0xbb}}},
                  9),
            "0000000100000002bb");
  EXPECT_EQ(Front(SidrReq{.request_id = 1,
                          .p_key = 0x8001,
                          .service_id = 0x0102030405060708,
                          .private_data = {std::byte{0xbb}}},
                  17),
            "00000001800100000102030405060708bb");
  EXPECT_EQ(Front(SidrRep{.request_id = 1,
                          .status = 2,
                          .info_length = 3,
                          .vendor_id_high = 0xa1a2,
                          .qpn = 0x111213,
                          .vendor_id_low = 0xa3,
                          .service_id = 0x0102030405060708,
                          .qkey = 0x01234567,
                          .info = {std::byte{0xaa}}},
                  25),
            "000000010203a1a2111213a3010203040506070801234567aa");
}

TEST(CmMessagesTest, EachMessageFillsItsMad) {
  EXPECT_EQ(wire::kBytes<Req>, kMessageBytes);
  EXPECT_EQ(wire::kBytes<Mra>, kMessageBytes);
  EXPECT_EQ(wire::kBytes<Rej>, kMessageBytes);
  EXPECT_EQ(wire::kBytes<Rep>, kMessageBytes);
  EXPECT_EQ(wire::kBytes<Rtu>, kMessageBytes);
  EXPECT_EQ(wire::kBytes<Dreq>, kMessageBytes);
  EXPECT_EQ(wire::kBytes<Drep>, kMessageBytes);
  EXPECT_EQ(wire::kBytes<SidrReq>, kMessageBytes);
  EXPECT_EQ(wire::kBytes<SidrRep>, kMessageBytes);
  EXPECT_EQ(wire::kBytes<Lap>, kMessageBytes);
  EXPECT_EQ(wire::kBytes<Apr>, kMessageBytes);
}

TEST(CmMessagesTest, AttributeIdsRunFromReqToApr) {
  EXPECT_EQ(AttributeIdOf(Message::kReq), 0x10);
  EXPECT_EQ(AttributeIdOf(Message::kApr), 0x1a);
  EXPECT_EQ(MessageOf(uint16_t{0x17}), Message::kSidrReq);
  EXPECT_EQ(MessageOf(uint16_t{0x0f}), std::nullopt);
  EXPECT_EQ(MessageOf(uint16_t{0x1b}), std::nullopt);
}

}  // namespace
}  // namespace ibemu::cm

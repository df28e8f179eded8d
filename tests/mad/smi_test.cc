#include "mad/smi.h"

#include <algorithm>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "mad/wire/smp.h"

namespace ibemu::mad {
namespace {

constexpr SmiNode kCa{.is_switch = false, .port_count = 2};
constexpr SmiNode kSwitch{.is_switch = true, .port_count = 36};
constexpr uint8_t kPort = 1;

constexpr SmiVerdict kDiscard{};
constexpr SmiVerdict kDeliver{.step = SmiStep::kDeliver};
constexpr SmiVerdict kAsAddressed{.step = SmiStep::kAsAddressed};
constexpr SmiVerdict Forward(uint8_t egress) {
  return {.step = SmiStep::kForward, .egress = egress};
}
constexpr SmiVerdict RouteTo(int lid) {
  return {.step = SmiStep::kRouteByLid, .dlid = wire::Lid(lid)};
}

// A directed-route SMP under way: request with `path`, answer with `back`.
struct Dr {
  int pointer = 0, count = 0;
  bool returning = false;
  std::vector<uint8_t> path{}, back{};  // from entry 1
  int slid = 0xffff, dlid = 0xffff;

  MadBytes Encode() const {
    Smp smp{.mgmt_class = MgmtClass::kSubnetDirectedRoute,
            .method = returning ? Method::kGetResp : Method::kGet,
            .direction = returning,
            .hop_pointer = static_cast<uint8_t>(pointer),
            .hop_count = static_cast<uint8_t>(count),
            .dr_slid = wire::Lid(slid),
            .dr_dlid = wire::Lid(dlid)};
    std::copy(path.begin(), path.end(), smp.initial_path.begin() + 1);
    std::copy(back.begin(), back.end(), smp.return_path.begin() + 1);
    MadBytes bytes;
    wire::Encode(smp, bytes);
    return bytes;
  }
};

class SmiTest : public ::testing::Test {
 protected:
  SmiVerdict Send(const Dr& dr, SmiNode node = kCa, uint8_t port = kPort) {
    smp_ = dr.Encode();
    return SmiSend(smp_, node, port);
  }
  SmiVerdict Answer(const Dr& dr, SmiNode node, uint8_t port) {
    smp_ = dr.Encode();
    return SmiAnswer(smp_, node, port);
  }
  SmiVerdict Receive(const Dr& dr, SmiNode node, uint8_t ingress) {
    smp_ = dr.Encode();
    return SmiReceive(smp_, node, ingress);
  }
  int pointer() const { return wire::Get<&Smp::hop_pointer>(smp_); }
  int back(size_t hop) const { return wire::Get<&Smp::return_path>(smp_)[hop]; }

  MadBytes smp_{};
};

TEST_F(SmiTest, ARequestWithoutHopsIsLocal) {
  EXPECT_EQ(Send({}), kDeliver);
  EXPECT_EQ(pointer(), 1);
}

// [smi_hop_pointer]
TEST_F(SmiTest, ARequestLeavesThroughThePortThatItsPathNames) {
  EXPECT_EQ(Send({.count = 3, .path = {1, 5, 6}}), Forward(1));
  EXPECT_EQ(pointer(), 1);
}

// [smi_send_checks]
TEST_F(SmiTest, AChannelAdapterRefusesAPathThatBeginsAtAnotherPort) {
  EXPECT_EQ(Send({.count = 1, .path = {2}}), kDiscard);
  EXPECT_EQ(Send({.count = 1, .path = {0}}), kDiscard);
  EXPECT_EQ(Send({.count = 1, .path = {2}}, kCa, 2), Forward(2));
}

// [smi_send_checks]
TEST_F(SmiTest, AChannelAdapterRefusesToStandInTheMiddleOfAPath) {
  EXPECT_EQ(Send({.pointer = 1, .count = 2, .path = {1, 1}}), kDiscard);
  EXPECT_EQ(Send({.pointer = 2, .count = 2, .returning = true, .back = {1, 1}}),
            kDiscard);
}

TEST_F(SmiTest, ARequestAtTheEndOfItsPathIsLocal) {
  EXPECT_EQ(Send({.pointer = 1, .count = 1, .path = {1}}), kDeliver);
  EXPECT_EQ(pointer(), 2);
  EXPECT_EQ(Send({.pointer = 2, .count = 1, .path = {1}}), kDeliver);
  EXPECT_EQ(pointer(), 2);
  EXPECT_EQ(Send({.pointer = 1}), kDeliver);
}

// [smi_send_checks]
TEST_F(SmiTest, TheEndOfThePathNeedsAPermissiveDlidOnAChannelAdapter) {
  EXPECT_EQ(Send({.dlid = 7}), kDiscard);
  EXPECT_EQ(Send({.pointer = 1, .count = 1, .path = {1}, .dlid = 7}), kDiscard);
  EXPECT_EQ(Send({.dlid = 7}, kSwitch, 0), RouteTo(7));
}

// [smi_send_checks]
TEST_F(SmiTest, AHopPointerBeyondTheCountIsRefused) {
  EXPECT_EQ(Send({.pointer = 2}), kDiscard);
  EXPECT_EQ(Send({.pointer = 4, .count = 2, .path = {1, 1}}), kDiscard);
  EXPECT_EQ(
      Send({.pointer = 4, .count = 2, .returning = true, .back = {1, 1, 1}}),
      kDiscard);
}

// [smi_send_checks]
TEST_F(SmiTest, SixtyFourHopsAreTooMany) {
  EXPECT_EQ(Send({.count = 63, .path = {1}}), Forward(1));
  EXPECT_EQ(Send({.count = 64, .path = {1}}), kDiscard);
  EXPECT_EQ(Send({.count = 255, .path = {1}}), kDiscard);
  EXPECT_EQ(Receive({.pointer = 63, .count = 64}, kSwitch, 1), kDiscard);
}

TEST_F(SmiTest, AnAnswerLeavesThroughThePortWhereTheRequestCame) {
  EXPECT_EQ(Send({.pointer = 3, .count = 2, .returning = true, .back = {9, 1}}),
            Forward(1));
  EXPECT_EQ(pointer(), 2);
  EXPECT_EQ(Send({.pointer = 3, .count = 2, .returning = true, .back = {9, 2}}),
            kDiscard);
}

TEST_F(SmiTest, AnAnswerToALocalRequestIsLocal) {
  EXPECT_EQ(Send({.pointer = 1, .returning = true}), kDeliver);
  EXPECT_EQ(pointer(), 0);
  EXPECT_EQ(Send({.pointer = 0, .returning = true}), kDeliver);
}

// [smi_send_checks]
TEST_F(SmiTest, TheEndOfTheWayBackNeedsAPermissiveSlidOnAChannelAdapter) {
  EXPECT_EQ(Send({.pointer = 1, .returning = true, .slid = 7}), kDiscard);
  EXPECT_EQ(Send({.pointer = 1, .returning = true, .slid = 7}, kSwitch, 0),
            RouteTo(7));
}

// [smi_send_checks]
TEST_F(SmiTest, ALidRoutedFirstPartIsNotChecked) {
  const Dr request{.count = 1, .path = {9}, .slid = 7};
  EXPECT_EQ(Send(request), kAsAddressed);
  EXPECT_EQ(pointer(), 0);
  EXPECT_EQ(Send({.pointer = 2, .count = 1, .returning = true, .dlid = 7}),
            kAsAddressed);
  EXPECT_EQ(Send({.count = 200, .slid = 7}), kAsAddressed);
}

TEST_F(SmiTest, ALidRoutedFirstPartWithAPathThatIsOverIsLocal) {
  EXPECT_EQ(Send({.pointer = 1, .slid = 7}), kDeliver);
  EXPECT_EQ(Send({.pointer = 0, .returning = true, .dlid = 7}), kDeliver);
}

TEST_F(SmiTest, ASwitchSendsThroughAnyOfItsPorts) {
  EXPECT_EQ(Send({.count = 2, .path = {36, 1}}, kSwitch, 0), Forward(36));
  EXPECT_EQ(Send({.count = 2, .path = {37, 1}}, kSwitch, 0), kDiscard);
  EXPECT_EQ(Send({.pointer = 3, .count = 2, .returning = true, .back = {1, 8}},
                 kSwitch, 0),
            Forward(8));
}

TEST_F(SmiTest, ASwitchForwardsARequestAndRecordsWhereItCame) {
  EXPECT_EQ(Receive({.pointer = 1, .count = 3, .path = {1, 5, 6}}, kSwitch, 12),
            Forward(5));
  EXPECT_EQ(pointer(), 2);
  EXPECT_EQ(back(1), 12);
}

TEST_F(SmiTest, ASwitchDropsARequestForAPortThatItLacks) {
  EXPECT_EQ(Receive({.pointer = 1, .count = 2, .path = {1, 37}}, kSwitch, 1),
            kDiscard);
  EXPECT_EQ(Receive({.pointer = 1, .count = 2, .path = {1, 0}}, kSwitch, 1),
            kDiscard);
}

TEST_F(SmiTest, ARequestEndsAtTheLastNodeOfItsPath) {
  for (const SmiNode node : {kCa, kSwitch}) {
    EXPECT_EQ(Receive({.pointer = 2, .count = 2, .path = {1, 5}}, node, 2),
              kDeliver);
    EXPECT_EQ(pointer(), 3);
    EXPECT_EQ(back(2), 2);
  }
}

TEST_F(SmiTest, AChannelAdapterForwardsNothing) {
  EXPECT_EQ(Receive({.pointer = 1, .count = 2, .path = {1, 1}}, kCa, 1),
            kDiscard);
  EXPECT_EQ(
      Receive({.pointer = 2, .count = 2, .returning = true, .back = {1, 1}},
              kCa, 1),
      kDiscard);
  EXPECT_EQ(Receive({.count = 1, .path = {1}, .slid = 7}, kCa, 1), kDiscard);
}

TEST_F(SmiTest, ASwitchForwardsAnAnswerAlongTheReturnPath) {
  EXPECT_EQ(
      Receive({.pointer = 2, .count = 2, .returning = true, .back = {12, 3}},
              kSwitch, 5),
      Forward(12));
  EXPECT_EQ(pointer(), 1);
}

TEST_F(SmiTest, AnAnswerEndsAtTheRequester) {
  EXPECT_EQ(
      Receive({.pointer = 1, .count = 2, .returning = true, .back = {12, 3}},
              kCa, 1),
      kDeliver);
  EXPECT_EQ(pointer(), 0);
}

TEST_F(SmiTest, UnreasonableHopPointersOfArrivalsAreDropped) {
  EXPECT_EQ(Receive({.pointer = 0, .count = 2, .path = {1, 1}}, kSwitch, 1),
            kDiscard);
  EXPECT_EQ(Receive({.pointer = 4, .count = 2}, kSwitch, 1), kDiscard);
  EXPECT_EQ(Receive({.pointer = 4, .count = 2, .returning = true}, kSwitch, 1),
            kDiscard);
  EXPECT_EQ(
      Receive({.pointer = 3, .count = 2, .returning = true, .back = {1, 1}},
              kSwitch, 1),
      kDiscard);
}

// ibportstate LID PORT: by LID to a switch, then one hop out of it.
TEST_F(SmiTest, AMixedRouteGoesByLidThenByPathAndBackTheSameWay) {
  EXPECT_EQ(Receive({.count = 1, .path = {5}, .slid = 7}, kSwitch, 0),
            Forward(5));
  EXPECT_EQ(pointer(), 1);

  EXPECT_EQ(Receive({.pointer = 1, .count = 1, .path = {5}, .slid = 7}, kCa, 1),
            kDeliver);
  EXPECT_EQ(back(1), 1);

  EXPECT_EQ(
      Answer(
          {.pointer = 2, .count = 1, .returning = true, .back = {1}, .slid = 7},
          kCa, 1),
      Forward(1));
  EXPECT_EQ(
      Receive(
          {.pointer = 1, .count = 1, .returning = true, .back = {1}, .slid = 7},
          kSwitch, 5),
      RouteTo(7));
  EXPECT_EQ(pointer(), 0);
  EXPECT_EQ(
      Receive({.pointer = 0, .count = 1, .returning = true, .slid = 7}, kCa, 1),
      kDeliver);
}

TEST_F(SmiTest, AMixedRouteGoesByPathThenByLidAndBackTheSameWay) {
  EXPECT_EQ(
      Receive({.pointer = 1, .count = 1, .path = {1}, .dlid = 9}, kSwitch, 12),
      RouteTo(9));
  EXPECT_EQ(pointer(), 2);
  EXPECT_EQ(Receive({.pointer = 2, .count = 1, .path = {1}, .dlid = 9}, kCa, 1),
            kDeliver);

  const Dr answer{
      .pointer = 2, .count = 1, .returning = true, .back = {12}, .dlid = 3};
  EXPECT_EQ(Answer(answer, kCa, 1), kAsAddressed);
  EXPECT_EQ(Receive(answer, kSwitch, 0), Forward(12));
  EXPECT_EQ(pointer(), 1);
}

TEST_F(SmiTest, ARequestByLidAloneIsAnsweredByLid) {
  EXPECT_EQ(Receive({.slid = 7}, kCa, 1), kDeliver);
  EXPECT_EQ(Answer({.pointer = 1, .returning = true, .slid = 7}, kCa, 1),
            RouteTo(7));
  EXPECT_EQ(pointer(), 0);
}

}  // namespace
}  // namespace ibemu::mad

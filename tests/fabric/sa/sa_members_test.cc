#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fabric/sa/group_parameters.h"
#include "fabric/sm/subnet_manager.h"
#include "mad/wire/sa_services.h"
#include "tests/fabric/sa/sa_fixture.h"

namespace ibemu::fabric {
namespace {

using mad::InformInfo, mad::MadStatus, mad::McMemberRecord, mad::Method,
    mad::ServiceRecord, mad::TrapNumber;
using ::testing::IsEmpty, ::testing::SizeIs;

constexpr uint64_t kJoin = kComponentBit<&McMemberRecord::mgid> |
                           kComponentBit<&McMemberRecord::port_gid> |
                           kComponentBit<&McMemberRecord::join_state>;
constexpr uint64_t kCreate = kJoin | kComponentBit<&McMemberRecord::q_key> |
                             kComponentBit<&McMemberRecord::traffic_class> |
                             kComponentBit<&McMemberRecord::p_key> |
                             kComponentBit<&McMemberRecord::flow_label> |
                             kComponentBit<&McMemberRecord::sl>;
constexpr uint64_t kTrusted = SubnetAdministration::kSmKey;

class SaMembersTest : public SaTest {
 protected:
  McMemberRecord NewGroup(topology::NodeId host) {
    return {.mgid = {.prefix = 0xff12'1234'0000'0000, .interface_id = 7},
            .port_gid = GidOf(host),
            .q_key = 0x11,
            .p_key = kDefaultPKey,
            .join_state = mad::kFullMember};
  }
  bool Forwards(wire::Lid mlid, int port) {
    timers_.RunFor(absl::Seconds(1));
    return fabric_.subnet().node(kSwitch).sw->multicast.Contains(mlid, port);
  }
  // On node-2.
  void Subscribe(TrapNumber number) {
    InformInfo info{.lid_range_begin = wire::Lid::kPermissive,
                    .is_generic = 1,
                    .subscribe = 1,
                    .type = 0xffff,
                    .trap_number = static_cast<uint16_t>(number),
                    .producer_type = 0xffffff};
    EXPECT_EQ(Ask(Method::kSet, info, 0, 0, &other_).status(), MadStatus::kOk);
  }
};

TEST_F(SaMembersTest, TheBroadcastGroupIsThereFromTheStart) {
  const auto groups = Table<McMemberRecord>();
  ASSERT_THAT(groups, SizeIs(1));
  EXPECT_EQ(groups[0].mgid, IpoibBroadcastGroup().mgid);
  EXPECT_EQ(groups[0].mlid, wire::Lid{0xc000});
  EXPECT_EQ(groups[0].q_key, 0xb1bu);
}

TEST_F(SaMembersTest, AJoinIsRoutedAndALeaveEndsIt) {
  const McMemberRecord wanted{.mgid = IpoibBroadcastGroup().mgid,
                              .port_gid = GidOf(kHost),
                              .join_state = mad::kFullMember};
  const auto joined = Ask(Method::kSet, wanted, kJoin);
  ASSERT_EQ(joined.status(), MadStatus::kOk);
  EXPECT_FALSE(joined.header.rmpp.active);
  EXPECT_EQ(joined.As<McMemberRecord>()[0].mlid, wire::Lid{0xc000});
  EXPECT_EQ(Ask(Method::kSet,
                McMemberRecord{.mgid = wanted.mgid,
                               .port_gid = GidOf(kOtherHost),
                               .join_state = mad::kFullMember},
                kJoin, 0, &other_)
                .status(),
            MadStatus::kOk);
  EXPECT_TRUE(Forwards(wire::Lid{0xc000}, 1));
  EXPECT_TRUE(Forwards(wire::Lid{0xc000}, 3));
  EXPECT_THAT(Table<McMemberRecord>({}, 0, kTrusted), SizeIs(2));

  EXPECT_EQ(Ask(Method::kDelete, wanted, kJoin).status(), MadStatus::kOk);
  EXPECT_FALSE(Forwards(wire::Lid{0xc000}, 1));
  EXPECT_EQ(Ask(Method::kDelete, wanted, kJoin).status(),
            MadStatus::kSaRequestInvalid);
}

TEST_F(SaMembersTest, AGroupIsMadeByItsFirstFullMemberAndGoesWithTheLast) {
  McMemberRecord wanted = NewGroup(kHost);
  EXPECT_EQ(Ask(Method::kSet, wanted, kJoin).status(),
            MadStatus::kSaInsufficientComponents);
  wanted.join_state = mad::kNonMember;
  EXPECT_EQ(Ask(Method::kSet, wanted, kCreate).status(),
            MadStatus::kSaRequestInvalid);
  wanted.join_state = mad::kFullMember;
  const auto made = Ask(Method::kSet, wanted, kCreate);
  ASSERT_EQ(made.status(), MadStatus::kOk);
  EXPECT_EQ(made.As<McMemberRecord>()[0].mlid, wire::Lid{0xc001});
  EXPECT_EQ(made.As<McMemberRecord>()[0].rate, 16);
  EXPECT_THAT(Table<McMemberRecord>(), SizeIs(2));
  EXPECT_EQ(Ask(Method::kDelete, wanted, kJoin).status(), MadStatus::kOk);
  EXPECT_THAT(Table<McMemberRecord>(), SizeIs(1));
}

TEST_F(SaMembersTest, AGroupWithoutMgidGetsOne) {
  McMemberRecord wanted = NewGroup(kHost);
  wanted.mgid = {};
  const auto made = Ask(Method::kSet, wanted, kCreate).As<McMemberRecord>();
  EXPECT_EQ(made[0].mgid.prefix >> 32, 0xff12a01bu);
}

TEST_F(SaMembersTest, RefusesWhoDoesNotFitTheGroup) {
  ASSERT_EQ(Ask(Method::kSet, NewGroup(kHost), kCreate).status(),
            MadStatus::kOk);
  McMemberRecord other = NewGroup(kOtherHost);
  other.q_key = 0x22;
  EXPECT_EQ(Ask(Method::kSet, other, kCreate, 0, &other_).status(),
            MadStatus::kSaRequestInvalid);
  other.q_key = 0x11;
  PortOf(kOtherHost, 1).info.neighbor_mtu = 3;
  EXPECT_EQ(Ask(Method::kSet, other, kCreate, 0, &other_).status(),
            MadStatus::kSaRequestInvalid);
  other.port_gid.interface_id = 1;
  EXPECT_EQ(Ask(Method::kSet, other, kCreate, 0, &other_).status(),
            MadStatus::kSaRequestInvalid);
}

TEST_F(SaMembersTest, OnlyTheMemberItselfLeaves) {
  ASSERT_EQ(Ask(Method::kSet, NewGroup(kHost), kCreate).status(),
            MadStatus::kOk);
  EXPECT_EQ(Ask(Method::kDelete, NewGroup(kHost), kJoin, 0, &other_).status(),
            MadStatus::kSaRequestInvalid);
}

TEST_F(SaMembersTest, APortThatIsGoneLeavesItsGroups) {
  ASSERT_EQ(
      Ask(Method::kSet, NewGroup(kOtherHost), kCreate, 0, &other_).status(),
      MadStatus::kOk);
  ASSERT_TRUE(fabric_.SetLink(kOtherHost, 1, false).ok());
  timers_.RunFor(absl::Seconds(30));
  EXPECT_THAT(Table<McMemberRecord>(), SizeIs(1));
}

TEST_F(SaMembersTest, APathToAGroupIsTheGroups) {
  mad::PathRecord wanted{.dgid = IpoibBroadcastGroup().mgid};
  const auto answer =
      Ask(Method::kGet, wanted, kComponentBit<&mad::PathRecord::dgid>);
  ASSERT_EQ(answer.status(), MadStatus::kOk);
  EXPECT_EQ(answer.As<mad::PathRecord>()[0].dlid, wire::Lid{0xc000});
}

TEST_F(SaMembersTest, ReportsWhatASubscriberAskedFor) {
  Subscribe(TrapNumber::kMulticastGroupCreated);
  ASSERT_EQ(Ask(Method::kSet, NewGroup(kHost), kCreate).status(),
            MadStatus::kOk);
  timers_.RunFor(absl::Seconds(5));
  ASSERT_THAT(other_.reports, SizeIs(1));
  EXPECT_EQ(other_.reports[0].notice.trap_number,
            TrapNumber::kMulticastGroupCreated);
  const auto details =
      wire::Decode<mad::GidDetails>(other_.reports[0].notice.data_details);
  EXPECT_EQ(details.gid, NewGroup(kHost).mgid);
}

TEST_F(SaMembersTest, RepeatsAReportUntilItIsConfirmed) {
  other_.confirms = false;
  Subscribe(TrapNumber::kMulticastGroupCreated);
  ASSERT_EQ(Ask(Method::kSet, NewGroup(kHost), kCreate).status(),
            MadStatus::kOk);
  timers_.RunFor(absl::Seconds(5));
  EXPECT_THAT(other_.reports, SizeIs(4));
}

TEST_F(SaMembersTest, ReportsPortsThatGo) {
  Subscribe(TrapNumber::kGidOutOfService);
  ASSERT_TRUE(fabric_.SetLink(kHost, 2, false).ok());
  timers_.RunFor(absl::Seconds(30));
  ASSERT_THAT(other_.reports, SizeIs(1));
  EXPECT_EQ(other_.reports[0].notice.trap_number, TrapNumber::kGidOutOfService);
}

TEST_F(SaMembersTest, WhoUnsubscribesHearsNothing) {
  Subscribe(TrapNumber::kMulticastGroupCreated);
  InformInfo info{.lid_range_begin = wire::Lid::kPermissive,
                  .is_generic = 1,
                  .type = 0xffff,
                  .trap_number = 66,
                  .qpn = 1,
                  .producer_type = 0xffffff};
  EXPECT_THAT(Table<mad::InformInfoRecord>(), SizeIs(1));
  EXPECT_EQ(Ask(Method::kSet, info, 0, 0, &other_).status(), MadStatus::kOk);
  EXPECT_THAT(Table<mad::InformInfoRecord>(), IsEmpty());
  EXPECT_EQ(Ask(Method::kSet, info, 0, 0, &other_).status(),
            MadStatus::kSaRequestInvalid);
}

TEST_F(SaMembersTest, TrapsOfKeysAreForTheTrustedOnly) {
  InformInfo info{.lid_range_begin = wire::Lid::kPermissive,
                  .is_generic = 1,
                  .subscribe = 1,
                  .trap_number = 257};
  EXPECT_EQ(Ask(Method::kSet, info, 0).status(), MadStatus::kSaRequestInvalid);
  EXPECT_EQ(Ask(Method::kSet, info, 0, kTrusted).status(), MadStatus::kOk);
}

TEST_F(SaMembersTest, AServiceIsKnownWhileItsLeaseLasts) {
  ServiceRecord service{
      .service_id = 5, .service_gid = GidOf(kHost), .service_lease = 10};
  service.service_key[0] = std::byte{9};
  constexpr uint64_t kWhole = kComponentBit<&ServiceRecord::service_id> |
                              kComponentBit<&ServiceRecord::service_gid> |
                              kComponentBit<&ServiceRecord::service_lease>;
  EXPECT_EQ(Ask(Method::kSet, service, 0).status(),
            MadStatus::kSaRequestInvalid);
  EXPECT_EQ(Ask(Method::kSet, service, kWhole).status(), MadStatus::kOk);
  const auto hidden = Table<ServiceRecord>();
  ASSERT_THAT(hidden, SizeIs(1));
  EXPECT_EQ(hidden[0].service_key[0], std::byte{0});
  EXPECT_EQ(Table<ServiceRecord>({}, 0, kTrusted).at(0).service_key[0],
            std::byte{9});
  timers_.RunFor(absl::Seconds(11));
  EXPECT_THAT(Table<ServiceRecord>(), IsEmpty());
  EXPECT_EQ(Ask(Method::kDelete, service, kWhole).status(),
            MadStatus::kSaNoRecords);
}

TEST_F(SaMembersTest, AServiceThatIsOfferedAgainTakesItsOwnPlace) {
  constexpr uint64_t kWhole = kComponentBit<&ServiceRecord::service_id> |
                              kComponentBit<&ServiceRecord::service_gid>;
  for (const uint64_t id : {5, 6, 5}) {
    const ServiceRecord service{.service_id = id, .service_gid = GidOf(kHost)};
    EXPECT_EQ(Ask(Method::kSet, service, kWhole).status(), MadStatus::kOk);
  }
  EXPECT_THAT(Table<ServiceRecord>(), SizeIs(2));
  const ServiceRecord six{.service_id = 6, .service_gid = GidOf(kHost)};
  EXPECT_EQ(Ask(Method::kDelete, six, kWhole).status(), MadStatus::kOk);
  const auto left = Table<ServiceRecord>();
  ASSERT_THAT(left, SizeIs(1));
  EXPECT_EQ(left[0].service_id, 5u);
}

}  // namespace
}  // namespace ibemu::fabric

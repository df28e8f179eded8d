#include <gmock/gmock.h>

#include "tests/verbs/providers/provider_suites.h"

namespace ibemu::verbs {

TEST_P(MulticastTest, AMessageComesToAllThatAreAttached) {
  const auto sender = Listener(HostNumber::kOne);
  const auto near = Member(HostNumber::kOne), far = Member(HostNumber::kTwo);
  const auto too = Member(HostNumber::kTwo);
  const auto stranger = Listener(HostNumber::kTwo);
  Send(*sender, group_);
  EXPECT_EQ(Received(*near), 1u);
  EXPECT_EQ(Received(*far), 1u);
  EXPECT_EQ(Received(*too), 1u);
  EXPECT_EQ(Received(*stranger), 0u);
  EXPECT_EQ(Received(*sender), 0u) << "it is not attached";
  EXPECT_EQ(far->memory->Text(kGrh, 6), "to all");
}

TEST_P(MulticastTest, WhoIsAttachedHearsItself) {
  const auto member = Member(HostNumber::kOne);
  Send(*member, group_);
  EXPECT_EQ(Received(*member), 1u);
  member->qp->DetachMulticast(group_, kGroupLid);
  Send(*member, group_);
  EXPECT_EQ(Received(*member), 0u);
}

TEST_P(MulticastTest, GroupsOfOneLidAreToldApartByTheirGid) {
  const auto sender = Listener(HostNumber::kOne);
  const auto member = Member(HostNumber::kTwo);
  Send(*sender, Group(2));
  EXPECT_EQ(Received(*member), 0u);
}

TEST_P(MulticastTest, OnlyDatagramsAndGroupAddressesCanBeAttached) {
  const auto connected = End(HostNumber::kOne, {});
  EXPECT_TRUE(absl::IsInvalidArgument(
      connected->qp->AttachMulticast(group_, kGroupLid)));
  EXPECT_TRUE(absl::IsInvalidArgument(a_->qp->AttachMulticast(group_, 7)));
  EXPECT_TRUE(
      absl::IsInvalidArgument(a_->qp->AttachMulticast(GidBytes{}, kGroupLid)));
}

TEST_P(MulticastTest, AQueuePairThatEndsLeavesItsGroups) {
  auto member = Member(HostNumber::kOne);
  const auto other = Member(HostNumber::kOne);
  member.reset();
  Send(*other, group_);
  EXPECT_EQ(Received(*other), 1u);
}

}  // namespace ibemu::verbs

#include "verbs/parts/qp_transitions.h"

#include <gtest/gtest.h>

namespace ibemu::verbs {
namespace {

using enum QpState;
using enum QpType;
using namespace qp_attribute;  // NOLINT: so that masks read as a table

bool Allowed(QpType type, QpState from, QpState to, uint32_t mask) {
  return CheckTransition(type, from, to, mask | kState).ok();
}

constexpr uint32_t kRcInit = kPKeyIndex | kPort | kAccessFlags;
constexpr uint32_t kUcReceive =
    kAddress | kPathMtu | kDestinationQp | kReceivePsn;
constexpr uint32_t kRcReceive = kUcReceive | kMaxReadsHere | kMinRnrTimer;
constexpr uint32_t kRcSend =
    kSendPsn | kTimeout | kRetryCount | kRnrRetry | kMaxReads;

TEST(QpTransitionsTest, LetsEachTypeComeUp) {
  EXPECT_TRUE(Allowed(kRc, kReset, kInit, kRcInit));
  EXPECT_TRUE(Allowed(kRc, kInit, kReadyToReceive, kRcReceive));
  EXPECT_TRUE(Allowed(kRc, kReadyToReceive, kReadyToSend, kRcSend));

  EXPECT_TRUE(Allowed(kUc, kReset, kInit, kRcInit));
  EXPECT_TRUE(Allowed(kUc, kInit, kReadyToReceive, kUcReceive));
  EXPECT_TRUE(Allowed(kUc, kReadyToReceive, kReadyToSend, kSendPsn));

  EXPECT_TRUE(Allowed(kUd, kReset, kInit, kPKeyIndex | kPort | kQKey));
  EXPECT_TRUE(Allowed(kUd, kInit, kReadyToReceive, 0));
  EXPECT_TRUE(Allowed(kUd, kReadyToReceive, kReadyToSend, kSendPsn));
}

TEST(QpTransitionsTest, RequiresEveryAttributeOfATransition) {
  for (uint32_t bit = 1; bit <= kDestinationQp; bit <<= 1) {
    if ((kRcReceive & bit) == 0) continue;
    EXPECT_FALSE(Allowed(kRc, kInit, kReadyToReceive, kRcReceive & ~bit))
        << bit;
  }
}

TEST(QpTransitionsTest, RefusesAttributesThatATransitionHasNot) {
  EXPECT_FALSE(Allowed(kRc, kReset, kInit, kRcInit | kQKey));
  EXPECT_FALSE(Allowed(kUc, kInit, kReadyToReceive, kRcReceive));
  EXPECT_FALSE(Allowed(kUd, kInit, kReadyToReceive, kAddress));
  EXPECT_FALSE(Allowed(kRc, kReset, kInit, kRcInit | kCapacity));
}

TEST(QpTransitionsTest, AllowsWhatMayChangeWhileInUse) {
  EXPECT_TRUE(Allowed(kRc, kReadyToSend, kReadyToSend, kAccessFlags));
  EXPECT_TRUE(Allowed(kUd, kReadyToSend, kReadyToSend, kQKey));
  EXPECT_FALSE(Allowed(kRc, kReadyToSend, kReadyToSend, kPort));
  EXPECT_TRUE(Allowed(kRc, kSendQueueDrain, kSendQueueDrain,
                      kPort | kAddress | kTimeout));
}

TEST(QpTransitionsTest, SkipsNoState) {
  EXPECT_FALSE(Allowed(kRc, kReset, kReadyToReceive, kRcReceive));
  EXPECT_FALSE(Allowed(kRc, kReset, kReadyToSend, kRcSend));
  EXPECT_FALSE(Allowed(kRc, kInit, kReadyToSend, kRcSend));
  EXPECT_FALSE(Allowed(kRc, kError, kInit, kRcInit));
  EXPECT_FALSE(Allowed(kRc, kError, kReadyToSend, kRcSend));
}

TEST(QpTransitionsTest, LetsEveryStateEndWithoutFurtherAdo) {
  for (const QpState from : {kInit, kReadyToReceive, kReadyToSend,
                             kSendQueueDrain, kSendQueueError, kError}) {
    for (const QpType type : {kRc, kUc, kUd, kGsi}) {
      EXPECT_TRUE(Allowed(type, from, kReset, 0));
      EXPECT_TRUE(Allowed(type, from, kError, 0));
      EXPECT_FALSE(Allowed(type, from, kError, kQKey));
    }
  }
  EXPECT_TRUE(Allowed(kRc, kReset, kReset, 0));
}

TEST(QpTransitionsTest, RecoversASendQueueExceptOfRc) {
  EXPECT_TRUE(Allowed(kUd, kSendQueueError, kReadyToSend, 0));
  EXPECT_TRUE(Allowed(kUc, kSendQueueError, kReadyToSend, 0));
  EXPECT_FALSE(Allowed(kRc, kSendQueueError, kReadyToSend, 0));
}

TEST(QpTransitionsTest, AssumesACurrentStateOnlyWhereItMayHaveChanged) {
  EXPECT_TRUE(
      Allowed(kRc, kReadyToReceive, kReadyToSend, kRcSend | kCurrentState));
  EXPECT_FALSE(Allowed(kRc, kReset, kInit, kRcInit | kCurrentState));
}

TEST(QpTransitionsTest, LeadsWhereTheAttributesSayFromTheStateThatTheyMean) {
  QpAttributes attributes{};
  attributes.qp_state = static_cast<uint32_t>(kReadyToSend);
  attributes.cur_qp_state = static_cast<uint32_t>(kSendQueueDrain);
  attributes.qp_attr_mask = kState;
  EXPECT_EQ(*NextState(kUd, kSendQueueError, attributes), kReadyToSend);
  attributes.qp_attr_mask = kState | kCurrentState;
  EXPECT_TRUE(absl::IsInvalidArgument(
      NextState(kUd, kSendQueueError, attributes).status()))
      << "it is in another";
  EXPECT_EQ(*NextState(kUd, kSendQueueDrain, attributes), kReadyToSend);
  attributes.qp_attr_mask = kQKey;
  EXPECT_EQ(*NextState(kUd, kReadyToSend, attributes), kReadyToSend)
      << "it stays where it is";
  EXPECT_TRUE(
      absl::IsInvalidArgument(NextState(kUd, kReset, attributes).status()));
}

}  // namespace
}  // namespace ibemu::verbs

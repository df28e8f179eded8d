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
  EXPECT_TRUE(Allowed(kReliable, kReset, kInit, kRcInit));
  EXPECT_TRUE(Allowed(kReliable, kInit, kReadyToReceive, kRcReceive));
  EXPECT_TRUE(Allowed(kReliable, kReadyToReceive, kReadyToSend, kRcSend));

  EXPECT_TRUE(Allowed(kUnreliable, kReset, kInit, kRcInit));
  EXPECT_TRUE(Allowed(kUnreliable, kInit, kReadyToReceive, kUcReceive));
  EXPECT_TRUE(Allowed(kUnreliable, kReadyToReceive, kReadyToSend, kSendPsn));

  EXPECT_TRUE(Allowed(kDatagram, kReset, kInit, kPKeyIndex | kPort | kQKey));
  EXPECT_TRUE(Allowed(kDatagram, kInit, kReadyToReceive, 0));
  EXPECT_TRUE(Allowed(kDatagram, kReadyToReceive, kReadyToSend, kSendPsn));
}

TEST(QpTransitionsTest, RequiresEveryAttributeOfATransition) {
  for (uint32_t bit = 1; bit <= kDestinationQp; bit <<= 1) {
    if ((kRcReceive & bit) == 0) continue;
    EXPECT_FALSE(Allowed(kReliable, kInit, kReadyToReceive, kRcReceive & ~bit))
        << bit;
  }
}

TEST(QpTransitionsTest, RefusesAttributesThatATransitionHasNot) {
  EXPECT_FALSE(Allowed(kReliable, kReset, kInit, kRcInit | kQKey));
  EXPECT_FALSE(Allowed(kUnreliable, kInit, kReadyToReceive, kRcReceive));
  EXPECT_FALSE(Allowed(kDatagram, kInit, kReadyToReceive, kAddress));
  EXPECT_FALSE(Allowed(kReliable, kReset, kInit, kRcInit | kCapacity));
}

TEST(QpTransitionsTest, AllowsWhatMayChangeWhileInUse) {
  EXPECT_TRUE(Allowed(kReliable, kReadyToSend, kReadyToSend, kAccessFlags));
  EXPECT_TRUE(Allowed(kDatagram, kReadyToSend, kReadyToSend, kQKey));
  EXPECT_FALSE(Allowed(kReliable, kReadyToSend, kReadyToSend, kPort));
  EXPECT_TRUE(Allowed(kReliable, kSendQueueDrain, kSendQueueDrain,
                      kPort | kAddress | kTimeout));
}

TEST(QpTransitionsTest, SkipsNoState) {
  EXPECT_FALSE(Allowed(kReliable, kReset, kReadyToReceive, kRcReceive));
  EXPECT_FALSE(Allowed(kReliable, kReset, kReadyToSend, kRcSend));
  EXPECT_FALSE(Allowed(kReliable, kInit, kReadyToSend, kRcSend));
  EXPECT_FALSE(Allowed(kReliable, kError, kInit, kRcInit));
  EXPECT_FALSE(Allowed(kReliable, kError, kReadyToSend, kRcSend));
}

TEST(QpTransitionsTest, LetsEveryStateEndWithoutFurtherAdo) {
  for (const QpState from : {kInit, kReadyToReceive, kReadyToSend,
                             kSendQueueDrain, kSendQueueError, kError}) {
    for (const QpType type : {kReliable, kUnreliable, kDatagram, kGsi}) {
      EXPECT_TRUE(Allowed(type, from, kReset, 0));
      EXPECT_TRUE(Allowed(type, from, kError, 0));
      EXPECT_FALSE(Allowed(type, from, kError, kQKey));
    }
  }
  EXPECT_TRUE(Allowed(kReliable, kReset, kReset, 0));
}

TEST(QpTransitionsTest, RecoversASendQueueExceptOfRc) {
  EXPECT_TRUE(Allowed(kDatagram, kSendQueueError, kReadyToSend, 0));
  EXPECT_TRUE(Allowed(kUnreliable, kSendQueueError, kReadyToSend, 0));
  EXPECT_FALSE(Allowed(kReliable, kSendQueueError, kReadyToSend, 0));
}

TEST(QpTransitionsTest, AssumesACurrentStateOnlyWhereItMayHaveChanged) {
  EXPECT_TRUE(Allowed(kReliable, kReadyToReceive, kReadyToSend,
                      kRcSend | kCurrentState));
  EXPECT_FALSE(Allowed(kReliable, kReset, kInit, kRcInit | kCurrentState));
}

TEST(QpTransitionsTest, LeadsWhereTheAttributesSayFromTheStateThatTheyMean) {
  QpAttributes attributes{};
  attributes.qp_state = static_cast<uint32_t>(kReadyToSend);
  attributes.cur_qp_state = static_cast<uint32_t>(kSendQueueDrain);
  attributes.qp_attr_mask = kState;
  EXPECT_EQ(*NextState(kDatagram, kSendQueueError, attributes), kReadyToSend);
  attributes.qp_attr_mask = kState | kCurrentState;
  EXPECT_TRUE(absl::IsInvalidArgument(
      NextState(kDatagram, kSendQueueError, attributes).status()))
      << "it is in another";
  EXPECT_EQ(*NextState(kDatagram, kSendQueueDrain, attributes), kReadyToSend);
  attributes.qp_attr_mask = kQKey;
  EXPECT_EQ(*NextState(kDatagram, kReadyToSend, attributes), kReadyToSend)
      << "it stays where it is";
  EXPECT_TRUE(absl::IsInvalidArgument(
      NextState(kDatagram, kReset, attributes).status()));
}

}  // namespace
}  // namespace ibemu::verbs

#include "daemon/why/pitfalls.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ibemu::daemon {
namespace {

using fabric::QueuePairFacts;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// Of a connection that nothing can be said against.
QueuePairFacts GoodFacts() {
  QueuePairFacts facts;
  facts.type = verbs::QpType::kRc;
  facts.may_send = true;
  facts.attributes.timeout = 14;
  facts.attributes.retry_cnt = facts.attributes.rnr_retry = 7;
  facts.attributes.path_mtu = 3;  // 1024
  facts.attributes.max_rd_atomic = facts.attributes.max_dest_rd_atomic = 4;
  facts.signal_all = true;
  facts.send_requests = facts.receive_requests = 10;
  facts.send_cq_size = facts.receive_cq_size = 20;
  facts.one_cq = true;
  return facts;
}

std::vector<std::string> RulesOf(const QueuePairFacts& own,
                                 const QueuePairFacts* peer = nullptr) {
  std::vector<std::string> rules;
  for (const Pitfall& one : FindPitfalls(own, peer)) {
    rules.emplace_back(one.rule);
  }
  return rules;
}

TEST(PitfallsTest, AGoodConnectionHasNone) {
  const QueuePairFacts facts = GoodFacts();
  EXPECT_THAT(RulesOf(facts), IsEmpty());
  EXPECT_THAT(RulesOf(facts, &facts), IsEmpty());
}

TEST(PitfallsTest, NoTimeoutIsToldInsteadOfNoRetries) {
  QueuePairFacts facts = GoodFacts();
  facts.attributes.retry_cnt = 0;
  EXPECT_THAT(RulesOf(facts), ElementsAre("no-retries"));
  facts.attributes.timeout = 0;
  EXPECT_THAT(RulesOf(facts), ElementsAre("no-timeout"));
  facts.may_send = false;
  EXPECT_THAT(RulesOf(facts), IsEmpty());
  facts.may_send = true;
  facts.type = verbs::QpType::kUc;
  EXPECT_THAT(RulesOf(facts), IsEmpty());
}

TEST(PitfallsTest, EndlessPatienceIsOneOnlyWhereItWasNeeded) {
  QueuePairFacts facts = GoodFacts();
  facts.counters.rnr_nak_retry_err = 3;
  const auto found = FindPitfalls(facts, nullptr);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].rule, "hidden-stall");
  EXPECT_THAT(found[0].what, HasSubstr("not ready (3 RNR NAKs)"));
  facts.attributes.rnr_retry = 6;
  EXPECT_THAT(RulesOf(facts), IsEmpty());
}

TEST(PitfallsTest, AReceiveRequestThatCameLateIsOneOfAnyType) {
  QueuePairFacts facts = GoodFacts();
  facts.counters.out_of_buffer = 2;
  auto found = FindPitfalls(facts, nullptr);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_THAT(found[0].what, HasSubstr("2 messages came before"));
  EXPECT_THAT(found[0].what, HasSubstr("send again"));
  facts.type = verbs::QpType::kUd;
  found = FindPitfalls(facts, nullptr);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_THAT(found[0].what, HasSubstr("lost"));
}

TEST(PitfallsTest, CompletionQueuesHaveRoomForWhatMayCompleteAtOnce) {
  QueuePairFacts facts = GoodFacts();
  facts.send_cq_size = 19;
  EXPECT_THAT(RulesOf(facts), ElementsAre("cq-too-small"));
  facts.signal_all = false;  // the program decides which sends complete
  EXPECT_THAT(RulesOf(facts), IsEmpty());
  facts.one_cq = false;
  facts.receive_cq_size = 9;
  EXPECT_THAT(RulesOf(facts), ElementsAre("cq-too-small"));
  facts.receive_cq_size = 10;
  EXPECT_THAT(RulesOf(facts), IsEmpty());
}

TEST(PitfallsTest, WhoSendsLongerPacketsOrMoreReadsThanThePeerTakesIsTold) {
  QueuePairFacts own = GoodFacts();
  const QueuePairFacts peer = GoodFacts();
  own.attributes.path_mtu = 5;
  own.attributes.max_rd_atomic = 5;
  const auto found = FindPitfalls(own, &peer);
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].rule, "mtu-differs");
  EXPECT_THAT(found[0].what, HasSubstr("4096 and its peer's 1024"));
  EXPECT_EQ(found[1].rule, "rd-atomic-differs");
  EXPECT_THAT(found[1].what,
              HasSubstr("5 and its peer's max_dest_rd_atomic 4"));
  EXPECT_THAT(RulesOf(peer, &own), IsEmpty());
  own.type = verbs::QpType::kUc;
  EXPECT_THAT(RulesOf(own, &peer), ElementsAre("mtu-differs"));
}

TEST(PitfallsTest, ASendQueueThatNothingFreesIsToldBeforeItIsFull) {
  QueuePairFacts facts = GoodFacts();  // 10 places
  facts.signal_all = false;
  facts.sends_taken = 6;
  const auto found = FindPitfalls(facts, nullptr);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].rule, "never-signaled");
  EXPECT_THAT(found[0].what, HasSubstr("6 of the 10 places"));
  facts.signaled = true;
  EXPECT_THAT(RulesOf(facts), IsEmpty());
  facts.signaled = false;
  facts.sends_taken = 5;
  EXPECT_THAT(RulesOf(facts), IsEmpty());
}

TEST(PitfallsTest, ACompletionQueueThatNobodyPollsIsToldBeforeItIsFull) {
  QueuePairFacts facts = GoodFacts();
  facts.send_cq_unpolled = facts.receive_cq_unpolled = 11;  // of 20
  auto found = FindPitfalls(facts, nullptr);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].rule, "never-polled");
  EXPECT_THAT(found[0].what, HasSubstr("its completion queue, where 11"));
  facts.one_cq = false;
  facts.send_cq_unpolled = 10;
  found = FindPitfalls(facts, nullptr);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_THAT(found[0].what, HasSubstr("its receive completion queue"));
  for (const uint32_t few_or_all : {10, 20}) {
    facts.receive_cq_unpolled = few_or_all;
    EXPECT_THAT(RulesOf(facts), IsEmpty()) << few_or_all;
  }
}

std::vector<std::string> RulesOf(const ContextFacts& facts) {
  std::vector<std::string> rules;
  for (const Pitfall& one : FindPitfalls(facts)) rules.emplace_back(one.rule);
  return rules;
}

TEST(PitfallsTest, AFileThatWasUsedWellHasNone) {
  EXPECT_THAT(RulesOf(ContextFacts{}), IsEmpty());
  EXPECT_THAT(
      RulesOf(ContextFacts{.address_handles = 500, .destinations = 450}),
      IsEmpty());
}

TEST(PitfallsTest, ManyAddressHandlesForFewDestinationsAreALeak) {
  const ContextFacts facts{.address_handles = 101, .destinations = 1};
  const auto found = FindPitfalls(facts);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].rule, "ah-leak");
  EXPECT_THAT(found[0].what, HasSubstr("101 address handles were never "
                                       "destroyed, and lead to 1 destination"));
  EXPECT_THAT(RulesOf(ContextFacts{.address_handles = 101, .destinations = 2}),
              IsEmpty());
}

TEST(PitfallsTest, WaitingForOldCompletionsIsTold) {
  const auto found = FindPitfalls(ContextFacts{.late_arms = 1});
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].rule, "late-arm");
  EXPECT_THAT(found[0].what, HasSubstr("once it waited for an event"));
  EXPECT_THAT(FindPitfalls(ContextFacts{.late_arms = 3})[0].what,
              HasSubstr("3 times it waited"));
}

TEST(PitfallsTest, CommandsOfAnotherProcessAreTold) {
  const auto found = FindPitfalls(ContextFacts{.others_commands = 2});
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].rule, "used-after-fork");
  EXPECT_THAT(found[0].what, HasSubstr("2 commands came from another process"));
}

}  // namespace
}  // namespace ibemu::daemon

#include "daemon/words/fault_words.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/daemon/words/fault_line.h"

namespace ibemu::daemon {
namespace {

using ::testing::Pair;

// Of a link that exists.
std::string Error(const std::string& what) {
  return std::string(ParseFaultLine("link sw1/3 " + what).status().message());
}

TEST(FaultWordsTest, EveryWordIsUnderstoodInAnyOrder) {
  const auto fault = ParseFaultLine(
      "link sw1/3 seed 18446744073709551615 delay 10us 2.5us corrupt 0.1% "
      "dir tx reorder 100% duplicate 0% loss 5%");
  ASSERT_TRUE(fault.ok()) << fault.status();
  EXPECT_EQ(fault->port.node, "sw1");
  EXPECT_EQ(fault->port.port, 3);
  EXPECT_EQ(fault->faults,
            (fabric::LinkFaults{.loss = 0.05,
                                .corrupt = 0.001,
                                .reorder = 1,
                                .delay = absl::Microseconds(10),
                                .jitter = absl::Nanoseconds(2500)}));
  EXPECT_EQ(fault->direction, FaultDirection::kTransmit);
  EXPECT_EQ(fault->seed, 18446744073709551615u);
}

TEST(FaultWordsTest, BothDirectionsAndNoSeedUnlessGiven) {
  const auto fault = ParseFaultLine("link sw1/3 loss 1%");
  ASSERT_TRUE(fault.ok()) << fault.status();
  EXPECT_EQ(fault->direction, FaultDirection::kBoth);
  EXPECT_EQ(fault->seed, std::nullopt);
}

TEST(FaultWordsTest, ADelayHasJitterOnlyIfATimeFollows) {
  const auto fault = ParseFaultLine("link sw1/3 delay 2ms dir rx");
  ASSERT_TRUE(fault.ok()) << fault.status();
  EXPECT_EQ(fault->faults.delay, absl::Milliseconds(2));
  EXPECT_EQ(fault->faults.jitter, absl::ZeroDuration());
  EXPECT_EQ(fault->direction, FaultDirection::kReceive);
}

TEST(FaultWordsTest, AFaultWhoseTextIsReadAgainIsTheSame) {
  for (const char* text :
       {"loss 5%", "loss 0%", "loss 0.07% corrupt 7%",
        "duplicate 100% reorder 12.5% delay 1.5ms", "delay 1m 1us", "ber 1e-12",
        "loss 5% ber 0.01 attr Notice", "flap 2s 100ms",
        "delay 1ms flap 2s 100ms 50ms attr verbs"}) {
    const auto fault = ParseFaultLine(absl::StrCat("link sw1/3 ", text));
    ASSERT_TRUE(fault.ok()) << fault.status();
    EXPECT_EQ(FaultText(*fault), text);
  }
}

TEST(FaultWordsTest, EachMistakeIsOneSentence) {
  const std::pair<const char*, const char*> mistakes[] = {
      {"",
       "nothing goes wrong: add loss, corrupt, ber, duplicate, reorder, delay "
       "or "
       "flap"},
      {"dir tx",
       "nothing goes wrong: add loss, corrupt, ber, duplicate, reorder, delay "
       "or "
       "flap"},
      {"slow 5ms", "\"slow\" is no fault"},
      {"ber", "ber \"\": write how many of the bits are wrong, as in 1e-12"},
      {"ber 5%",
       "ber \"5%\": write how many of the bits are wrong, as in 1e-12"},
      {"ber nan", "ber nan: a bit error rate is from 0 to 0.01"},
      {"ber 0.1", "ber 0.1: a bit error rate is from 0 to 0.01"},
      {"ber -1e-9", "ber -1e-9: a bit error rate is from 0 to 0.01"},
      {"flap",
       "\"flap\" needs its period and how long the link is down, as in flap 2s "
       "100ms"},
      {"flap 2s loss 1%",
       "\"flap\" needs its period and how long the link is down, as in flap 2s "
       "100ms"},
      {"flap 2s 1us", "flap 1us: a time is from 1ms to 24h"},
      {"flap 25h 1s", "flap 25h: a time is from 1ms to 24h"},
      {"flap 2s 5", "flap 5: write a time, as in 10us or 2ms"},
      {"flap 2s 2s",
       "flap 2s 2s: it must be down for less than the period, less twice the "
       "jitter"},
      {"flap 2s 1s 500ms",
       "flap 2s 1s: it must be down for less than the period, less twice the "
       "jitter"},
      {"flap 2s 1s dir tx",
       "a flap concerns every packet of both directions: leave out dir and "
       "attr"},
      {"loss 1% attr",
       "\"\" is no attribute, no class such as SA, and neither MAD nor verbs"},
      {"loss 1% attr NodeInfoo",
       "\"NodeInfoo\" is no attribute, no class such as SA, and neither MAD "
       "nor "
       "verbs: did you mean \"NodeInfo\"?"},
      {"los 5%", "\"los\" is no fault: did you mean \"loss\"?"},
      {"rate 1gbit", "\"rate\" is no fault"},
      {"loss 1% loss 2%", "\"loss\" is there twice"},
      {"loss", "\"loss\" of how many: write a percentage, as in 5% or 0.1%"},
      {"loss 5", "loss 5: write a percentage, as in 5% or 0.1%"},
      {"loss x%", "loss x%: write a percentage, as in 5% or 0.1%"},
      {"loss 100.1%", "loss 100.1%: a percentage is from 0% to 100%"},
      {"loss -1%", "loss -1%: a percentage is from 0% to 100%"},
      {"loss nan%", "loss nan%: a percentage is from 0% to 100%"},
      {"delay", "\"delay\" of how long: write a time, as in 10us or 2ms"},
      {"delay 10", "delay 10: write a time, as in 10us or 2ms"},
      {"delay 61s", "delay 61s: a delay is from 0s to 1m"},
      {"delay inf", "delay inf: a delay is from 0s to 1m"},
      {"delay -1s", "delay -1s: a delay is from 0s to 1m"},
      {"delay 1s -1s", "delay -1s: a delay is from 0s to 1m"},
      {"delay 1ms 2ms", "delay 1ms 2ms: the jitter is longer than the delay"},
      {"loss 1% dir",
       "dir \"\": there are tx (what leaves through the port) and rx (what "
       "enters)"},
      {"loss 1% seed", "seed \"\": write a whole number below 2^64"},
      {"loss 1% seed -1", "seed \"-1\": write a whole number below 2^64"},
  };
  for (const auto& [what, sentence] : mistakes) {
    EXPECT_THAT(std::make_pair(std::string(what), Error(what)),
                Pair(what, sentence));
  }
}

TEST(FaultWordsTest, APlaceIsALinkByOneOfItsPorts) {
  EXPECT_EQ(ParseFaultLine("").status().message(),
            "write where: link NODE/PORT, node NODE, qp NODE/QPN, host NODE or "
            "process PID");
  EXPECT_EQ(ParseFaultLine("link").status().message(),
            "\"link\" needs a port: write link NODE/PORT");
  EXPECT_EQ(ParseFaultLine("port sw1/1 loss 1%").status().message(),
            "\"port\" is no place of a fault: write link NODE/PORT, node NODE, "
            "qp NODE/QPN, host NODE or process PID");
  EXPECT_EQ(ParseFaultLine("link sw1 loss 1%").status().message(),
            "\"sw1\" names no port: write NODE/PORT, as in sw1/3");
}

TEST(FaultWordsTest, ANodeIsSlowOrSilent) {
  const auto fault =
      ParseFaultLine("node sw1 slow 50ms 5ms loss 1% attr PortInfo seed 3");
  ASSERT_TRUE(fault.ok()) << fault.status();
  EXPECT_EQ(fault->place, FaultRequest::Place::kNode);
  EXPECT_EQ(fault->port.node, "sw1");
  EXPECT_EQ(fault->faults.delay, absl::Milliseconds(50));
  EXPECT_EQ(fault->faults.jitter, absl::Milliseconds(5));
  EXPECT_EQ(fault->faults.loss, 0.01);
  EXPECT_EQ(fault->seed, 3u);
  EXPECT_EQ(FaultText(*fault), "loss 1% slow 50ms 5ms attr PortInfo");
}

TEST(FaultWordsTest, ANodeHasNoneOfALinksOtherFaults) {
  const std::pair<const char*, const char*> mistakes[] = {
      {"node", "\"node\" needs one: write node NODE"},
      {"node sw1", "nothing goes wrong: add slow or loss"},
      {"node sw1 delay 5ms",
       "\"delay\" is no fault of a node, which is slow or loses answers"},
      {"node sw1 slwo 5ms",
       "\"slwo\" is no fault of a node, which is slow or loses answers: did "
       "you "
       "mean \"slow\"?"},
      {"node sw1 slow",
       "\"slow\" of how long: write a time, as in 10us or 2ms"},
      {"node sw1 slow 2m", "slow 2m: a delay is from 0s to 1m"},
      {"node sw1 slow 5ms attr verbs",
       "attr verbs: a node's agents answer MADs alone"},
      {"node sw1 slow 5ms attr REP",
       "attr REP: a host sends messages of connections itself, they are no "
       "answers of a node's agents: add the fault to its link"},
  };
  for (const auto& [line, sentence] : mistakes) {
    EXPECT_EQ(ParseFaultLine(line).status().message(), sentence) << line;
  }
}

}  // namespace
}  // namespace ibemu::daemon

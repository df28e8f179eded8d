#include "daemon/scenario/scenario_words.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace ibemu::daemon {
namespace {

using nlohmann::json;
using ::testing::ElementsAre, ::testing::IsEmpty;

json Call(std::string_view command) {
  const auto call = ParseCommand(command);
  if (!call.ok()) return {std::string(call.status().message())};
  return {call->method, call->parameters};
}

std::string Error(std::string_view command) {
  return std::string(ParseCommand(command).status().message());
}

TEST(ScenarioWordsTest, QuotesHoldWordsTogether) {
  EXPECT_THAT(*SplitWords("  link 'node 1 HCA-1/1'\tdown "),
              ElementsAre("link", "node 1 HCA-1/1", "down"));
  EXPECT_THAT(*SplitWords("a\"b c\"d ''"), ElementsAre("ab cd", ""));
  EXPECT_THAT(*SplitWords(""), IsEmpty());
  EXPECT_EQ(SplitWords("a 'b").status().message(), "a quote (') has no end");
}

TEST(ScenarioWordsTest, ACommandIsAMethodOfTheControlSocket) {
  EXPECT_EQ(
      Call("link sw1/3 down --for=2s"),
      (json{"link.set",
            {{"node", "sw1"}, {"port", 3}, {"up", false}, {"for_ms", 2000}}}));
  EXPECT_EQ(Call("node sw1 up"),
            (json{"node.set", {{"node", "sw1"}, {"up", true}}}));
  EXPECT_EQ(Call("device node-1 remove"),
            (json{"device.set", {{"node", "node-1"}, {"present", false}}}));
  EXPECT_EQ(
      Call("fault add --name=x link sw1/3 loss 5%"),
      (json{"fault.add",
            {{"name", "x"}, {"words", {"link", "sw1/3", "loss", "5%"}}}}));
  EXPECT_EQ(Call("counter sw1/3 clear SymbolErrorCounter=5"),
            (json{"counter.set",
                  {{"node", "sw1"},
                   {"port", 3},
                   {"clear", true},
                   {"set", json::array({"SymbolErrorCounter=5"})}}}));
  EXPECT_EQ(Call("fault rm x"), (json{"fault.remove", {{"name", "x"}}}));
  EXPECT_EQ(Call("fault reset"), (json{"fault.reset", json::object()}));
}

TEST(ScenarioWordsTest, EachMistakeIsOneSentence) {
  EXPECT_EQ(Error(""), "the command is empty");
  EXPECT_EQ(Error("status"),
            "\"status\" is no command of a scenario, which has link, node, "
            "device, counter and fault");
  EXPECT_EQ(Error("link sw1/3"), "write link NODE/PORT up|down [--for=TIME]");
  EXPECT_EQ(Error("link sw1/3 dwon"),
            "\"dwon\" is neither \"up\" nor \"down\"");
  EXPECT_EQ(Error("link sw1/3 down --for=1"),
            "--for=1: write a time such as 10s, 500ms or 2m");
  EXPECT_EQ(Error("node sw1 up now"), "write node NODE up|down");
  EXPECT_EQ(Error("device sw1 gone"),
            "\"gone\" is neither \"add\" nor \"remove\"");
  EXPECT_EQ(Error("counter sw1/3"),
            "write counter NODE/PORT NAME=VALUE...|clear");
  EXPECT_EQ(Error("counter sw1/3 SymbolErorCounter=5"),
            "no counter \"SymbolErorCounter\": did you mean "
            "\"SymbolErrorCounter\"?");
  EXPECT_EQ(Error("fault ad link sw1/3 loss 5%"),
            "write fault add [--name=NAME] link|node|qp|host|process ..., "
            "fault rm NAME "
            "or fault reset: did you mean \"add\"?");
  EXPECT_EQ(Error("fault add link sw1/3 los 5%"),
            "\"los\" is no fault: did you mean \"loss\"?");
  EXPECT_EQ(Error("link \"sw1/3 down"), "a quote (\") has no end");
}

}  // namespace
}  // namespace ibemu::daemon

#include "cli/console/console_line.h"

#include <optional>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ibemu::cli {
namespace {

using Place = ConsoleLine::Place;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

ConsoleLine Parsed(std::string_view text) {
  const auto line = ParseConsoleLine(text);
  EXPECT_TRUE(line.ok()) << line.status();
  return line.value_or(ConsoleLine{});
}

std::string Mistake(std::string_view text) {
  return std::string(ParseConsoleLine(text).status().message());
}

TEST(ConsoleLineTest, APortStandsBehindTheQuotesOrWithinThem) {
  const Place place = {"S-1", 3};
  EXPECT_THAT(Parsed("Unlink \"S-1\"[3]").places, ElementsAre(place));
  EXPECT_THAT(Parsed("Unlink \"S-1[3]\"").places, ElementsAre(place));
  EXPECT_THAT(Parsed("Unlink \"S-1\"").places,
              ElementsAre(Place{"S-1", std::nullopt}));
}

TEST(ConsoleLineTest, LetterCaseAndBlanksDoNotMatter) {
  const ConsoleLine line = Parsed("  liNK   \"a b\"[1]\t\"c/d\"[2]  \r");
  EXPECT_EQ(line.verb, Verb::kLink);
  EXPECT_THAT(line.places, ElementsAre(Place{"a b", 1}, Place{"c/d", 2}));
}

TEST(ConsoleLineTest, WordsFollowThePlaces) {
  const ConsoleLine line = Parsed("Error \"sw1\"[2] 50  17");
  EXPECT_EQ(line.verb, Verb::kError);
  EXPECT_THAT(line.words, ElementsAre("50", "17"));
}

TEST(ConsoleLineTest, EmptyLinesAndCommentsDoNothing) {
  for (const char* text : {"", "  \t", "# Unlink \"a\"", "\n"}) {
    EXPECT_EQ(Parsed(text).verb, Verb::kNothing) << text;
  }
}

TEST(ConsoleLineTest, AnExclamationMarkNamesAFile) {
  const ConsoleLine line = Parsed("! my file ");
  EXPECT_EQ(line.verb, Verb::kFile);
  EXPECT_THAT(line.words, ElementsAre("my file"));
  EXPECT_EQ(Mistake("!"), "write !FILE");
}

TEST(ConsoleLineTest, UnknownCommandsAreGuessed) {
  EXPECT_THAT(Mistake("Unlnik \"a\"[1]"),
              HasSubstr("did you mean \"Unlink\"?"));
}

TEST(ConsoleLineTest, MisusedCommandsAreShownAsTheyAreWritten) {
  for (const char* text :
       {"Link \"a\"[1]", "Link \"a\"[1] \"b\"", "Link a[1] b[1]",
        "Link \"a\"[1] \"b\"[2] 3", "Link \"a\"[x] \"b\"[2]", "Link \"a",
        "Link \"a]\" \"b\"[1]", "Link \"a\"[ \"b\"[1]"}) {
    EXPECT_EQ(Mistake(text), "write Link \"NODE\"[PORT] \"PEER\"[PORT]")
        << text;
  }
  EXPECT_EQ(Mistake("Dump \"a\"[1]"), "write Dump [\"NODE\"]");
  EXPECT_EQ(Mistake("Route 1"), "write Route FROM-LID TO-LID");
}

TEST(ConsoleLineTest, HelpShowsEachCommandOnce) {
  const std::string help = ConsoleHelp();
  for (const char* name : {"Dump", "ReLink", "Baselid", "X CLIENT", "!FILE"}) {
    const size_t at = help.find(std::string("  ") + name);
    ASSERT_NE(at, std::string::npos) << name;
    EXPECT_EQ(help.find(std::string("\n  ") + name, at), std::string::npos);
  }
}

}  // namespace
}  // namespace ibemu::cli

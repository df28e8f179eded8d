#include "cli/command_line/table.h"

#include "gtest/gtest.h"

namespace ibemu::cli {
namespace {

TEST(TableTest, ColumnsAreAsWideAsTheirWidestCellAndNumbersStandRight) {
  Table table({"NODE", "LID", "STATE"});
  table.Add({"node-1", "7", "active"});
  table.Add({"a", "12345", ""});
  EXPECT_EQ(table.Text(),
            "NODE      LID  STATE\n"
            "node-1      7  active\n"
            "a       12345\n");
}

TEST(TableTest, WidthIsCountedInCharacters) {
  Table table({"NODE", "STATE"});
  table.Add({"knot\xc3\xa9n", "up"});
  table.Add({"knoten", "up"});
  EXPECT_EQ(table.Text(),
            "NODE    STATE\n"
            "knot\xc3\xa9n  up\n"
            "knoten  up\n");
}

TEST(TableTest, ATitleStaysInItsLine) {
  EXPECT_EQ(Table({"a\n\x1b[1mb", "up"}).Text(), "a??[1mb  up\n");
}

TEST(TableTest, ACellStaysInItsLine) {
  Table table({"NODE", "STATE"});
  table.Add({"node\n", "up"});
  table.Add({"a\n\x1b[1mb", "up"});
  EXPECT_EQ(table.Text(),
            "NODE     STATE\n"
            "node     up\n"
            "a??[1mb  up\n");
}

}  // namespace
}  // namespace ibemu::cli

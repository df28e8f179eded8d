#include "control/json_text.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"

namespace ibemu::control {
namespace {

std::string Nested(int depth) {
  const auto size = static_cast<size_t>(depth);
  return std::string(size, '[') + std::string(size, ']');
}

TEST(ParseJsonTest, ATextMayNest64LevelsDeep) {
  EXPECT_TRUE(ParseJson(Nested(64)).ok());
  EXPECT_EQ(
      ParseJson(Nested(65)).status(),
      absl::InvalidArgumentError("the JSON text nests deeper than 64 levels"));
}

TEST(ParseJsonTest, ObjectsNestAsArraysDo) {
  std::string text = "1";
  for (int i = 0; i < 32; ++i) text = absl::StrCat(R"([{"a":)", text, "}]");
  EXPECT_TRUE(ParseJson(text).ok());
  EXPECT_FALSE(ParseJson("[" + text + "]").ok());
}

TEST(ParseJsonTest, BracketsInStringsDoNotNest) {
  const std::string brackets(1000, '[');
  EXPECT_EQ(ParseJson("\"\\\"" + brackets + "\"").value(), "\"" + brackets);
}

TEST(ParseJsonTest, WhatIsNoJsonIsRefused) {
  for (const char* text : {"", "[", "]", "\"", "\"\\", "{} {}", "\xff"}) {
    EXPECT_EQ(ParseJson(text).status(),
              absl::InvalidArgumentError("the text is not JSON"))
        << text;
  }
}

}  // namespace
}  // namespace ibemu::control

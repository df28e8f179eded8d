#include "control/rpc.h"

#include <string>

#include "gtest/gtest.h"
#include "nlohmann/json.hpp"

namespace ibemu::control {
namespace {

using nlohmann::json;

TEST(ReadResponseTest, WhatIsNoResponseIsAnotherProgram) {
  for (const char* line :
       {"", "{}", "[]", R"({"error":1})", R"({"error":{"message":"x"}})",
        R"({"error":{"data":[],"message":"x"}})",
        R"({"error":{"data":{"status":0},"message":"x"}})",
        R"({"error":{"data":{"status":17},"message":"x"}})",
        R"({"error":{"data":{"status":4294967297},"message":"x"}})"}) {
    EXPECT_EQ(ReadResponse(line).status().code(),
              absl::StatusCode::kUnavailable)
        << line;
  }
}

TEST(DumpTest, BytesThatAreNoUtf8DoNotThrow) {
  EXPECT_EQ(Dump("a\xff"), "\"a\xef\xbf\xbd\"");
}

}  // namespace
}  // namespace ibemu::control

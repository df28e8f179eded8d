#include "control/method_table.h"

#include <string>

#include "control/rpc.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "tests/daemon/nobody.h"

namespace ibemu::control {
namespace {

using nlohmann::json;

class MethodTableTest : public ::testing::Test {
 protected:
  MethodTableTest() {
    dispatcher_.Add(
        "link.set",
        [](Parameters& parameters, Caller&) -> absl::StatusOr<json> {
          const std::string node = parameters.Text("node", "?");
          const int64_t port = parameters.Number("port", 0, 0, 254);
          const bool up = parameters.Flag("up", true);
          const auto also = parameters.Texts("also");
          const absl::Status status = parameters.Finish();
          if (!status.ok()) return status;
          if (node == "sw9") return absl::NotFoundError("no sw9");
          return json{{"said", node + "/" + std::to_string(port) +
                                   (up ? " up" : " down")},
                      {"also", also.size()}};
        });
  }

  std::string Handle(const std::string& line) {
    return dispatcher_.Handle(line, caller_);
  }
  int ErrorCode(const std::string& line) {
    return json::parse(Handle(line))["error"]["code"].get<int>();
  }
  std::string Message(const std::string& line) {
    return json::parse(Handle(line))["error"]["message"].get<std::string>();
  }

  daemon::NobodyInParticular caller_;
  MethodTable dispatcher_;
};

TEST_F(MethodTableTest, AResultCarriesTheIdOfItsRequest) {
  const json response = json::parse(Handle(
      R"({"jsonrpc":"2.0","id":"x","method":"link.set",
          "params":{"node":"sw1","port":3,"up":false,"also":["a","b"]}})"));
  EXPECT_EQ(response["id"], "x");
  EXPECT_EQ(response["result"]["said"], "sw1/3 down");
  EXPECT_EQ(response["result"]["also"], 2);
}

TEST_F(MethodTableTest, WhoWantsToKnowHearsOfEachCallBeforeItsAnswer) {
  int calls = 0;
  dispatcher_.AfterEachCall([&] { ++calls; });
  Handle(R"({"id":1,"method":"link.set","params":{"node":"sw1"}})");
  EXPECT_EQ(calls, 1);
  Handle(R"({"id":1,"method":"link.set","params":{"node":"sw9"}})");
  EXPECT_EQ(calls, 2);
  Handle(R"({"id":1,"method":"no such thing"})");
  EXPECT_EQ(calls, 2);
}

TEST_F(MethodTableTest, ANotificationIsCarriedOutAndNotAnswered) {
  EXPECT_EQ(Handle(R"({"method":"link.set","params":{"node":"sw1"}})"), "");
  EXPECT_EQ(Handle(R"({"method":"no such thing"})"), "");
}

TEST_F(MethodTableTest, WhatIsNoRequestIsRefused) {
  EXPECT_EQ(ErrorCode("{"), -32700);
  EXPECT_EQ(ErrorCode(""), -32700);
  EXPECT_EQ(ErrorCode("\xff\xfe"), -32700);
  EXPECT_EQ(ErrorCode("[]"), -32600);
  EXPECT_EQ(ErrorCode(R"({"id":1})"), -32600);
  EXPECT_EQ(ErrorCode(R"({"id":1,"method":7})"), -32600);
  EXPECT_EQ(ErrorCode(R"({"id":[[]],"method":"link.set"})"), -32600);
  EXPECT_EQ(ErrorCode(R"({"id":1,"method":"link.set","params":[]})"), -32602);
}

TEST_F(MethodTableTest, DeepNestingIsNoDanger) {
  const std::string open(100'000, '[');
  const std::string closed(100'000, ']');
  EXPECT_EQ(ErrorCode(open), -32700);
  EXPECT_EQ(ErrorCode(open + closed), -32700);
  EXPECT_EQ(Message(R"({"id":1,"method":"link.set","params":{"also":)" + open +
                    closed + "}}"),
            "the JSON text nests deeper than 64 levels");
}

TEST_F(MethodTableTest, AMistypedMethodOrParameterIsAnsweredWithWhatWasMeant) {
  EXPECT_EQ(Message(R"({"id":1,"method":"link.sat"})"),
            "there is no method \"link.sat\": did you mean \"link.set\"?");
  EXPECT_EQ(Message(R"({"id":1,"method":"link.set","params":{"prot":1}})"),
            "there is no parameter \"prot\": did you mean \"port\"?");
}

TEST_F(MethodTableTest, ItSaysWhyAMethodIsMissing) {
  dispatcher_.ExplainMissing("this daemon has no subnet");
  EXPECT_EQ(Message(R"({"id":1,"method":"link.sat"})"),
            "this daemon has no subnet: there is no method \"link.sat\": did "
            "you mean \"link.set\"?");
}

TEST_F(MethodTableTest, ParametersOfTheWrongTypeOrSizeAreRefused) {
  const auto with = [&](const std::string& parameters) {
    return Message(R"({"id":1,"method":"link.set","params":)" + parameters +
                   "}");
  };
  EXPECT_EQ(with(R"({"node":1})"), "parameter \"node\" must be a string");
  EXPECT_EQ(with(R"({"up":"yes"})"), "parameter \"up\" must be true or false");
  EXPECT_EQ(with(R"({"also":["a",1]})"),
            "parameter \"also\" must be an array of strings");
  for (const char* port : {"255", "-1", "1.5", "18446744073709551615"}) {
    EXPECT_EQ(with(std::string(R"({"port":)") + port + "}"),
              "parameter \"port\" must be a whole number from 0 to 254");
  }
}

TEST_F(MethodTableTest, AStatusArrivesAsItWasGiven) {
  const absl::Status status =
      ReadResponse(
          Handle(R"({"id":1,"method":"link.set","params":{"node":"sw9"}})"))
          .status();
  EXPECT_EQ(status, absl::NotFoundError("no sw9"));
  EXPECT_EQ(
      ReadResponse(RefuseRequest(absl::PermissionDeniedError("no"))).status(),
      absl::PermissionDeniedError("no"));
}

}  // namespace
}  // namespace ibemu::control

#include "daemon/subnet/counter_methods.h"

#include <string>

#include "fabric/subnet/subnet.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "testing/lab.h"
#include "tests/daemon/method_caller.h"

namespace ibemu::daemon {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

class CounterMethodsTest : public ::testing::Test, protected MethodCaller {
 protected:
  CounterMethodsTest() { methods_.AddTo(dispatcher); }

  static json At(const json& more = json::object()) {
    json parameters = {{"node", "node-2"}, {"port", 1}};
    parameters.update(more);
    return parameters;
  }
  uint64_t Value(const std::string& name) {
    const json result = Result("counter.get", At());
    for (const json& counter : result["counters"]) {
      if (counter["name"] == name) return counter["value"];
    }
    ADD_FAILURE() << name;
    return 0;
  }

  testing::Lab lab_{"single-switch:hosts=3"};
  CounterMethods methods_{lab_.fabric};
};

TEST_F(CounterMethodsTest, CountingGoesOnFromWhatIsSet) {
  fabric::NodePort& port =
      lab_.subnet().port(*lab_.fabric.FindPort(*lab_.fabric.Find("node-2"), 1));
  port.traffic.xmit_data = 5;
  EXPECT_EQ(Value("PortXmitData"), 5u);
  Result("counter.set", At({{"set", {"portxmitdata=1000"}}}));
  port.traffic.xmit_data += 7;
  EXPECT_EQ(Value("PortXmitData"), 1007u);
}

TEST_F(CounterMethodsTest, ClearsAllAndSetsSome) {
  Result(
      "counter.set",
      At({{"set",
           {"SymbolErrorCounter=9", "PortRcvData=8", "LinkDownedCounter=0"}}}));
  EXPECT_EQ(Value("SymbolErrorCounter"), 9u);
  Result("counter.set", At({{"clear", true}, {"set", {"PortRcvData=3"}}}));
  EXPECT_EQ(Value("SymbolErrorCounter"), 0u);
  EXPECT_EQ(Value("PortRcvData"), 3u);
}

TEST_F(CounterMethodsTest, TakesTheLargestNumber) {
  Result("counter.set", At({{"set", {"PortXmitWait=18446744073709551615"}}}));
  EXPECT_EQ(Value("PortXmitWait"), ~uint64_t{0});
}

TEST_F(CounterMethodsTest, ChangesNothingWhenOneIsWrong) {
  const auto refused = [this](const std::string& wrong) {
    return Error("counter.set",
                 At({{"clear", true}, {"set", {"PortXmitWait=1", wrong}}}));
  };
  Result("counter.set", At({{"set", {"PortXmitWait=4"}}}));
  EXPECT_EQ(refused("PortXmitDate=1"),
            "no counter \"PortXmitDate\": did you mean \"PortXmitData\"?");
  for (const char* wrong :
       {"PortXmitData", "PortXmitData=", "PortXmitData=-1", "PortXmitData=1x",
        "PortXmitData=18446744073709551616"}) {
    EXPECT_THAT(refused(wrong), HasSubstr("write NAME=VALUE"));
  }
  EXPECT_EQ(Value("PortXmitWait"), 4u);
}

TEST_F(CounterMethodsTest, NamesThePortThatIsMissing) {
  EXPECT_THAT(Error("counter.get", {{"node", "node-2"}, {"port", 2}}),
              HasSubstr("it has ports 1 to 1"));
  EXPECT_THAT(Error("counter.get", {{"node", "node-22"}, {"port", 1}}),
              HasSubstr("did you mean \"node-2\"?"));
}

}  // namespace
}  // namespace ibemu::daemon

#include "daemon/resources/resource_methods.h"

#include <unistd.h>

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "nlohmann/json.hpp"
#include "tests/daemon/method_caller.h"
#include "tests/daemon/uverbs_programs.h"

namespace ibemu::daemon {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

class ResourceMethodsTest : public UverbsProgramsTest, protected MethodCaller {
 protected:
  ResourceMethodsTest() { methods_.AddTo(dispatcher); }

  std::vector<std::string> NodesOf(const json& items) {
    std::vector<std::string> nodes;
    for (const json& item : items) nodes.push_back(item["node"]);
    return nodes;
  }

  ResourceMethods methods_{adapters_, files_};
};

TEST_F(ResourceMethodsTest, ObjectsAreListedByWhoCameFirst) {
  for (const char* method : {"cq.list", "mr.list", "srq.list", "mcast.list"}) {
    EXPECT_EQ(Result(method, json::object()),
              (json{{"items", json::array()}, {"next", nullptr}}));
  }
  UverbsProgram& second = Open("host-2");
  UverbsProgram& first = Open("host-1");
  first.CreateCqs(1);
  second.CreateCqs(2);
  const json all = Result("cq.list", json::object());
  EXPECT_THAT(NodesOf(all["items"]), ElementsAre("host-2", "host-2", "host-1"));
  EXPECT_EQ(all["next"], nullptr);
  const json& item = all["items"][2];
  EXPECT_EQ(item["guid"], "0x0000000000001000");
  EXPECT_EQ(item["pid"], getpid());
  EXPECT_EQ(item["size"], 10);
}

TEST_F(ResourceMethodsTest, ANodesObjectsAreItsOwn) {
  Open("host-1").CreateCqs(2);
  Open("host-2").CreateCqs(1);
  EXPECT_THAT(NodesOf(Result("cq.list", {{"node", "host-2"}})["items"]),
              ElementsAre("host-2"));
  EXPECT_EQ(Error("cq.list", {{"node", "host-9"}}),
            "no node \"host-9\": did you mean \"host-1\"?");
}

TEST_F(ResourceMethodsTest, AClosedFileHasNothing) {
  Open("host-1").CreateCqs(2);
  programs_.clear();
  EXPECT_THAT(Result("cq.list", json::object())["items"], IsEmpty());
}

TEST_F(ResourceMethodsTest, AnAnswerIsBoundedAndTheNextGoesOn) {
  Open("host-1").CreateCqs(ResourceMethods::kPage - 1);
  Open("host-2").CreateCqs(3);
  const json page = Result("cq.list", json::object());
  EXPECT_EQ(page["items"].size(), ResourceMethods::kPage);
  EXPECT_EQ(page["items"].back()["node"], "host-2");
  const json rest = Result("cq.list", {{"from", page["next"]}});
  EXPECT_THAT(NodesOf(rest["items"]), ElementsAre("host-2", "host-2"));
  EXPECT_EQ(rest["next"], nullptr);
}

TEST_F(ResourceMethodsTest, HandlesThatWereUsedBeforeAreListedOnceAsWell) {
  // The handle of a place that is used again is larger than those behind it.
  UverbsProgram& client = Open("host-1");
  client.DestroyCq(client.CreateCqs(1));
  client.CreateCqs(ResourceMethods::kPage + 1);
  const json page = Result("cq.list", json::object());
  EXPECT_EQ(page["items"].size(), ResourceMethods::kPage);
  const json rest = Result("cq.list", {{"from", page["next"]}});
  EXPECT_EQ(rest["items"].size(), 1u);
  EXPECT_NE(rest["items"][0]["handle"], page["items"][0]["handle"]);
  EXPECT_EQ(rest["next"], nullptr);
}

}  // namespace
}  // namespace ibemu::daemon

#include "daemon/resources/resource_methods.h"

#include <unistd.h>

#include <list>
#include <memory>
#include <string>

#include "base/event_number.h"
#include "cuse/uverbs/uverbs_file.h"
#include "daemon/adapters/fabric_adapters.h"
#include "daemon/adapters/host_table.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "testing/lab.h"
#include "testing/post_box.h"
#include "testing/uverbs_commands.h"
#include "tests/cuse/file_driver.h"
#include "tests/daemon/method_caller.h"

namespace ibemu::daemon {
namespace {

using nlohmann::json;
using testing::Answered, testing::Chain, testing::Lab, testing::PlainCommand;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

// An open uverbs file of a host; its client is this process.
struct Client {
  Client(Lab& lab, std::shared_ptr<mad::Host> host, verbs::Provider& provider,
         WorkerPool& workers, testing::PostBox& to_run,
         cuse::UverbsFiles& files)
      : posts(to_run),
        offers(std::make_shared<cuse::UverbsOffers>()),
        file(std::move(host), provider, verbs::AdapterIdentity{}, lab.timers,
             workers, offers, std::make_shared<cuse::PinnedPages>(0), nullptr,
             &files),
        driver(file),
        events(offers, getuid()),
        events_driver(events) {
    EXPECT_EQ(driver.Open(), cuse::Errno::kOk);
    const EventNumber number{getpid(), 33};
    EXPECT_EQ(
        events_driver.Ioctl(kNumberEventFile, verbs::AsBytes(number)).error,
        cuse::Errno::kOk);
    auto context = verbs::Blank<ib_uverbs_get_context_resp>();
    Write(PlainCommand(IB_USER_VERBS_CMD_GET_CONTEXT,
                       Answered<ib_uverbs_get_context>(AddressOf(context)), 8));
  }
  template <class T>
  static uint64_t AddressOf(const T& value) {
    return reinterpret_cast<uintptr_t>(&value);
  }
  void Write(const testing::CommandBytes& command) {
    const auto write = driver.StartWrite(command, getpid());
    auto answer = driver.AnswerTo(write);
    while (!answer) {
      posts.WaitAndRun();
      answer = driver.AnswerTo(write);
    }
    EXPECT_EQ(answer->error, cuse::Errno::kOk);
  }
  // Returns the last one's handle.
  uint32_t CreateCqs(size_t count) {
    uint32_t handle = 0;
    for (size_t i = 0; i < count; ++i) {
      auto made = verbs::Blank<ib_uverbs_create_cq_resp>();
      auto request = Answered<ib_uverbs_create_cq>(AddressOf(made));
      request.cqe = 10;
      request.comp_channel = -1;
      Write(PlainCommand(IB_USER_VERBS_CMD_CREATE_CQ, request, sizeof made));
      handle = made.cq_handle;
    }
    return handle;
  }
  void DestroyCq(uint32_t handle) {
    auto made = verbs::Blank<ib_uverbs_destroy_cq_resp>();
    auto request = Answered<ib_uverbs_destroy_cq>(AddressOf(made));
    request.cq_handle = handle;
    Write(PlainCommand(IB_USER_VERBS_CMD_DESTROY_CQ, request, sizeof made));
  }

  testing::PostBox& posts;
  std::shared_ptr<cuse::UverbsOffers> offers;
  cuse::UverbsFile file;
  cuse::FileDriver driver;
  cuse::UverbsEventFile events;
  cuse::FileDriver events_driver;
};

class ResourceMethodsTest : public ::testing::Test, protected MethodCaller {
 protected:
  ResourceMethodsTest() { methods_.AddTo(dispatcher); }

  // A program on a host: "host-1".
  Client& Open(const std::string& host) {
    const AdapterId adapter = adapters_.Find(host).value();
    return clients_.emplace_back(lab_, hosts_.Get(adapter),
                                 adapters_.provider(adapter), workers_, posts_,
                                 files_);
  }
  std::vector<std::string> NodesOf(const json& items) {
    std::vector<std::string> nodes;
    for (const json& item : items) nodes.push_back(item["node"]);
    return nodes;
  }

  Lab lab_{Chain(1), Lab::kStatically};
  testing::PostBox posts_;
  WorkerPool workers_{lab_.timers, posts_.Poster()};
  FabricAdapters adapters_{lab_.fabric};
  HostTable hosts_{lab_.timers, adapters_};
  cuse::UverbsFiles files_;
  ResourceMethods methods_{adapters_, files_};
  std::list<Client> clients_;
};

TEST_F(ResourceMethodsTest, ObjectsAreListedByWhoCameFirst) {
  for (const char* method : {"cq.list", "mr.list", "srq.list", "mcast.list"}) {
    EXPECT_EQ(Result(method, json::object()),
              (json{{"items", json::array()}, {"next", nullptr}}));
  }
  Client& second = Open("host-2");
  Client& first = Open("host-1");
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
  clients_.clear();
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
  Client& client = Open("host-1");
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

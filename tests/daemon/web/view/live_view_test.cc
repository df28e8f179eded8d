#include "daemon/web/view/live_view.h"

#include <httplib.h>

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "daemon/events/fabric_event_log.h"
#include "daemon/web/fabric_pages.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "nlohmann/json.hpp"
#include "testing/lab.h"

namespace ibemu::daemon {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

// Three hosts on one switch, and one method.
class LiveViewTest : public ::testing::Test {
 protected:
  static constexpr int kOk = 200, kNoContent = 204, kUnauthorized = 401,
                       kForbidden = 403, kTooLong = 413, kUnavailable = 503;

  LiveViewTest() {
    dispatcher_.Add("status", [](control::Parameters&, control::Caller&) {
      return json{{"pid", 7}};
    });
    server_ = *BindFabricPages({.host = "127.0.0.1"}, *loop_, lab_.fabric, log_,
                               dispatcher_);
    server_->Start();
    thread_ = std::thread([this] { loop_->Run(); });
    const std::string url = server_->ViewUrl();
    token_ = url.substr(url.find('=') + 1);
  }
  ~LiveViewTest() override { End(); }

  // As the daemon ends: first the loop.
  void End() {
    if (!thread_.joinable()) return;
    loop_->Post([this] { loop_->Stop(); });
    thread_.join();
    server_.reset();
  }

  httplib::Client Client() {
    httplib::Client client("127.0.0.1", server_->address().port);
    client.set_read_timeout(60);
    return client;
  }
  httplib::Headers Shown() const {
    return {{"Authorization", "Bearer " + token_}};
  }
  httplib::Result Call(const std::string& body,
                       const httplib::Headers& headers) {
    return Client().Post("/api/call", headers, body, "application/json");
  }
  // What comes first, until it holds `text`.  -1: no answer at all.
  int ReadEventsUntil(const std::string& text) {
    std::string read;
    int status = -1;
    Client().Get(
        "/api/events", Shown(),
        [&](const httplib::Response& response) {
          status = response.status;
          return status == kOk;
        },
        [&](const char* data, size_t size) {
          read.append(data, size);
          return read.find(text) == read.npos;
        });
    return read.find(text) == read.npos && status == kOk ? -1 : status;
  }

  std::unique_ptr<Loop> loop_ = *MakeLoop();
  testing::Lab lab_{"single-switch:hosts=3"};
  FabricEventLog log_{*loop_, lab_.fabric, absl::ZeroDuration()};
  control::MethodTable dispatcher_;
  std::unique_ptr<WebServer> server_;
  std::thread thread_;
  std::string token_;
};

TEST_F(LiveViewTest, ThePageNeedsNoTokenAndTrustsNobodyElse) {
  for (const char* path : {"/", "/main.js", "/style.css", "/icon.svg"}) {
    const auto page = Client().Get(path);
    ASSERT_TRUE(page) << path;
    EXPECT_EQ(page->status, kOk) << path;
    EXPECT_FALSE(page->body.empty()) << path;
    EXPECT_THAT(page->get_header_value("Content-Security-Policy"),
                HasSubstr("default-src 'self'"));
    EXPECT_EQ(page->get_header_value("X-Content-Type-Options"), "nosniff");
    EXPECT_EQ(page->get_header_value("Referrer-Policy"), "no-referrer");
    EXPECT_FALSE(page->has_header("Access-Control-Allow-Origin"));
    EXPECT_EQ(page->body.find(token_), std::string::npos);
  }
}

TEST_F(LiveViewTest, NothingIsAnsweredWithoutTheToken) {
  for (const httplib::Headers& headers :
       {httplib::Headers{}, httplib::Headers{{"Authorization", "Bearer 00"}}}) {
    const auto call = Call(R"({"id":1,"method":"status"})", headers);
    ASSERT_TRUE(call);
    EXPECT_EQ(call->status, kUnauthorized);
    EXPECT_EQ(call->body,
              "the token is missing or wrong: open the address that the daemon "
              "told when it started\n");
    const auto events = Client().Get("/api/events", headers);
    ASSERT_TRUE(events);
    EXPECT_EQ(events->status, kUnauthorized);
  }
}

TEST_F(LiveViewTest, PagesOfOtherSitesGetNothingEvenWithTheToken) {
  httplib::Headers headers = Shown();
  headers.emplace("Origin", "http://example.org");
  const auto call = Call(R"({"id":1,"method":"status"})", headers);
  ASSERT_TRUE(call);
  EXPECT_EQ(call->status, kForbidden);
  headers = Shown();
  headers.emplace("Host", "example.org");
  const auto rebound = Client().Get("/", headers);
  ASSERT_TRUE(rebound);
  EXPECT_EQ(rebound->status, kForbidden);
}

TEST_F(LiveViewTest, CallsMethodsThatAreForPages) {
  const auto status = Call(R"({"id":1,"method":"status"})", Shown());
  ASSERT_TRUE(status);
  EXPECT_EQ(status->status, kOk);
  EXPECT_EQ(json::parse(status->body)["result"]["pid"], 7);
  const auto capture = Call(R"({"id":1,"method":"capture.start"})", Shown());
  ASSERT_TRUE(capture);
  EXPECT_THAT(capture->body, HasSubstr("is no method for pages"));
  const auto silent = Call(R"({"method":"status"})", Shown());
  ASSERT_TRUE(silent);
  EXPECT_EQ(silent->status, kNoContent);
  const auto garbage = Call("}{", Shown());
  ASSERT_TRUE(garbage);
  EXPECT_THAT(garbage->body, HasSubstr("the text is not JSON"));
  const auto large = Call(std::string(100'000, ' '), Shown());
  ASSERT_TRUE(large);
  EXPECT_EQ(large->status, kTooLong);
}

TEST_F(LiveViewTest, AStreamBeginsWithAGreetingAndTellsEvents) {
  EXPECT_EQ(ReadEventsUntil("event: hello\n"), kOk);
  std::atomic<bool> done = false;
  std::thread teller([&] {
    while (!done) {
      loop_->Post([this] { log_.Tell("scenario", {{"step", 1}}); });
      std::this_thread::yield();
    }
  });
  EXPECT_EQ(ReadEventsUntil("\"event\":\"scenario\""), kOk);
  done = true;
  teller.join();
}

TEST_F(LiveViewTest, TooManyStreamsAreRefusedAndAllEndWithTheServer) {
  std::atomic<size_t> open = 0;
  std::vector<std::thread> pages;
  for (size_t i = 0; i < LiveView::kMaxStreams; ++i) {
    pages.emplace_back([&, port = server_->address().port] {
      httplib::Client client("127.0.0.1", port);
      bool greeted = false;
      client.Get("/api/events", Shown(), [&](const char*, size_t) {
        if (!std::exchange(greeted, true)) ++open;
        return true;
      });
    });
  }
  while (open < LiveView::kMaxStreams) std::this_thread::yield();
  EXPECT_EQ(ReadEventsUntil("hello"), kUnavailable);
  const auto other = Client().Get("/health");
  ASSERT_TRUE(other);
  EXPECT_EQ(other->status, kOk) << "streams don't take all threads";
  End();
  for (std::thread& page : pages) page.join();
}

}  // namespace
}  // namespace ibemu::daemon

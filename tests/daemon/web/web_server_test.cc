#include "daemon/web/web_server.h"

#include <httplib.h>

#include <string>
#include <thread>

#include "daemon/events/fabric_event_log.h"
#include "daemon/web/fabric_pages.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "testing/lab.h"

namespace ibemu::daemon {
namespace {

using ::testing::HasSubstr;

constexpr int kOk = 200, kForbidden = 403, kNotFound = 404,
              kLengthRequired = 411, kUnavailable = 503;

class WebServerTest : public ::testing::Test {
 protected:
  ~WebServerTest() override { StopLoop(); }

  void StartServer() {
    server_ = *BindFabricPages({.host = "127.0.0.1"}, *loop_, lab_.fabric, log_,
                               dispatcher_);
    server_->Start();
  }
  void StartLoop() {
    thread_ = std::thread([this] { loop_->Run(); });
  }
  void StopLoop() {
    if (!thread_.joinable()) return;
    loop_->Post([this] { loop_->Stop(); });
    thread_.join();
  }
  httplib::Result Get(const char* path, const char* host = "localhost") {
    httplib::Client client("127.0.0.1", server_->address().port);
    return client.Get(path, {{"Host", host}});
  }

  std::unique_ptr<Loop> loop_ = *MakeLoop();
  testing::Lab lab_{"single-switch:hosts=3"};
  FabricEventLog log_{*loop_, lab_.fabric, absl::ZeroDuration()};
  control::MethodTable dispatcher_;
  std::thread thread_;
  std::unique_ptr<WebServer> server_;
};

TEST_F(WebServerTest, ShowsMetricsOfTheFabricAndOfItsPorts) {
  StartServer();
  StartLoop();
  const auto metrics = Get("/metrics");
  ASSERT_TRUE(metrics);
  EXPECT_EQ(metrics->status, kOk);
  EXPECT_THAT(metrics->get_header_value("Content-Type"),
              HasSubstr("text/plain; version=0.0.4"));
  EXPECT_THAT(metrics->body, HasSubstr("ibemu_loop_wait_seconds "));
  EXPECT_THAT(metrics->body, HasSubstr("ibemu_nodes{type=\"ca\""));
  const auto ports = Get("/metrics/ports");
  ASSERT_TRUE(ports);
  EXPECT_THAT(ports->body, HasSubstr("ibemu_port_state{node=\"node-3\""));
}

TEST_F(WebServerTest, IsHealthyWhileTheLoopTurns) {
  StartServer();
  StartLoop();
  const auto health = Get("/health");
  ASSERT_TRUE(health);
  EXPECT_EQ(health->status, kOk);
  EXPECT_EQ(health->body, "ok\n");
}

TEST_F(WebServerTest, GivesUpTheQuestionsUnderWayWhenItEnds) {
  StartServer();  // and no loop that would answer
  const int port = server_->address().port;
  int status = kUnavailable;
  std::thread asker([&] {
    const auto health = httplib::Client("127.0.0.1", port).Get("/health");
    if (health) status = health->status;
  });
  server_.reset();
  asker.join();
  EXPECT_EQ(status, kUnavailable);
}

TEST_F(WebServerTest, AnswersNoPageOfAnotherSite) {
  StartServer();
  const auto metrics = Get("/metrics", "example.org");
  ASSERT_TRUE(metrics);
  EXPECT_EQ(metrics->status, kForbidden);
  EXPECT_EQ(metrics->body, "only this machine may ask\n");
}

TEST_F(WebServerTest, RefusesARequestOfUnknownLength) {
  StartServer();
  httplib::Client client("127.0.0.1", server_->address().port);
  const auto answer = client.Post(
      "/metrics",
      [](size_t, httplib::DataSink& sink) {
        sink.done();
        return true;
      },
      "text/plain");
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->status, kLengthRequired);
}

TEST_F(WebServerTest, TellsTheAddressOfTheViewWithItsToken) {
  StartServer();
  EXPECT_THAT(server_->ViewUrl(),
              HasSubstr("http://" + server_->address().Text() + "/?token="));
}

TEST_F(WebServerTest, NamesWhatThereIs) {
  StartServer();
  const auto nothing = Get("/nothing");
  ASSERT_TRUE(nothing);
  EXPECT_EQ(nothing->status, kNotFound);
  EXPECT_THAT(nothing->body, HasSubstr("/metrics/ports"));
}

TEST_F(WebServerTest, SharesItsPortWithNobody) {
  StartServer();
  const auto second = BindFabricPages(server_->address(), *loop_, lab_.fabric,
                                      log_, dispatcher_);
  ASSERT_FALSE(second.ok());
  EXPECT_THAT(second.status().message(), HasSubstr(server_->address().Text() +
                                                   ": Address already in use"));
}

}  // namespace
}  // namespace ibemu::daemon

#include "daemon/web/adapter_pages.h"

#include <gtest/gtest.h>
#include <httplib.h>

#include <memory>
#include <string>
#include <thread>

#include "gmock/gmock.h"
#include "nlohmann/json.hpp"
#include "tests/daemon/hca_adapters_lab.h"

namespace ibemu::daemon {
namespace {

using nlohmann::json;
using ::testing::HasSubstr, ::testing::Not;

// The adapter's time is virtual, the server's loop is not.
class AdapterPagesTest : public HcaAdaptersLab {
 protected:
  static constexpr int kOk = 200, kNotFound = 404;

  AdapterPagesTest() {
    Start("host-1");
    server_ = *BindAdapterPages({.host = "127.0.0.1"}, *turning_, adapters_);
    server_->Start();
    thread_ = std::thread([this] { turning_->Run(); });
  }
  ~AdapterPagesTest() override {
    turning_->Post([this] { turning_->Stop(); });
    thread_.join();
    server_.reset();
  }

  httplib::Result Get(const char* path) {
    return httplib::Client("127.0.0.1", server_->address().port).Get(path);
  }

  std::unique_ptr<Loop> turning_ = *MakeLoop();
  std::unique_ptr<WebServer> server_;
  std::thread thread_;
};

TEST_F(AdapterPagesTest, ShowsTheAdaptersToWhoOpensItsAddress) {
  EXPECT_EQ(server_->ViewUrl(), "http://" + server_->address().Text() + "/");
  const auto page = Get("/");
  ASSERT_TRUE(page);
  EXPECT_EQ(page->status, kOk);
  EXPECT_THAT(page->get_header_value("Content-Type"), HasSubstr("text/html"));
  EXPECT_THAT(page->get_header_value("Content-Security-Policy"),
              HasSubstr("default-src 'self'"));
  EXPECT_THAT(page->body, HasSubstr("<h2>lab/host-1</h2>"));
  EXPECT_THAT(page->body, HasSubstr("ConnectX-3 (15b3:1003)"));
  EXPECT_THAT(page->body, HasSubstr("<td>active</td><td>linkup</td>"));
  EXPECT_EQ(Get("/style.css")->status, kOk);
  EXPECT_EQ(Get("/icon.svg")->status, kOk);
}

TEST_F(AdapterPagesTest, HasNothingOfASubnet) {
  for (const char* const path : {"/main.js", "/api/events"}) {
    EXPECT_EQ(Get(path)->status, kNotFound) << path;
  }
}

TEST_F(AdapterPagesTest, AnswersPrometheusAndWatchdogs) {
  const auto metrics = Get("/metrics");
  ASSERT_TRUE(metrics);
  EXPECT_THAT(metrics->body, HasSubstr("ibemu_adapter_alive{adapter=\"lab/"
                                       "host-1\"} 1\n"));
  EXPECT_THAT(metrics->body, HasSubstr("process_cpu_seconds_total "));
  const auto ports = Get("/metrics/ports");
  ASSERT_TRUE(ports);
  EXPECT_THAT(ports->body, HasSubstr("ibemu_port_state{node=\"host-1\""));
  EXPECT_THAT(ports->body, HasSubstr("ibemu_port_mads_dropped_total{"));
  EXPECT_EQ(Get("/health")->body, "ok\n");
}

TEST(AdapterPageTest, TextOfOthersIsText) {
  const std::string page =
      AdapterPage(json::array({{{"adapter", "a"},
                                {"device", "d"},
                                {"board_id", "\"&"},
                                {"firmware", "1"},
                                {"hardware", "0"},
                                {"node", "<script>"},
                                {"node_guid", "0x1"},
                                {"alive", false},
                                {"error", "it's dead"},
                                {"ports", json::array()}}}));
  EXPECT_THAT(page, Not(HasSubstr("<script>")));
  EXPECT_THAT(page, HasSubstr("&lt;script&gt;"));
  EXPECT_THAT(page, HasSubstr("&quot;&amp;"));
  EXPECT_THAT(page, HasSubstr("<td>dead</td>"));
  EXPECT_THAT(page, HasSubstr("it's dead"));
}

}  // namespace
}  // namespace ibemu::daemon

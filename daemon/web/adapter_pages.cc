#include "daemon/web/adapter_pages.h"

#include <httplib.h>

#include <string_view>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "base/absl_text.h"
#include "daemon/web/metrics/adapter_metrics.h"
#include "daemon/web/view/page_files.h"
#include "daemon/web/view/page_headers.h"
#include "nlohmann/json.hpp"

namespace ibemu::daemon {
namespace {

using nlohmann::json;

constexpr char kHtml[] = "text/html; charset=utf-8";
constexpr int kLoopIsBusy = 503;

constexpr char kPageStart[] = R"(<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta http-equiv="refresh" content="5">
<title>ibemu: adapters</title>
<link rel="icon" href="icon.svg">
<link rel="stylesheet" href="style.css">
</head>
<body>
<header>
  <h1>ibemu</h1>
  <p>This daemon drives adapters and has no simulated subnet.</p>
</header>
<main class="adapters">
)";

constexpr char kPageEnd[] = "</main>\n</body>\n</html>\n";

// Escapes `value`: names of nodes may hold anything.
std::string Html(const json& value) {
  const std::string text = value.is_string() ? value.get<std::string>()
                           : value.is_null() ? "-"
                                             : value.dump();
  return absl::StrReplaceAll(
      text, {{"&", "&amp;"}, {"<", "&lt;"}, {">", "&gt;"}, {"\"", "&quot;"}});
}

void AppendRow(std::string& html, std::string_view name, const json& value) {
  absl::StrAppend(&html, "<tr><th scope=\"row\">", Absl(name), "</th><td>",
                  Html(value), "</td></tr>\n");
}

void AppendPort(std::string& html, const json& port) {
  absl::StrAppend(&html, "<tr><th scope=\"row\">", Html(port["port"]), "</th>");
  for (const char* const column :
       {"state", "physical_state", "rate", "lid", "sm_lid", "guid"}) {
    absl::StrAppend(&html, "<td>", Html(port[column]), "</td>");
  }
  absl::StrAppend(&html, "</tr>\n");
}

void AppendAdapter(std::string& html, const json& adapter) {
  absl::StrAppend(&html, "<section>\n<h2>", Html(adapter["adapter"]),
                  "</h2>\n<table>\n");
  AppendRow(html, "health", adapter["alive"] == true ? "alive" : "dead");
  if (!adapter["error"].is_null()) AppendRow(html, "error", adapter["error"]);
  AppendRow(html, "device", adapter["device"]);
  AppendRow(html, "board", adapter["board_id"]);
  AppendRow(html, "firmware", adapter["firmware"]);
  AppendRow(html, "node", adapter["node"]);
  AppendRow(html, "node GUID", adapter["node_guid"]);
  absl::StrAppend(
      &html,
      "</table>\n<table>\n<thead><tr><th>port</th><th>state</th><th>link</th>"
      "<th>rate</th><th>LID</th><th>SM LID</th><th>GUID</th></tr></thead>\n");
  for (const json& port : adapter["ports"]) AppendPort(html, port);
  absl::StrAppend(&html, "</table>\n</section>\n");
}

}  // namespace

std::string AdapterPage(const json& adapters) {
  std::string html = kPageStart;
  for (const json& adapter : adapters) AppendAdapter(html, adapter);
  return html + kPageEnd;
}

void AdapterPages::AddTo(httplib::Server& server) {
  server.Get("/", [this](const httplib::Request&, httplib::Response& response) {
    Protect(response);
    json adapters;
    if (!questions_.Ask([&] { adapters = adapters_.List(); })) {
      response.status = kLoopIsBusy;
      return response.set_content("the daemon's loop does not answer\n",
                                  "text/plain; charset=utf-8");
    }
    response.set_content(AdapterPage(adapters), kHtml);
  });
  // The page looks like the live view.
  for (const PageFile& file : PageFiles()) {
    const std::string_view type = file.type;
    if (!type.starts_with("text/css") && !type.starts_with("image/")) continue;
    server.Get(file.path, [&file](const httplib::Request&,
                                  httplib::Response& response) {
      Protect(response);
      response.set_content(file.text.data(), file.text.size(), file.type);
    });
  }
}

MetricFamilies AdapterPages::Metrics() const {
  return AdapterMetrics(adapters_);
}

size_t AdapterPages::PortMetricKinds() const { return kAdapterPortMetrics; }

prometheus::MetricFamily AdapterPages::PortMetrics(PortCursor& cursor) const {
  return AdapterPortMetrics(adapters_, cursor.kind++);
}

absl::StatusOr<std::unique_ptr<WebServer>> BindAdapterPages(
    const WebAddress& address, Loop& loop, const HcaAdapters& adapters) {
  return WebServer::Bind(address, loop, [&](LoopQuestions& questions) {
    return std::make_unique<AdapterPages>(adapters, questions);
  });
}

}  // namespace ibemu::daemon

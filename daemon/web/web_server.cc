#include "daemon/web/web_server.h"

#include <httplib.h>
#include <prometheus/text_serializer.h>

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "daemon/web/http/http_listener.h"
#include "daemon/web/http/request_server.h"
#include "daemon/web/metrics/metrics.h"
#include "daemon/web/metrics/process_metrics.h"
#include "daemon/web/view/loop_questions.h"

namespace ibemu::daemon {
namespace {

using httplib::Request;
using httplib::Response;

constexpr char kPlainText[] = "text/plain; charset=utf-8";
constexpr int kForbidden = 403, kNotFound = 404, kLengthRequired = 411,
              kUnavailable = 503;

void Refuse(Response& response, int status, const char* text) {
  response.status = status;
  response.set_content(text, kPlainText);
}

constexpr char kMetricsText[] = "text/plain; version=0.0.4; charset=utf-8";

std::string TextOf(const MetricFamilies& families) {
  std::ostringstream text;
  prometheus::TextSerializer().Serialize(text, families);
  return text.str();
}

// Returns the samples as text, without the lines that introduce the family.
std::string SamplesOf(const prometheus::MetricFamily& family) {
  std::string text = TextOf({family});
  while (text.starts_with('#')) text.erase(0, text.find('\n') + 1);
  return text;
}

void Append(MetricFamilies from, MetricFamilies& to) {
  for (auto& family : from) to.push_back(std::move(family));
}

void NoAnswer(Response& response) {
  Refuse(response, kUnavailable, "the daemon's loop does not answer\n");
}

// Requests for whoever watches over the daemon: short, and answered in time
// whatever pages ask for.
bool IsForWatchers(const HttpRequest& request) {
  return request.target == "/health" || request.target == "/metrics";
}

}  // namespace

class WebServer::Impl {
 public:
  Impl(WebAddress address, Loop& loop, MakePages make)
      : address_(std::move(address)),
        questions_(loop),
        web_pages_(make(questions_)) {
    server_.set_pre_routing_handler(
        [](const Request& request, Response& response) {
          if (!IsThisMachine(request.get_header_value("Host"))) {
            Refuse(response, kForbidden, "only this machine may ask\n");
          } else if (request.has_header("Transfer-Encoding")) {
            // The library would accept a body of any length.
            Refuse(response, kLengthRequired, "say how long the request is\n");
          } else {
            return httplib::Server::HandlerResponse::Unhandled;
          }
          return httplib::Server::HandlerResponse::Handled;
        });
    server_.set_error_handler([](const Request&, Response& response) {
      if (response.status != kNotFound) return;
      Refuse(response, kNotFound,
             "there are /, /health, /metrics and /metrics/ports\n");
    });
    web_pages_->AddTo(server_);
    server_.Get("/health", [this](const Request&, Response& response) {
      Health(response);
    });
    server_.Get("/metrics", [this](const Request&, Response& response) {
      Metrics(response);
    });
    server_.Get("/metrics/ports", [this](const Request&, Response& response) {
      Ports(response);
    });
  }

  ~Impl() {
    questions_.Close();
    web_pages_->Close();
    server_.Close();
    listener_.reset();
    if (page_threads_) page_threads_->shutdown();
    if (watcher_threads_) watcher_threads_->shutdown();
  }

  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  absl::Status Bind() {
    auto listener = HttpListener::Bind(address_.host, address_.port);
    if (!listener.ok()) {
      return absl::Status(
          listener.status().code(),
          absl::StrCat(address_.Text(), listener.status().message()));
    }
    listener_ = *std::move(listener);
    address_.port = listener_->port();
    return absl::OkStatus();
  }

  void AddMetrics(std::function<MetricFamilies()> more) {
    more_metrics_.push_back(std::move(more));
  }

  void Start() {
    // Few, for a scrape of a large fabric takes memory.
    page_threads_.emplace(web_pages_->streams() + 3);
    watcher_threads_.emplace(1);
    server_.Open(listener_->fd());
    listener_->Start([this](HttpRequest request) {
      Enqueue(std::make_shared<HttpRequest>(std::move(request)));
    });
  }

  const WebAddress& address() const { return address_; }
  const WebPages& web_pages() const { return *web_pages_; }

 private:
  // Called on the listener's thread.
  void Enqueue(const std::shared_ptr<HttpRequest>& request) {
    const bool watches = IsForWatchers(*request);
    std::atomic<size_t>& waiting = watches ? watchers_wait_ : pages_wait_;
    if (waiting == kMaxWaiting) {
      return SendRefusal(request->socket.get(), kUnavailable,
                         "too many requests wait already\n");
    }
    ++waiting;
    (watches ? *watcher_threads_ : *page_threads_)
        .enqueue([this, request, &waiting] {
          --waiting;
          server_.Answer(std::move(*request));
        });
  }

  void Health(Response& response) {
    if (!questions_.Ask([] {})) return NoAnswer(response);
    response.set_content("ok\n", kPlainText);
  }

  void Metrics(Response& response) {
    MetricFamilies families;
    const absl::Time asked = absl::Now();
    absl::Duration waited;
    const bool answered = questions_.Ask([&] {
      waited = absl::Now() - asked;
      families = web_pages_->Metrics();
      for (const auto& more : more_metrics_) Append(more(), families);
    });
    if (!answered) return NoAnswer(response);
    Append(ProcessMetrics(), families);
    prometheus::ClientMetric wait;
    wait.gauge.value = absl::ToDoubleSeconds(waited);
    families.push_back({.name = "ibemu_loop_wait_seconds",
                        .help = "How long this question waited for the loop",
                        .type = prometheus::MetricType::Gauge,
                        .metric = {wait}});
    response.set_content(TextOf(families), kMetricsText);
  }

  // In pieces as they come: all at once would be a gigabyte for the largest
  // fabric.  If the loop stops meanwhile, the reader sees that the rest is
  // missing.
  void Ports(Response& response) {
    response.set_chunked_content_provider(
        kMetricsText, [this, cursor = WebPages::PortCursor{}](
                          size_t, httplib::DataSink& sink) mutable {
          if (cursor.kind == web_pages_->PortMetricKinds()) {
            sink.done();
            return true;
          }
          const bool begins = cursor.from == 0;
          prometheus::MetricFamily piece;
          if (!questions_.Ask(
                  [&] { piece = web_pages_->PortMetrics(cursor); })) {
            return false;
          }
          const std::string text = begins ? TextOf({piece}) : SamplesOf(piece);
          // An empty piece would end the answer.
          return text.empty() || sink.write(text.data(), text.size());
        });
  }

  static constexpr size_t kMaxWaiting = 64;

  WebAddress address_;
  LoopQuestions questions_;
  const std::unique_ptr<WebPages> web_pages_;
  std::vector<std::function<MetricFamilies()>> more_metrics_;
  RequestServer server_;
  std::optional<httplib::ThreadPool> page_threads_, watcher_threads_;
  std::atomic<size_t> pages_wait_ = 0, watchers_wait_ = 0;
  std::unique_ptr<HttpListener> listener_;
};

absl::StatusOr<std::unique_ptr<WebServer>> WebServer::Bind(
    const WebAddress& address, Loop& loop, MakePages make) {
  auto impl = std::make_unique<Impl>(address, loop, make);
  if (const absl::Status status = impl->Bind(); !status.ok()) return status;
  return std::unique_ptr<WebServer>(new WebServer(std::move(impl)));
}

WebServer::WebServer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

WebServer::~WebServer() = default;

std::string WebServer::ViewUrl() const {
  return absl::StrCat("http://", address().Text(),
                      impl_->web_pages().ViewPath());
}

const WebAddress& WebServer::address() const { return impl_->address(); }

void WebServer::AddMetrics(std::function<MetricFamilies()> more) {
  impl_->AddMetrics(std::move(more));
}

void WebServer::Start() { impl_->Start(); }

}  // namespace ibemu::daemon

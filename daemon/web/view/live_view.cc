#include "daemon/web/view/live_view.h"

#include <httplib.h>

#include <utility>

#include "absl/strings/str_cat.h"
#include "control/rpc.h"
#include "daemon/web/view/page_files.h"
#include "daemon/web/view/page_headers.h"
#include "daemon/web/view/view_calls.h"
#include "daemon/web/view/view_token.h"

namespace ibemu::daemon {
namespace {

constexpr char kJson[] = "application/json";
constexpr char kNoAnswer[] = "the daemon's loop does not answer";

enum Answer {
  kNoContent = 204,
  kUnauthorized = 401,
  kOtherSite = 403,
  kTooMany = 503,
};

void RefuseCall(httplib::Response& response, Answer status, const char* text) {
  response.status = status;
  response.set_content(absl::StrCat(text, "\n"), "text/plain; charset=utf-8");
}

// A page of another site has its own origin; programs have none.
bool IsOwnOrigin(const httplib::Request& request) {
  const std::string origin = request.get_header_value("Origin");
  return origin.empty() ||
         origin == absl::StrCat("http://", request.get_header_value("Host"));
}

}  // namespace

LiveView::LiveView(Timers& timers, fabric::Fabric& fabric, EventLog& events,
                   const control::MethodTable& dispatcher,
                   LoopQuestions& questions)
    : dispatcher_(dispatcher),
      questions_(questions),
      token_(MakeViewToken()),
      feed_(timers, fabric, events) {}

void LiveView::AddTo(httplib::Server& server) {
  for (const PageFile& file : PageFiles()) {
    server.Get(file.path, [&file](const httplib::Request&,
                                  httplib::Response& response) {
      Protect(response);
      response.set_content(file.text.data(), file.text.size(), file.type);
    });
  }
  // Browsers may ask for it before they have read which icon the page has.
  server.Get("/favicon.ico",
             [](const httplib::Request&, httplib::Response& response) {
               Protect(response);
               response.status = kNoContent;
             });
  server.Post("/api/call",
              [this](const httplib::Request& request,
                     httplib::Response& response) { Call(request, response); });
  server.Get("/api/events", [this](const httplib::Request& request,
                                   httplib::Response& response) {
    Events(request, response);
  });
}

bool LiveView::Admit(const httplib::Request& request,
                     httplib::Response& response) const {
  Protect(response);
  if (!IsOwnOrigin(request)) {
    RefuseCall(response, kOtherSite, "only the daemon's own page may ask");
    return false;
  }
  if (HasViewToken(request.get_header_value("Authorization"), token_)) {
    return true;
  }
  response.set_header("WWW-Authenticate", "Bearer");
  RefuseCall(response, kUnauthorized,
             "the token is missing or wrong: open the address that the daemon "
             "told when it started");
  return false;
}

void LiveView::Call(const httplib::Request& request,
                    httplib::Response& response) {
  if (!Admit(request, response)) return;
  if (const absl::Status refusal = CheckViewCall(request.body); !refusal.ok()) {
    response.set_content(control::RefuseRequest(refusal), kJson);
    return;
  }
  std::string answer;
  if (!questions_.Ask(
          [&] { answer = AnswerViewCall(dispatcher_, request.body); })) {
    return RefuseCall(response, kTooMany, kNoAnswer);
  }
  if (answer.empty()) {
    response.status = kNoContent;
  } else {
    response.set_content(answer, kJson);
  }
}

std::shared_ptr<EventBacklog> LiveView::OpenStream() {
  const std::lock_guard lock(mutex_);
  std::erase_if(streams_, [](const auto& stream) { return stream.expired(); });
  if (closed_ || streams_.size() == kMaxStreams) return nullptr;
  auto stream = std::make_shared<EventBacklog>();
  streams_.push_back(stream);
  return stream;
}

void LiveView::Events(const httplib::Request& request,
                      httplib::Response& response) {
  if (!Admit(request, response)) return;
  const std::shared_ptr<EventBacklog> stream = OpenStream();
  if (stream == nullptr) {
    return RefuseCall(response, kTooMany,
                      "as many pages as may be open are open: close one");
  }
  if (!questions_.Ask([&] { feed_.Add(stream); })) {
    return RefuseCall(response, kTooMany, kNoAnswer);
  }
  // Each second something comes, if only that there is no load.
  response.set_chunked_content_provider(
      "text/event-stream", [stream](size_t, httplib::DataSink& sink) {
        constexpr absl::Duration kPatience = absl::Seconds(5);
        const auto text = stream->Take(kPatience);
        if (!text) return false;
        // A comment finds out whether somebody is still there.
        const std::string_view sent =
            text->empty() ? std::string_view(":\n\n") : *text;
        return sink.write(sent.data(), sent.size());
      });
}

void LiveView::Close() {
  const std::lock_guard lock(mutex_);
  closed_ = true;
  for (const auto& stream : streams_) {
    if (const auto open = stream.lock()) open->Close();
  }
}

}  // namespace ibemu::daemon

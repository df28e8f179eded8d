#include "daemon/web/view/page_headers.h"

#include <httplib.h>

namespace ibemu::daemon {
namespace {

constexpr char kContentPolicy[] =
    "default-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors "
    "'none'; object-src 'none'";

}  // namespace

void Protect(httplib::Response& response) {
  response.set_header("Content-Security-Policy", kContentPolicy);
  response.set_header("X-Content-Type-Options", "nosniff");
  response.set_header("Referrer-Policy", "no-referrer");
  response.set_header("Cache-Control", "no-store");
}

}  // namespace ibemu::daemon

// The HTTP headers that protect pages.
#ifndef IBEMU_DAEMON_WEB_VIEW_PAGE_HEADERS_H_
#define IBEMU_DAEMON_WEB_VIEW_PAGE_HEADERS_H_

namespace httplib {
struct Response;
}  // namespace httplib

namespace ibemu::daemon {

// Adds headers that let a page load nothing but our own files, without inline
// scripts and styles, and that forbid to frame it and to cache it.
void Protect(httplib::Response& response);

}  // namespace ibemu::daemon

#endif  // IBEMU_DAEMON_WEB_VIEW_PAGE_HEADERS_H_

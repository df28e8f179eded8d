// What browsers are told beside a page.
#ifndef IBEMU_DAEMON_WEB_VIEW_PAGE_HEADERS_H_
#define IBEMU_DAEMON_WEB_VIEW_PAGE_HEADERS_H_

namespace httplib {
struct Response;
}  // namespace httplib

namespace ibemu::daemon {

// Of what a page of ours has, its own files are all: no inline script or style,
// no other site, no frame around it.  It is asked for anew each time.
void Protect(httplib::Response& response);

}  // namespace ibemu::daemon

#endif  // IBEMU_DAEMON_WEB_VIEW_PAGE_HEADERS_H_

// The files of daemon/web/page, and Debian's Chart.js, which the build puts
// into the program.
#ifndef IBEMU_DAEMON_WEB_VIEW_PAGE_FILES_H_
#define IBEMU_DAEMON_WEB_VIEW_PAGE_FILES_H_

#include <span>
#include <string_view>

namespace ibemu::daemon {

// A PageFile is one of these files, as the web server sends it.  Its texts live
// as long as the program.
struct PageFile {
  const char* path;  // of the URL: "/", "/main.js"
  const char* type;
  std::string_view text;
};

// Returns all files.  httplib takes paths for patterns; each of these matches
// itself alone.
std::span<const PageFile> PageFiles();

}  // namespace ibemu::daemon

#endif  // IBEMU_DAEMON_WEB_VIEW_PAGE_FILES_H_

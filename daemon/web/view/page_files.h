// The files of daemon/web/page, which the build puts into the program.
#ifndef IBEMU_DAEMON_WEB_VIEW_PAGE_FILES_H_
#define IBEMU_DAEMON_WEB_VIEW_PAGE_FILES_H_

#include <span>
#include <string_view>

namespace ibemu::daemon {

struct PageFile {
  const char* path;  // of the URL: "/", "/main.js"
  const char* type;
  std::string_view text;
};

// Where a path is a pattern, as httplib has it, it stands for itself alone.
std::span<const PageFile> PageFiles();

}  // namespace ibemu::daemon

#endif  // IBEMU_DAEMON_WEB_VIEW_PAGE_FILES_H_

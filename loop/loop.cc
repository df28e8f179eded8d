#include "loop/loop.h"

#include <cstdlib>
#include <string_view>

#include "absl/strings/str_format.h"
#include "loop/epoll_loop.h"
#include "loop/uring_loop.h"

namespace ibemu {

absl::StatusOr<std::unique_ptr<Loop>> MakeLoop() {
  const char* forced = std::getenv("IBEMU_LOOP");
  const std::string_view kind = forced == nullptr ? "" : forced;
  if (kind == "uring") return UringLoop::Create();
  if (kind == "epoll") return EpollLoop::Create();
  if (!kind.empty()) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "IBEMU_LOOP=%s: it is \"uring\", \"epoll\" or not set", kind));
  }
  absl::StatusOr<std::unique_ptr<Loop>> loop = UringLoop::Create();
  return loop.ok() ? std::move(loop) : EpollLoop::Create();
}

}  // namespace ibemu

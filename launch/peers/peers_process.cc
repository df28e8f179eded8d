#include "launch/peers/peers_process.h"

#include <unistd.h>

#include <cerrno>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"
#include "base/status_macros.h"
#include "launch/own_program.h"

namespace ibemu::launch {
namespace {

constexpr char kProgram[] = "ibemu-peers";
constexpr absl::Duration kEndsWithin = absl::Seconds(1);

}  // namespace

std::string ReadPeersLine(int fd) {
  std::string text;
  char byte = 0;
  while (true) {
    const ssize_t count = read(fd, &byte, 1);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0 || byte == '\n') return text;
    text += byte;
  }
}

absl::StatusOr<PeersProcess> PeersProcess::Start(
    std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), HelperProgram(kProgram));
  IBEMU_ASSIGN_OR_RETURN(
      OwnProcess process,
      OwnProcess::Start(std::move(arguments), "--line", kEndsWithin));
  return PeersProcess(std::move(process));
}

absl::StatusOr<std::string> PeersProcess::AwaitReady() const {
  const std::string said = ReadPeersLine(line());
  const std::string_view ready = kPeersReady;
  if (said.starts_with(ready)) return said.substr(ready.size());
  return absl::FailedPreconditionError(
      said.empty() ? absl::StrCat(kProgram, " ended, and said nothing") : said);
}

}  // namespace ibemu::launch

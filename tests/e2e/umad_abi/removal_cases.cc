// The adapter of umad1 goes, and comes back.
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <string>

#include "cases.h"
#include "child.h"

namespace umad_abi {
namespace {

constexpr char kPath[] = "/dev/infiniband/umad1";

void Removal(Line& line, const char* remove, const char* add) {
  const Umad file(1);
  const int agent =
      file.Register({.mgmt_class = kVendor, .methods = {kSend}, .oui = kOui});
  const int issm = open("/dev/infiniband/issm1", O_RDWR | O_CLOEXEC);
  const Umad here(0);
  here.Send(here.Register({}), {}, Mad(kVendor, kSend, 1));
  line.Say("queued", file.WaitReadable());

  const pid_t polling = StartWaiting([&file] {
    pollfd quiet{.fd = file.fd(), .events = POLLPRI, .revents = 0};
    poll(&quiet, 1, 60'000);
    return static_cast<int>(quiet.revents);
  });
  const Umad patient(1, O_RDWR);
  const pid_t reading = StartWaiting([&patient] {
    OnSignal(SIGALRM, [](int) {});
    return -patient.Read().result;
  });
  if (std::system(remove) != 0) {
    line.Say("the command failed");
    return;
  }
  line.Say("a waiting poll wakes with", ExitStatus(polling));
  kill(reading, SIGALRM);
  line.Say("a waiting read ends by a signal", -ExitStatus(reading));
  line.Say("poll", file.PollNow());
  line.Say("read", file.Read().result).Say("63", file.Read(63).result);
  line.Say("write", file.Send(agent, {.lid = 1}, Mad(kVendor, kSend, 1)));
  line.Say("id 32", file.Send(32, {.lid = 1}, Mad(kVendor, kSend, 1)));
  line.Say("register", file.Register({}));
  line.Say("unregister", file.Unregister(static_cast<uint32_t>(agent)));
  line.Say("ENABLE_PKEY of a file without agents", patient.EnablePKey());
  line.Say("open", open(kPath, O_RDWR) < 0 ? -errno : 0);
  line.Say("close of issm", close(issm) < 0 ? -errno : 0);
  line.Say("the other port",
           here.Send(here.Register({}), {.lid = LidOf(0), .timeout_ms = 10'000},
                     Mad(kPerf, kGet, 1, 1)));
  line.Say("answers", here.Next().result);

  if (std::system(add) != 0) line.Say("the command failed");
  line.Say("back: the old file reads", file.Read().result);
  const Umad anew(1);
  line.Say("a new one registers", anew.Register({}));
}

}  // namespace

std::vector<Case> RemovalCases() {
  if (std::getenv("UMAD_ABI_REMOVE") == nullptr ||
      std::getenv("UMAD_ABI_ADD") == nullptr) {
    return {};
  }
  return {{"removal", [](Line& line) {
             Removal(line, std::getenv("UMAD_ABI_REMOVE"),
                     std::getenv("UMAD_ABI_ADD"));
           }}};
}

}  // namespace umad_abi

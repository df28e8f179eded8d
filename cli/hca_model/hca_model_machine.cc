#include "cli/hca_model/hca_model_machine.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <utility>

#include "base/pidfd.h"
#include "base/socket_pair.h"
#include "base/status_macros.h"
#include "cli/run/run.h"
#include "hca/remote/qemu_command.h"

namespace ibemu::cli {
namespace {

// Turns the child process into QEMU.
[[noreturn]] void BecomeQemu(const std::vector<std::string>& arguments,
                             const launch::LauncherSignals& signals,
                             int device_socket, int qtest_socket) {
  // A machine without its adapter is of no use.
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  fcntl(device_socket, F_SETFD, 0);
  fcntl(qtest_socket, F_SETFD, 0);
  signals.Restore();
  std::vector<char*> words;
  words.reserve(arguments.size() + 1);
  for (const std::string& argument : arguments) {
    words.push_back(const_cast<char*>(argument.c_str()));
  }
  words.push_back(nullptr);
  execvp(words[0], words.data());
  const bool missing = errno == ENOENT || errno == ENOTDIR;
  std::fprintf(stderr, "ibemu-hca-model: %s: %s\n", words[0],
               std::strerror(errno));
  _exit(missing ? launch::kCommandNotFound : launch::kCommandNotExecutable);
}

}  // namespace

absl::StatusOr<std::unique_ptr<HcaModelMachine>> HcaModelMachine::Start(
    Loop& loop, const launch::LauncherSignals& signals,
    hca::model::PciDevice& device, const std::vector<std::string>& qemu) {
  IBEMU_ASSIGN_OR_RETURN(SocketPair device_ends, MakeSocketPair());
  IBEMU_ASSIGN_OR_RETURN(SocketPair qtest_ends, MakeSocketPair());
  const int device_socket = device_ends.theirs.get();
  const int qtest_socket = qtest_ends.theirs.get();
  IBEMU_ASSIGN_OR_RETURN(
      const hca::remote::QemuCommand command,
      hca::remote::PlugInto(qemu, device_socket, qtest_socket));
  std::unique_ptr<HcaModelMachine> machine(
      new HcaModelMachine(loop, signals, device, std::move(device_ends.ours),
                          std::move(qtest_ends.ours)));
  if (command.has_iommu) machine->guest_.AddIommu(hca::remote::kQemuDevfn);
  machine->pid_ = fork();
  if (machine->pid_ < 0) return absl::ErrnoToStatus(errno, "fork");
  if (machine->pid_ == 0) {
    BecomeQemu(command.arguments, signals, device_socket, qtest_socket);
  }
  IBEMU_RETURN_IF_ERROR(machine->Watch());
  return machine;
}

HcaModelMachine::HcaModelMachine(Loop& loop,
                                 const launch::LauncherSignals& signals,
                                 hca::model::PciDevice& device,
                                 UniqueFd device_socket, UniqueFd qtest_socket)
    : loop_(loop),
      signals_(signals),
      device_(device),
      qtest_(std::move(qtest_socket)),
      link_(std::move(device_socket), device, memory_) {
  guest_.OnError([this](const absl::Status& status) { OnGuestError(status); });
  link_.OnReset([this] { guest_.Reset(); });
  device_.SetHost(&guest_);
}

HcaModelMachine::~HcaModelMachine() {
  if (pid_ > 0 && !ended_) {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  for (const int fd :
       {process_.get(), link_.fd(), qtest_.fd(), signals_.fd()}) {
    if (fd >= 0) loop_.Forget(fd);
  }
  device_.SetHost(nullptr);
}

int HcaModelMachine::Run() {
  if (!ended_) loop_.Run();
  return wait_status_;
}

absl::Status HcaModelMachine::Watch() {
  process_.Reset(pidfd_open(pid_, 0));
  if (!process_.valid()) return absl::ErrnoToStatus(errno, "pidfd_open");
  IBEMU_RETURN_IF_ERROR(loop_.Watch(process_.get(), [this] { Reap(); }));
  IBEMU_RETURN_IF_ERROR(
      loop_.WatchEagerly(link_.fd(), [this] { return ServeDevice(); }));
  IBEMU_RETURN_IF_ERROR(loop_.Watch(qtest_.fd(), [this] { ServeQtest(); }));
  return loop_.Watch(signals_.fd(), [this] { PassSignalsOn(); });
}

bool HcaModelMachine::ServeDevice() {
  const absl::StatusOr<bool> served = link_.OnReadable();
  if (served.ok()) return *served;
  Drop(link_.fd(), served.status());
  return true;
}

void HcaModelMachine::ServeQtest() {
  if (const absl::Status status = qtest_.OnReadable(); !status.ok()) {
    Drop(qtest_.fd(), status);
  }
}

void HcaModelMachine::PassSignalsOn() {
  signalfd_siginfo signal = {};
  while (read(signals_.fd(), &signal, sizeof signal) == sizeof signal) {
    if (signal.ssi_signo == SIGUSR1 && on_user_signal_) {
      on_user_signal_();
    } else if (launch::PassesOn(signal)) {
      pidfd_send_signal(process_.get(), static_cast<int>(signal.ssi_signo),
                        nullptr, 0);
    }
  }
}

void HcaModelMachine::Reap() {
  if (waitpid(pid_, &wait_status_, WNOHANG) != pid_) return;
  ended_ = true;
  loop_.Forget(process_.get());
  loop_.Stop();
}

// A QEMU that stands still may go on later; one that breaks the protocol does
// not.
void HcaModelMachine::OnGuestError(const absl::Status& status) {
  if (!absl::IsResourceExhausted(status) && !absl::IsDeadlineExceeded(status)) {
    Drop(qtest_.fd(), status);
  } else if (auto callback = std::exchange(on_trouble_, nullptr)) {
    callback(status);
  }
}

void HcaModelMachine::Drop(int fd, const absl::Status& status) {
  loop_.Forget(fd);
  if (absl::IsUnavailable(status)) return;
  status_.Update(status);
  // Without this, QEMU would wait for answers for ever.
  pidfd_send_signal(process_.get(), SIGTERM, nullptr, 0);
}

}  // namespace ibemu::cli

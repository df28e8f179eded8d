// HcaModelMachine: a QEMU process with a modelled adapter plugged in.
#ifndef IBEMU_CLI_HCA_MODEL_HCA_MODEL_MACHINE_H_
#define IBEMU_CLI_HCA_MODEL_HCA_MODEL_MACHINE_H_

#include <sys/types.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/unique_fd.h"
#include "hca/model/pci_device.h"
#include "hca/remote/guest_machine.h"
#include "hca/remote/guest_memory.h"
#include "hca/remote/mpqemu_link.h"
#include "hca/remote/qtest_channel.h"
#include "launch/child.h"
#include "loop/loop.h"

namespace ibemu::cli {

// An HcaModelMachine owns the process of a QEMU, and the connections to it.
class HcaModelMachine {
 public:
  // Starts `qemu`, a program and its arguments as a user types them, with
  // `device` plugged in.  Nothing is owned.  REQUIRES: `signals` was made
  // before `loop`.
  //
  // Errors: InvalidArgument (EINVAL) if the machine can't have the device;
  // those of socketpair(2), fork(2) and pidfd_open(2).
  static absl::StatusOr<std::unique_ptr<HcaModelMachine>> Start(
      Loop& loop, const launch::LauncherSignals& signals,
      hca::model::PciDevice& device, const std::vector<std::string>& qemu);

  // Kills QEMU, unless it has ended.
  ~HcaModelMachine();
  HcaModelMachine(const HcaModelMachine&) = delete;
  HcaModelMachine& operator=(const HcaModelMachine&) = delete;

  // Makes SIGUSR1 call `callback` instead of being passed on.
  void OnUserSignal(absl::AnyInvocable<void()> callback) {
    on_user_signal_ = std::move(callback);
  }

  // Sets a callback that is called once if interrupts or accesses to memory are
  // lost because QEMU does not serve them.  A QEMU that is only stopped can go
  // on later, but its guest may hang.  The status is ResourceExhausted or
  // DeadlineExceeded.
  void OnTrouble(absl::AnyInvocable<void(const absl::Status&)> callback) {
    on_trouble_ = std::move(callback);
  }

  // Serves the device and passes signals on to QEMU, until QEMU ends.  Returns
  // its wait status.
  int Run();

  // Returns the first error by which the device was no longer served while QEMU
  // ran.
  const absl::Status& status() const { return status_; }

  const hca::remote::MpqemuLink& link() const { return link_; }
  const hca::remote::GuestMachine& guest() const { return guest_; }

 private:
  HcaModelMachine(Loop& loop, const launch::LauncherSignals& signals,
                  hca::model::PciDevice& device, UniqueFd device_socket,
                  UniqueFd qtest_socket);

  absl::Status Watch();
  bool ServeDevice();
  void ServeQtest();
  void PassSignalsOn();
  void Reap();
  void OnGuestError(const absl::Status& status);
  // Stops watching `fd` after an error.  It is no error if QEMU closes its end:
  // then it is about to end.
  void Drop(int fd, const absl::Status& status);

  Loop& loop_;
  const launch::LauncherSignals& signals_;
  hca::model::PciDevice& device_;
  hca::remote::GuestMemory memory_;
  hca::remote::QtestChannel qtest_;
  hca::remote::GuestMachine guest_{memory_, qtest_};
  hca::remote::MpqemuLink link_;
  pid_t pid_ = -1;
  UniqueFd process_;  // pidfd
  absl::AnyInvocable<void()> on_user_signal_;
  absl::AnyInvocable<void(const absl::Status&)> on_trouble_;
  bool ended_ = false;
  int wait_status_ = 0;
  absl::Status status_;
};

}  // namespace ibemu::cli

#endif  // IBEMU_CLI_HCA_MODEL_HCA_MODEL_MACHINE_H_

// A QEMU that a modelled adapter is plugged into.
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

// QEMU's process and what leads to it.
class HcaModelMachine {
 public:
  // Starts `qemu` (program and arguments, as a user types them) with `device`
  // plugged in.  Nothing is owned; `signals` were taken before the loop was
  // made.
  //
  // Errors: InvalidArgument (EINVAL) for a machine that can't have the device;
  // those of socketpair(2), fork(2) and pidfd_open(2).
  static absl::StatusOr<std::unique_ptr<HcaModelMachine>> Start(
      Loop& loop, const launch::LauncherSignals& signals,
      hca::model::PciDevice& device, const std::vector<std::string>& qemu);

  // Ends QEMU, unless it has ended.
  ~HcaModelMachine();
  HcaModelMachine(const HcaModelMachine&) = delete;
  HcaModelMachine& operator=(const HcaModelMachine&) = delete;

  // SIGUSR1 is not passed on, but calls `callback`.
  void OnUserSignal(absl::AnyInvocable<void()> callback) {
    on_user_signal_ = std::move(callback);
  }

  // `callback` is told once of interrupts or accesses to memory that are lost,
  // as QEMU does not serve them: one that is only stopped goes on, its guest
  // may hang.  Errors: ResourceExhausted, DeadlineExceeded.
  void OnTrouble(absl::AnyInvocable<void(const absl::Status&)> callback) {
    on_trouble_ = std::move(callback);
  }

  // Serves until QEMU ends, and passes signals on to it.  Its wait status.
  int Run();

  // The first reason why the device was not served any more, while QEMU ran.
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
  // QEMU closing its end is no error: it is about to end.
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

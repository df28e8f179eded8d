// A device model as the other side of QEMU's x-pci-proxy-dev.
#ifndef IBEMU_HCA_REMOTE_MPQEMU_LINK_H_
#define IBEMU_HCA_REMOTE_MPQEMU_LINK_H_

#include <cstddef>
#include <cstdint>
#include <utility>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/unique_fd.h"
#include "hca/model/pci_device.h"
#include "hca/remote/guest_memory.h"
#include "hca/remote/mpqemu_message.h"

namespace ibemu::hca::remote {

// Carries out what QEMU asks of the device, and answers.
class MpqemuLink {
 public:
  // What happened, for tests and for whoever wants to know.
  struct Counters {
    uint64_t config_accesses = 0;
    uint64_t bar_accesses = 0;
    uint64_t stray_accesses = 0;  // of addresses in no BAR
    uint64_t resets = 0;
  };

  // `socket`: our end of a stream socket.  `device` and `memory` are not owned;
  // `memory` follows the guest's.
  MpqemuLink(UniqueFd socket, model::PciDevice& device, GuestMemory& memory);

  // `callback` comes before the device's own reset by its bus.
  void OnReset(absl::AnyInvocable<void()> callback) {
    on_reset_ = std::move(callback);
  }

  // Readable when OnReadable() has something to do.
  int fd() const { return socket_.get(); }

  // Serves what has come, without waiting for more.  False: nothing had.
  //
  // Errors: Unavailable (EPIPE) when QEMU has closed its end; InvalidArgument
  // (EPROTO, EINVAL) for what no QEMU 7.2 sends, or memory that can't be
  // shared; those of recvmsg(2) and send(2).  The link is dead then.
  absl::StatusOr<bool> OnReadable();

  const Counters& counters() const { return counters_; }

 private:
  // One recvmsg(2).  False: nothing there.
  absl::StatusOr<bool> Receive();
  absl::Status Handle(MpqemuMessage message);
  absl::Status Answer(uint64_t value);

  uint64_t Config(const ConfigRead& read);
  uint64_t Config(const ConfigWrite& write);
  uint64_t Bar(const BarRead& read);
  uint64_t Bar(const BarWrite& write);
  // The BAR that shows `address`, and where in it; -1: none.
  struct Place {
    int bar;
    size_t offset;
  };
  Place FindBar(uint64_t address, size_t size);

  UniqueFd socket_;
  model::PciDevice& device_;
  GuestMemory& memory_;
  MpqemuDecoder decoder_;
  absl::AnyInvocable<void()> on_reset_;
  Counters counters_;
};

}  // namespace ibemu::hca::remote

#endif  // IBEMU_HCA_REMOTE_MPQEMU_LINK_H_

// MpqemuLink: the connection of a device model to QEMU's x-pci-proxy-dev.
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

// The other side of x-pci-proxy-dev: carries out what QEMU asks of the device,
// and answers.
class MpqemuLink {
 public:
  // Counters of QEMU's requests, for tests and monitoring.
  struct Counters {
    uint64_t config_accesses = 0;
    uint64_t bar_accesses = 0;
    uint64_t stray_accesses = 0;  // to addresses in no BAR
    uint64_t resets = 0;
  };

  // `socket`: this process's end of a stream socket.  `device` and `memory` are
  // not owned; `memory` is kept the same as the guest's.
  MpqemuLink(UniqueFd socket, model::PciDevice& device, GuestMemory& memory);

  // Sets a callback that runs before the bus resets the device.
  void OnReset(absl::AnyInvocable<void()> callback) {
    on_reset_ = std::move(callback);
  }

  // A descriptor that is readable when OnReadable() has something to do.
  int fd() const { return socket_.get(); }

  // Serves what has arrived, without waiting for more.  Returns false if
  // nothing had arrived.
  //
  // Errors: Unavailable (EPIPE) if QEMU has closed its end; InvalidArgument
  // (EPROTO, EINVAL) for a message that QEMU 7.2 never sends, or memory that
  // can't be shared; those of recvmsg(2) and send(2).  After an error the link
  // is dead.
  absl::StatusOr<bool> OnReadable();

  const Counters& counters() const { return counters_; }

 private:
  // Calls recvmsg(2) once.  Returns false if there is nothing to read.
  absl::StatusOr<bool> Receive();
  absl::Status Handle(MpqemuMessage message);
  absl::Status Answer(uint64_t value);

  uint64_t Config(const ConfigRead& read);
  uint64_t Config(const ConfigWrite& write);
  uint64_t Bar(const BarRead& read);
  uint64_t Bar(const BarWrite& write);
  // The BAR that contains an address, and the offset in it; `bar` is -1 if
  // there is none.
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

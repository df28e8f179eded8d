// The messages of QEMU's x-pci-proxy-dev, as Debian 12's QEMU 7.2 sends them.
//
// The protocol is private to QEMU and has no version; its only description is
// include/hw/remote/mpqemu-link.h and hw/remote/proxy.c of QEMU 7.2.  A message
// is a header of 16 bytes in the machine's own byte order, then as many bytes
// of content as the header says.  Descriptors come with the header
// (SCM_RIGHTS).
#ifndef IBEMU_HCA_REMOTE_MPQEMU_MESSAGE_H_
#define IBEMU_HCA_REMOTE_MPQEMU_MESSAGE_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "base/unique_fd.h"

namespace ibemu::hca::remote {

// All of the guest's memory, from now on.  QEMU waits for no answer.
struct SyncMemory {
  struct Region {
    uint64_t address;  // guest-physical
    uint64_t size;     // bytes
    uint64_t offset;   // bytes, in the file
    UniqueFd file;
  };
  std::vector<Region> regions;
};

// A read of 1, 2 or 4 bytes of configuration space.  The sizes of this and of
// the three accesses below have been checked.  QEMU waits for a value after
// each of them, writes included.
struct ConfigRead {
  uint32_t offset;
  uint32_t size;
};

// A write of the low `size` bytes of `value`, 1, 2 or 4, to configuration
// space.
struct ConfigWrite {
  uint32_t offset;
  uint32_t size;
  uint32_t value;
};

// A read of 1, 2, 4 or 8 bytes at the bus address `address`, in any of the
// BARs.
struct BarRead {
  uint64_t address;
  uint32_t size;
};

// A write of the low `size` bytes of `value` there.
struct BarWrite {
  uint64_t address;
  uint32_t size;
  uint64_t value;
};

// Descriptors for the INTx line, which work with KVM only.  QEMU waits for no
// answer.
struct SetIrqFd {};

// A reset by the bus.  QEMU waits for a value, which means nothing.
struct DeviceReset {};

using MpqemuMessage = std::variant<SyncMemory, ConfigRead, ConfigWrite, BarRead,
                                   BarWrite, SetIrqFd, DeviceReset>;

// A decoder that assembles messages from what a socket gives.  It does no input
// itself.
class MpqemuDecoder {
 public:
  static constexpr size_t kMaxDescriptors = 8;  // REMOTE_MAX_FDS

  // The number of bytes to read next, 1 to 192.  Reading no more than that
  // makes descriptors arrive with the header that they belong to.
  size_t wanted() const { return wanted_ - filled_; }

  // Takes the bytes that were read, 1 to wanted(), and the descriptors that
  // came with them.
  //
  // Errors: InvalidArgument (EPROTO) for a message that QEMU 7.2 never sends;
  // Internal for more than wanted() bytes.  After an error the stream can't be
  // followed any longer.
  absl::Status Add(std::span<const std::byte> bytes,
                   std::vector<UniqueFd> descriptors);

  // Returns the message that Add() has completed, once; none if there is none.
  std::optional<MpqemuMessage> Take();

 private:
  absl::Status Header();
  absl::Status Content();
  absl::Status MemoryContent();

  static constexpr size_t kHeaderSize = 16;
  static constexpr size_t kMaxContent = size_t{3} * 8 * kMaxDescriptors;

  std::array<std::byte, kMaxContent> buffer_{};
  size_t filled_ = 0;
  size_t wanted_ = kHeaderSize;
  bool in_header_ = true;
  uint32_t command_ = 0;
  std::vector<UniqueFd> descriptors_;
  std::optional<MpqemuMessage> message_;
};

// Encodes the answer to a request: the message RET.
std::array<std::byte, 24> EncodeReturn(uint64_t value);

}  // namespace ibemu::hca::remote

#endif  // IBEMU_HCA_REMOTE_MPQEMU_MESSAGE_H_

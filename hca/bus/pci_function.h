// PciFunction: a PCI function as a user-space driver sees it.
#ifndef IBEMU_HCA_BUS_PCI_FUNCTION_H_
#define IBEMU_HCA_BUS_PCI_FUNCTION_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace ibemu::hca {

// The base address registers of a function are numbered 0 to 5.
inline constexpr int kBars = 6;
constexpr bool IsBar(int index) { return index >= 0 && index < kBars; }

// The largest size in bytes that every bus can allocate contiguously, as long
// as it has memory: that of a huge page, which is the limit of access through
// sysfs.
inline constexpr size_t kDmaPiece = size_t{2} << 20;

// A memory window of the function (a base address register).  Values are those
// of the bus: the value of a big-endian register must be swapped
// (hca/bus/big_endian.h).  Offsets are in bytes, aligned to the size of the
// access, and inside size().
class Bar {
 public:
  virtual ~Bar() = default;
  virtual size_t size() const = 0;
  virtual uint32_t Read32(size_t offset) = 0;
  virtual void Write32(size_t offset, uint32_t value) = 0;
  // Writes in one transaction, because a doorbell must not be torn.
  virtual void Write64(size_t offset, uint64_t value) = 0;
};

// Memory that the function and the driver share.  The holder owns it; once it
// is destroyed, the function can no longer reach it.
class DmaMemory {
 public:
  virtual ~DmaMemory() = default;
  virtual std::span<std::byte> bytes() = 0;
  // The bus address of the memory.
  virtual uint64_t iova() const = 0;
};

// The interface of a function: configuration space, BARs, DMA memory and
// interrupts.
class PciFunction {
 public:
  virtual ~PciFunction() = default;

  // Access `size` bytes (1, 2 or 4) at `offset` of configuration space.
  virtual uint32_t ReadConfig(size_t offset, size_t size) = 0;
  virtual void WriteConfig(size_t offset, size_t size, uint32_t value) = 0;

  // Returns memory BAR `index`, which the function owns.
  //
  // Errors: NotFound (ENXIO) if the function has no such BAR.
  virtual absl::StatusOr<Bar*> OpenBar(int index) = 0;

  // Allocates zeroed memory, aligned to a page.
  //
  // Errors: ResourceExhausted (ENOMEM), also if `size` is above kDmaPiece and
  // more than this bus can allocate contiguously.
  virtual absl::StatusOr<std::unique_ptr<DmaMemory>> Allocate(size_t size) = 0;

  // Enables the interrupt vectors 0 to `count` - 1.  InterruptFd() returns the
  // eventfd of a vector, which is readable after an interrupt; the function
  // owns it.
  //
  // Errors: FailedPrecondition if this bus has no interrupts (then poll the
  // queues); ResourceExhausted.
  virtual absl::Status EnableInterrupts(int count) = 0;
  virtual int InterruptFd(int vector) = 0;
};

}  // namespace ibemu::hca

#endif  // IBEMU_HCA_BUS_PCI_FUNCTION_H_

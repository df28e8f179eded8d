// One PCI function, as a user-space driver sees it.
#ifndef IBEMU_HCA_BUS_PCI_FUNCTION_H_
#define IBEMU_HCA_BUS_PCI_FUNCTION_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace ibemu::hca {

// Base address registers of a function: 0 ... 5.
inline constexpr int kBars = 6;
constexpr bool IsBar(int index) { return index >= 0 && index < kBars; }

// Bytes that every bus has in one piece, while it has memory: a huge page,
// which is where the way by sysfs ends.
inline constexpr size_t kDmaPiece = size_t{2} << 20;

// A memory window of the function (a base address register).  Values are those
// of the bus: whoever reads a big-endian register swaps it
// (hca/bus/big_endian.h). Offsets are in bytes, aligned to the access, and
// inside of size().
class Bar {
 public:
  virtual ~Bar() = default;
  virtual size_t size() const = 0;
  virtual uint32_t Read32(size_t offset) = 0;
  virtual void Write32(size_t offset, uint32_t value) = 0;
  // In one transaction: a doorbell must not be torn.
  virtual void Write64(size_t offset, uint64_t value) = 0;
};

// Memory that function and driver share.  It belongs to whoever holds it; when
// it goes, the function can reach it no longer.
class DmaMemory {
 public:
  virtual ~DmaMemory() = default;
  virtual std::span<std::byte> bytes() = 0;
  // Where the function finds it.
  virtual uint64_t iova() const = 0;
};

class PciFunction {
 public:
  virtual ~PciFunction() = default;

  // `size`: 1, 2 or 4 bytes at `offset` of configuration space.
  virtual uint32_t ReadConfig(size_t offset, size_t size) = 0;
  virtual void WriteConfig(size_t offset, size_t size, uint32_t value) = 0;

  // Errors: NotFound (ENXIO) if the function has no memory BAR `index`.
  virtual absl::StatusOr<Bar*> OpenBar(int index) = 0;

  // Zeroed, aligned to a page.  Errors: ResourceExhausted (ENOMEM), also where
  // `size`, above kDmaPiece bytes, is more than this bus has in one piece.
  virtual absl::StatusOr<std::unique_ptr<DmaMemory>> Allocate(size_t size) = 0;

  // Interrupts: vectors 0 ... count - 1, each an eventfd that is readable after
  // one.  The descriptors stay the function's.  Errors: FailedPrecondition if
  // this bus has none (then poll the queues), ResourceExhausted.
  virtual absl::Status EnableInterrupts(int count) = 0;
  virtual int InterruptFd(int vector) = 0;
};

}  // namespace ibemu::hca

#endif  // IBEMU_HCA_BUS_PCI_FUNCTION_H_

// MappedBar: a function's registers, mapped into this process by the kernel.
#ifndef IBEMU_HCA_BUS_MAPPED_BAR_H_
#define IBEMU_HCA_BUS_MAPPED_BAR_H_

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "hca/bus/pci_function.h"

namespace ibemu::hca {

// A MappedBar makes each access one access of the processor, in program order:
// what was written to memory before a doorbell is visible before it rings.
class MappedBar : public Bar {
 public:
  // Maps `size` bytes of `fd` from `offset` on; `name` is for error messages.
  // The descriptor may be closed afterwards.
  //
  // Errors: Unavailable if mmap() refuses (EPERM, EINVAL ...).
  static absl::StatusOr<std::unique_ptr<MappedBar>> Map(int fd, off_t offset,
                                                        size_t size,
                                                        std::string_view name);
  ~MappedBar() override;
  MappedBar(const MappedBar&) = delete;
  MappedBar& operator=(const MappedBar&) = delete;

  size_t size() const override { return size_; }
  uint32_t Read32(size_t offset) override;
  void Write32(size_t offset, uint32_t value) override;
  void Write64(size_t offset, uint64_t value) override;

 private:
  MappedBar(std::byte* start, size_t size) : start_(start), size_(size) {}

  std::byte* const start_;
  const size_t size_;
};

}  // namespace ibemu::hca

#endif  // IBEMU_HCA_BUS_MAPPED_BAR_H_

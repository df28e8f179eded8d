// VfioPci: a PCI function that is driven through VFIO.  The kernel lets it
// reach the memory that it was given, and nothing else.
#ifndef IBEMU_HCA_BUS_VFIO_PCI_H_
#define IBEMU_HCA_BUS_VFIO_PCI_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/unique_fd.h"
#include "hca/bus/mapped_bar.h"
#include "hca/bus/pci_function.h"
#include "hca/bus/pci_sysfs.h"
#include "hca/bus/vfio_container.h"

namespace ibemu::hca {

// A PCI function that is opened through VFIO.  The files of its group and
// container are closed with it; the kernel then resets the function and removes
// its mappings, however the process ended.
class VfioPci : public PciFunction {
 public:
  // Opens the function that `facts` describes.  `devices`: the directory of
  // VFIO's files.
  //
  // Errors: those of CheckVfio(); NotFound, PermissionDenied,
  // FailedPrecondition or Unavailable, with what the kernel refused and what
  // helps.
  static absl::StatusOr<std::unique_ptr<VfioPci>> Open(
      const PciFacts& facts, const std::string& devices = "/dev/vfio");

  uint32_t ReadConfig(size_t offset, size_t size) override;
  void WriteConfig(size_t offset, size_t size, uint32_t value) override;
  absl::StatusOr<Bar*> OpenBar(int index) override;
  absl::StatusOr<std::unique_ptr<DmaMemory>> Allocate(size_t size) override;
  absl::Status EnableInterrupts(int count) override;
  int InterruptFd(int vector) override {
    return interrupts_[static_cast<size_t>(vector)].get();
  }

 private:
  VfioPci(std::string name, std::shared_ptr<VfioContainer> container,
          UniqueFd device, uint64_t config_offset)
      : name_(std::move(name)),
        container_(std::move(container)),
        device_(std::move(device)),
        config_offset_(config_offset) {}

  const std::string name_;
  // Shared with the allocated memory, which may outlive this object.
  const std::shared_ptr<VfioContainer> container_;
  const UniqueFd device_;
  const uint64_t config_offset_;
  std::array<std::unique_ptr<MappedBar>, kBars> bars_;
  std::vector<UniqueFd> interrupts_;
};

}  // namespace ibemu::hca

#endif  // IBEMU_HCA_BUS_VFIO_PCI_H_

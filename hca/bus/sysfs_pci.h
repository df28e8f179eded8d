// SysfsPci: a PCI function that is driven through its files in sysfs, where
// there is no IOMMU.
#ifndef IBEMU_HCA_BUS_SYSFS_PCI_H_
#define IBEMU_HCA_BUS_SYSFS_PCI_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/unique_fd.h"
#include "hca/bus/mapped_bar.h"
#include "hca/bus/page_map.h"
#include "hca/bus/pci_function.h"
#include "hca/bus/pci_sysfs.h"
#include "hca/bus/physical_run.h"

namespace ibemu::hca {

// A PCI function from which nothing protects the machine's memory: one that was
// left running when its process was killed goes on writing where the process's
// memory was.  So this is only for users who asked for it.  There are no
// interrupts.
class SysfsPci : public PciFunction {
 public:
  // Opens the function that `facts` describes.  `pagemap`: a file such as
  // /proc/self/pagemap.  The function is locked while the object lives, by
  // flock() of its file `config`; the lock ends with the process, however that
  // ends.  A process that has mounted the sysfs of another network namespace
  // has other files and does not see the lock.
  //
  // Errors: those of CheckSysfs(); FailedPrecondition if another program has
  // locked the function; PermissionDenied or Unavailable if a file can't be
  // opened or the function can't be enabled.
  static absl::StatusOr<std::unique_ptr<SysfsPci>> Open(
      const PciSysfs& sysfs, const PciFacts& facts,
      const std::string& pagemap = "/proc/self/pagemap");
  // Takes away the function's right to be bus master, and disables the function
  // if Open() has enabled it.
  ~SysfsPci() override;

  uint32_t ReadConfig(size_t offset, size_t size) override;
  void WriteConfig(size_t offset, size_t size, uint32_t value) override;
  absl::StatusOr<Bar*> OpenBar(int index) override;
  // Allocates at most a huge page, 2 MiB.
  absl::StatusOr<std::unique_ptr<DmaMemory>> Allocate(size_t size) override;
  absl::Status EnableInterrupts(int count) override;
  int InterruptFd(int) override { return -1; }

 private:
  SysfsPci(PciSysfs sysfs, PciFacts facts, UniqueFd config, PageMap pages,
           bool enabled)
      : sysfs_(std::move(sysfs)),
        facts_(std::move(facts)),
        config_(std::move(config)),
        pages_(std::move(pages)),
        enabled_(enabled) {}

  const PciSysfs sysfs_;
  const PciFacts facts_;
  const UniqueFd config_;
  const PageMap pages_;
  const bool enabled_;  // by Open()
  std::array<std::unique_ptr<MappedBar>, kBars> bars_;
  std::vector<std::shared_ptr<PhysicalRun>> runs_;
};

}  // namespace ibemu::hca

#endif  // IBEMU_HCA_BUS_SYSFS_PCI_H_

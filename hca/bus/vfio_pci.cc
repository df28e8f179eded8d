#include "hca/bus/vfio_pci.h"

#include <linux/vfio.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "hca/bus/big_endian.h"
#include "hca/bus/interrupt_fds.h"

namespace ibemu::hca {
namespace {

absl::StatusOr<vfio_region_info> RegionInfo(int device, uint32_t index) {
  vfio_region_info info{};
  info.argsz = sizeof info;
  info.index = index;
  if (ioctl(device, VFIO_DEVICE_GET_REGION_INFO, &info) != 0) {
    return absl::UnavailableError(
        absl::StrCat("VFIO region ", index, ": ", std::strerror(errno)));
  }
  return info;
}

// Pages of this process that the function can reach.
class VfioMemory : public DmaMemory {
 public:
  VfioMemory(std::shared_ptr<VfioContainer> container,
             std::span<std::byte> pages, size_t size, uint64_t iova)
      : container_(std::move(container)),
        pages_(pages),
        size_(size),
        iova_(iova) {}
  ~VfioMemory() override {
    container_->UnmapMemory(iova_, pages_.size());
    munmap(pages_.data(), pages_.size());
  }

  std::span<std::byte> bytes() override { return pages_.first(size_); }
  uint64_t iova() const override { return iova_; }

 private:
  const std::shared_ptr<VfioContainer> container_;
  const std::span<std::byte> pages_;
  const size_t size_;  // as requested; `pages_` is rounded up
  const uint64_t iova_;
};

}  // namespace

absl::StatusOr<std::unique_ptr<VfioPci>> VfioPci::Open(
    const PciFacts& facts, const std::string& devices) {
  IBEMU_RETURN_IF_ERROR(CheckVfio(facts));
  const std::string name = facts.address.Text();
  IBEMU_ASSIGN_OR_RETURN(std::shared_ptr<VfioContainer> container,
                         VfioContainer::Open(devices, *facts.iommu_group));
  IBEMU_ASSIGN_OR_RETURN(UniqueFd device, container->OpenFunction(name));
  // The previous user may have left the function running.  Not every function
  // supports this reset, so a failure is ignored; the driver has a reset of its
  // own.
  ioctl(device.get(), VFIO_DEVICE_RESET);
  IBEMU_ASSIGN_OR_RETURN(
      const vfio_region_info config,
      RegionInfo(device.get(), VFIO_PCI_CONFIG_REGION_INDEX));
  return std::unique_ptr<VfioPci>(new VfioPci(
      name, std::move(container), std::move(device), config.offset));
}

uint32_t VfioPci::ReadConfig(size_t offset, size_t size) {
  uint32_t value = 0;
  const ssize_t got = pread(device_.get(), &value, size,
                            static_cast<off_t>(config_offset_ + offset));
  // All ones, as the bus answers where no device is.
  return got == static_cast<ssize_t>(size) ? ToBus(value) : ~uint32_t{0};
}

void VfioPci::WriteConfig(size_t offset, size_t size, uint32_t value) {
  value = ToBus(value);
  // A failure is ignored, because the bus does not report lost writes, either.
  [[maybe_unused]] const ssize_t put = pwrite(
      device_.get(), &value, size, static_cast<off_t>(config_offset_ + offset));
}

absl::StatusOr<Bar*> VfioPci::OpenBar(int index) {
  if (!IsBar(index)) {
    return absl::NotFoundError(
        absl::StrCat(name_, ": BAR ", index, ": there are 0 to 5"));
  }
  std::unique_ptr<MappedBar>& bar = bars_[static_cast<size_t>(index)];
  if (bar) return bar.get();
  IBEMU_ASSIGN_OR_RETURN(
      const vfio_region_info info,
      RegionInfo(device_.get(), static_cast<uint32_t>(index)));
  if (info.size == 0 || (info.flags & VFIO_REGION_INFO_FLAG_MMAP) == 0) {
    return absl::NotFoundError(
        absl::StrCat(name_, ": BAR ", index, ": no memory that can be mapped"));
  }
  IBEMU_ASSIGN_OR_RETURN(
      bar, MappedBar::Map(device_.get(), static_cast<off_t>(info.offset),
                          info.size, absl::StrCat(name_, " BAR ", index)));
  return bar.get();
}

absl::StatusOr<std::unique_ptr<DmaMemory>> VfioPci::Allocate(size_t size) {
  const size_t pages = RoundUpToPage(size);
  void* const start = mmap(nullptr, pages, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (start == MAP_FAILED) {
    return absl::ResourceExhaustedError(
        absl::StrCat(name_, ": no memory for ", size, " bytes"));
  }
  // After a fork(), copy-on-write would move pages away from the function.
  madvise(start, pages, MADV_DONTFORK);
  const std::span<std::byte> memory(static_cast<std::byte*>(start), pages);
  auto iova = container_->MapMemory(memory);
  if (!iova.ok()) {
    munmap(start, pages);
    return iova.status();
  }
  return std::make_unique<VfioMemory>(container_, memory, size, *iova);
}

absl::Status VfioPci::EnableInterrupts(int count) {
  IBEMU_ASSIGN_OR_RETURN(std::vector<UniqueFd> interrupts,
                         MakeInterruptFds(count));
  const size_t size =
      sizeof(vfio_irq_set) + sizeof(int32_t) * static_cast<size_t>(count);
  std::vector<std::byte> request(size);
  auto* const set = reinterpret_cast<vfio_irq_set*>(request.data());
  set->argsz = static_cast<uint32_t>(size);
  set->flags = VFIO_IRQ_SET_DATA_EVENTFD | VFIO_IRQ_SET_ACTION_TRIGGER;
  set->index = VFIO_PCI_MSIX_IRQ_INDEX;
  set->start = 0;
  set->count = static_cast<uint32_t>(count);
  for (int i = 0; i < count; ++i) {
    const int32_t fd = interrupts[static_cast<size_t>(i)].get();
    std::memcpy(
        request.data() + sizeof *set + sizeof fd * static_cast<size_t>(i), &fd,
        sizeof fd);
  }
  if (ioctl(device_.get(), VFIO_DEVICE_SET_IRQS, set) != 0) {
    return absl::FailedPreconditionError(absl::StrCat(
        name_, ": no ", count, " MSI-X vectors: ", std::strerror(errno)));
  }
  interrupts_ = std::move(interrupts);
  return absl::OkStatus();
}

}  // namespace ibemu::hca

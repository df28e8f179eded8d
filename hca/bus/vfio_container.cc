#include "hca/bus/vfio_container.h"

#include <fcntl.h>
#include <linux/vfio.h>
#include <sys/ioctl.h>

#include <cerrno>
#include <cstring>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"

namespace ibemu::hca {
namespace {

absl::Status VfioRefusal(const std::string& what) {
  return absl::UnavailableError(
      absl::StrCat(what, ": VFIO refuses: ", std::strerror(errno)));
}

absl::StatusOr<UniqueFd> OpenVfioFile(const std::string& path) {
  UniqueFd file(open(path.c_str(), O_RDWR | O_CLOEXEC));
  if (file.valid()) return file;
  switch (errno) {
    case ENOENT:
      return absl::NotFoundError(absl::StrCat(
          path, ": no such file: load VFIO with \"modprobe vfio-pci\""));
    case EACCES:
    case EPERM:
      return absl::PermissionDeniedError(absl::StrCat(
          path, ": permission denied: run as root, or \"chown $USER ", path,
          "\""));
    case EBUSY:
      return absl::FailedPreconditionError(absl::StrCat(
          path, ": another program has the group open (\"fuser -v ", path,
          "\" names it)"));
    default:
      return VfioRefusal(path);
  }
}

// Returns the list of translatable ranges in `info`, which is as long as its
// argsz says; null if the kernel does not tell them (before 5.4).
const vfio_iommu_type1_info_cap_iova_range* FindRanges(
    std::span<const std::byte> info) {
  vfio_iommu_type1_info head{};
  std::memcpy(&head, info.data(), sizeof head);
  if ((head.flags & VFIO_IOMMU_INFO_CAPS) == 0) return nullptr;
  for (size_t at = head.cap_offset;
       at != 0 &&
       at + sizeof(vfio_iommu_type1_info_cap_iova_range) <= info.size();) {
    const auto* const capability =
        reinterpret_cast<const vfio_info_cap_header*>(info.data() + at);
    if (capability->id == VFIO_IOMMU_TYPE1_INFO_CAP_IOVA_RANGE) {
      return reinterpret_cast<const vfio_iommu_type1_info_cap_iova_range*>(
          capability);
    }
    at = capability->next;
  }
  return nullptr;
}

// The range below the interrupt controllers' addresses, which every IOMMU
// translates.
constexpr AddressSpace::Range kUsualRange{.start = 0x10'0000,
                                          .last = 0xfedf'ffff};

absl::StatusOr<std::vector<AddressSpace::Range>> UsableRanges(int container) {
  std::vector<std::byte> info(sizeof(vfio_iommu_type1_info));
  // At most two rounds: the first answer tells the size of the complete one.
  for (uint32_t size = static_cast<uint32_t>(info.size());;) {
    auto* const head = reinterpret_cast<vfio_iommu_type1_info*>(info.data());
    head->argsz = size;
    if (ioctl(container, VFIO_IOMMU_GET_INFO, head) != 0) {
      return VfioRefusal("VFIO_IOMMU_GET_INFO");
    }
    if (head->argsz <= size) break;
    size = head->argsz;
    info.assign(size, std::byte{0});
  }
  const auto* const found = FindRanges(info);
  if (found == nullptr) return std::vector<AddressSpace::Range>{kUsualRange};
  std::vector<AddressSpace::Range> ranges;
  for (uint32_t i = 0; i < found->nr_iovas; ++i) {
    ranges.push_back({.start = found->iova_ranges[i].start,
                      .last = found->iova_ranges[i].end});
  }
  return ranges;
}

}  // namespace

absl::StatusOr<std::shared_ptr<VfioContainer>> VfioContainer::Open(
    const std::string& devices, int group_number) {
  IBEMU_ASSIGN_OR_RETURN(UniqueFd container, OpenVfioFile(devices + "/vfio"));
  if (ioctl(container.get(), VFIO_GET_API_VERSION) != VFIO_API_VERSION ||
      ioctl(container.get(), VFIO_CHECK_EXTENSION, VFIO_TYPE1_IOMMU) != 1) {
    return absl::FailedPreconditionError(
        absl::StrCat(devices,
                     "/vfio: this VFIO has no IOMMU of type 1: \"modprobe "
                     "vfio_iommu_type1\""));
  }
  const std::string path = absl::StrCat(devices, "/", group_number);
  IBEMU_ASSIGN_OR_RETURN(UniqueFd group, OpenVfioFile(path));
  vfio_group_status status{};
  status.argsz = sizeof status;
  if (ioctl(group.get(), VFIO_GROUP_GET_STATUS, &status) != 0) {
    return VfioRefusal(path);
  }
  if ((status.flags & VFIO_GROUP_FLAGS_VIABLE) == 0) {
    return absl::FailedPreconditionError(absl::StrCat(
        path,
        ": VFIO does not take the group while another of its functions "
        "has a driver (\"ls -l /sys/kernel/iommu_groups/",
        group_number, "/devices/*/driver\" shows them)"));
  }
  const int container_fd = container.get();
  if (ioctl(group.get(), VFIO_GROUP_SET_CONTAINER, &container_fd) != 0) {
    return VfioRefusal(path);
  }
  if (ioctl(container.get(), VFIO_SET_IOMMU, VFIO_TYPE1_IOMMU) != 0) {
    if (errno == EPERM) {
      return absl::FailedPreconditionError(absl::StrCat(
          path,
          ": the IOMMU does not remap interrupts; where every user of VFIO is "
          "trusted: \"echo 1 > /sys/module/vfio_iommu_type1/parameters/"
          "allow_unsafe_interrupts\""));
    }
    return VfioRefusal(path);
  }
  IBEMU_ASSIGN_OR_RETURN(const auto ranges, UsableRanges(container.get()));
  return std::shared_ptr<VfioContainer>(new VfioContainer(
      std::move(container), std::move(group), AddressSpace(ranges)));
}

absl::StatusOr<UniqueFd> VfioContainer::OpenFunction(
    const std::string& name) const {
  UniqueFd device(ioctl(group_.get(), VFIO_GROUP_GET_DEVICE_FD, name.c_str()));
  if (!device.valid()) return VfioRefusal(name);
  return device;
}

absl::StatusOr<uint64_t> VfioContainer::MapMemory(std::span<std::byte> memory) {
  IBEMU_ASSIGN_OR_RETURN(const uint64_t iova, addresses_.Take(memory.size()));
  vfio_iommu_type1_dma_map map{};
  map.argsz = sizeof map;
  map.flags = VFIO_DMA_MAP_FLAG_READ | VFIO_DMA_MAP_FLAG_WRITE;
  map.vaddr = reinterpret_cast<uint64_t>(memory.data());
  map.iova = iova;
  map.size = memory.size();
  if (ioctl(container_.get(), VFIO_IOMMU_MAP_DMA, &map) == 0) return iova;
  const int error = errno;
  addresses_.Return(iova, memory.size());
  if (error == ENOMEM || error == ENOSPC) {
    return absl::ResourceExhaustedError(
        absl::StrCat("VFIO pins no more memory (", std::strerror(error),
                     "): raise \"ulimit "
                     "-l\", or LimitMEMLOCK= of the unit"));
  }
  errno = error;
  return VfioRefusal("VFIO_IOMMU_MAP_DMA");
}

void VfioContainer::UnmapMemory(uint64_t iova, size_t size) {
  vfio_iommu_type1_dma_unmap unmap{};
  unmap.argsz = sizeof unmap;
  unmap.iova = iova;
  unmap.size = size;
  // A range that could not be unmapped is not given out again.
  if (ioctl(container_.get(), VFIO_IOMMU_UNMAP_DMA, &unmap) == 0) {
    addresses_.Return(iova, size);
  }
}

}  // namespace ibemu::hca

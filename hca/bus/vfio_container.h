// VfioContainer: an IOMMU's translation for one VFIO group.
#ifndef IBEMU_HCA_BUS_VFIO_CONTAINER_H_
#define IBEMU_HCA_BUS_VFIO_CONTAINER_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/unique_fd.h"
#include "hca/bus/address_space.h"

namespace ibemu::hca {

// A VFIO container of type 1 with one group in it (linux/vfio.h).
class VfioContainer {
 public:
  // Opens a container and puts `group` into it.  `devices`: the directory of
  // "vfio" and the groups' files.
  //
  // Errors: NotFound if VFIO is not loaded; PermissionDenied;
  // FailedPrecondition if the group is in use, not viable, or its IOMMU
  // unsuitable; Unavailable if the kernel refuses otherwise.
  static absl::StatusOr<std::shared_ptr<VfioContainer>> Open(
      const std::string& devices, int group);

  // Opens the function `name` ("0000:3b:00.0") of the group.  Errors:
  // Unavailable.
  absl::StatusOr<UniqueFd> OpenFunction(const std::string& name) const;

  // Pins `memory`, which is whole pages, and lets the group reach it.  Returns
  // its bus address.
  //
  // Errors: ResourceExhausted (no addresses, or RLIMIT_MEMLOCK), Unavailable.
  absl::StatusOr<uint64_t> MapMemory(std::span<std::byte> memory);
  void UnmapMemory(uint64_t iova, size_t size);

 private:
  VfioContainer(UniqueFd container, UniqueFd group, AddressSpace addresses)
      : container_(std::move(container)),
        group_(std::move(group)),
        addresses_(std::move(addresses)) {}

  // Members are destroyed in reverse order, so that the group leaves its
  // container first.
  UniqueFd container_;
  UniqueFd group_;
  AddressSpace addresses_;
};

}  // namespace ibemu::hca

#endif  // IBEMU_HCA_BUS_VFIO_CONTAINER_H_

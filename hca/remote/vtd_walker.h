// VtdWalker: the translation of a device's addresses as QEMU's intel-iommu does
// it.
#ifndef IBEMU_HCA_REMOTE_VTD_WALKER_H_
#define IBEMU_HCA_REMOTE_VTD_WALKER_H_

#include <cstdint>
#include <optional>

#include "absl/functional/any_invocable.h"

namespace ibemu::hca::remote {

// The two registers of the remapping unit that a walk needs (Intel VT-d section
// 10.4; QEMU's intel-iommu has them at 0xfed90000).
inline constexpr uint64_t kVtdStatus = 0xfed9001c;       // GSTS, 4 bytes
inline constexpr uint64_t kVtdRootAddress = 0xfed90020;  // RTADDR, 8 bytes

// The values of these registers.
struct VtdRegisters {
  uint32_t status = 0;
  uint64_t root_address = 0;
};

// A walker of the root table, context table and second-level page tables of
// legacy mode (Intel VT-d section 9) in the guest's memory.  It keeps no copy
// of them, so a page that a driver has unmapped is gone at once.
class VtdWalker {
 public:
  // Reads 8 bytes of guest-physical memory; returns none if there is no memory.
  using ReadWord = absl::AnyInvocable<std::optional<uint64_t>(uint64_t)>;

  // `bus`, `devfn`: the address of the requester.
  VtdWalker(uint8_t bus, uint8_t devfn, ReadWord read);

  // Returns whether translation is on; otherwise an address stays as it is.
  static bool Enabled(const VtdRegisters& registers);

  // The guest-physical address of a DMA address, and the number of bytes (to
  // the end of the page) for which it is valid.
  struct Translation {
    uint64_t address;
    uint64_t size;
  };

  // Translates `address`.  Returns none for a fault: nothing is mapped there,
  // or not for this direction.
  std::optional<Translation> Translate(const VtdRegisters& registers,
                                       uint64_t address, bool write);

 private:
  std::optional<Translation> Walk(uint64_t table, int levels, uint64_t address,
                                  bool write);

  uint8_t bus_;
  uint8_t devfn_;
  ReadWord read_;
};

}  // namespace ibemu::hca::remote

#endif  // IBEMU_HCA_REMOTE_VTD_WALKER_H_

#include "hca/model/pci_config_space.h"

#include <linux/pci_regs.h>

#include <algorithm>

namespace ibemu::hca::model {
namespace {

constexpr size_t kFirstCapability = 0x40;  // after the type 0 header

constexpr size_t kExpressSize = 0x3c;  // version 2, PCI Express 3.0 §7.8
constexpr uint32_t kPayload512 = 2;    // Max_Payload_Size Supported

}  // namespace

PciConfigSpace::PciConfigSpace(const PciIdentity& identity)
    : last_link_(PCI_CAPABILITY_LIST), free_(kFirstCapability) {
  Define(PCI_VENDOR_ID, 2, identity.vendor, 0);
  Define(PCI_DEVICE_ID, 2, identity.device, 0);
  Define(PCI_COMMAND, 2, 0,
         PCI_COMMAND_MEMORY | PCI_COMMAND_MASTER | PCI_COMMAND_PARITY |
             PCI_COMMAND_SERR | PCI_COMMAND_INTX_DISABLE);
  Define(PCI_REVISION_ID, 4, identity.class_code << 8 | identity.revision, 0);
  Define(PCI_CACHE_LINE_SIZE, 1, 0, 0xff);
  Define(PCI_SUBSYSTEM_VENDOR_ID, 2, identity.subsystem_vendor, 0);
  Define(PCI_SUBSYSTEM_ID, 2, identity.subsystem, 0);
  // A scratch register of software's.
  Define(PCI_INTERRUPT_LINE, 1, 0, 0xff);
}

void PciConfigSpace::AddMemoryBar(int bar, size_t size) {
  bar_sizes_.at(static_cast<size_t>(bar)) = size;
  // The bits that can't be set tell software the size.
  Define(PCI_BASE_ADDRESS_0 + 4 * static_cast<size_t>(bar), 4,
         PCI_BASE_ADDRESS_SPACE_MEMORY, ~static_cast<uint32_t>(size - 1));
}

void PciConfigSpace::AddPciExpress(const PcieLink& link) {
  express_ = AddCapability(PCI_CAP_ID_EXP, kExpressSize);
  const auto speed = static_cast<uint32_t>(link.speed);
  const uint32_t width = static_cast<uint32_t>(link.width) << 4;
  Define(express_ + PCI_EXP_FLAGS, 2, 2 | PCI_EXP_TYPE_ENDPOINT << 4, 0);
  Define(express_ + PCI_EXP_DEVCAP, 4,
         kPayload512 | PCI_EXP_DEVCAP_RBER | PCI_EXP_DEVCAP_FLR, 0);
  Define(express_ + PCI_EXP_DEVCTL, 2,
         PCI_EXP_DEVCTL_RELAX_EN | PCI_EXP_DEVCTL_NOSNOOP_EN |
             PCI_EXP_DEVCTL_READRQ_512B,
         0xffff & ~uint32_t{PCI_EXP_DEVCTL_BCR_FLR});
  Define(express_ + PCI_EXP_LNKCAP, 4, speed | width, 0);
  Define(express_ + PCI_EXP_LNKCTL, 2, 0,
         PCI_EXP_LNKCTL_RCB | PCI_EXP_LNKCTL_CCC | PCI_EXP_LNKCTL_ES);
  Define(express_ + PCI_EXP_LNKSTA, 2, speed | width, 0);
  Define(express_ + PCI_EXP_LNKCAP2, 4, ((1u << speed) - 1) << 1, 0);
  Define(express_ + PCI_EXP_LNKCTL2, 2, speed, 0);
}

void PciConfigSpace::AddMsix(const MsixPlace& place, int vectors) {
  msix_ = AddCapability(PCI_CAP_ID_MSIX, PCI_CAP_MSIX_SIZEOF);
  const auto bar = static_cast<uint32_t>(place.bar);
  Define(msix_ + PCI_MSIX_FLAGS, 2, static_cast<uint32_t>(vectors - 1),
         PCI_MSIX_FLAGS_ENABLE | PCI_MSIX_FLAGS_MASKALL);
  Define(msix_ + PCI_MSIX_TABLE, 4, place.table_offset | bar, 0);
  Define(msix_ + PCI_MSIX_PBA, 4, place.pending_offset | bar, 0);
}

uint32_t PciConfigSpace::Read(size_t offset, size_t size) const {
  return offset + size <= kSize ? Get(offset, size)
                                : 0xffffffff >> (32 - size * 8);
}

void PciConfigSpace::Write(size_t offset, size_t size, uint32_t value) {
  if (offset + size > kSize) return;
  for (size_t i = 0; i < size; ++i) {
    const auto byte = static_cast<uint8_t>(value >> (i * 8));
    const size_t place = offset + i;
    bytes_[place] = static_cast<uint8_t>((bytes_[place] & ~writable_[place]) |
                                         (byte & writable_[place]));
    // The bit reads as 0: it triggers a reset, and is not stored.
    if (express_ != 0 && place == express_ + PCI_EXP_DEVCTL + 1 &&
        (byte & PCI_EXP_DEVCTL_BCR_FLR >> 8) != 0) {
      reset_asked_ = true;
    }
  }
}

size_t PciConfigSpace::BarSize(int bar) const {
  return bar >= 0 && static_cast<size_t>(bar) < bar_sizes_.size()
             ? bar_sizes_[static_cast<size_t>(bar)]
             : 0;
}

bool PciConfigSpace::bus_master() const {
  return (Get(PCI_COMMAND, 2) & PCI_COMMAND_MASTER) != 0;
}

bool PciConfigSpace::msix_enabled() const {
  return msix_ != 0 &&
         (Get(msix_ + PCI_MSIX_FLAGS, 2) & PCI_MSIX_FLAGS_ENABLE) != 0;
}

bool PciConfigSpace::msix_all_masked() const {
  return msix_ != 0 &&
         (Get(msix_ + PCI_MSIX_FLAGS, 2) & PCI_MSIX_FLAGS_MASKALL) != 0;
}

bool PciConfigSpace::TakeFunctionLevelReset() {
  const bool asked = reset_asked_;
  reset_asked_ = false;
  return asked;
}

void PciConfigSpace::Reset() {
  bytes_ = initial_;
  reset_asked_ = false;
}

size_t PciConfigSpace::AddCapability(uint8_t id, size_t size) {
  const size_t place = free_;
  free_ += (size + 3) / 4 * 4;
  Define(PCI_STATUS, 2, PCI_STATUS_CAP_LIST, 0);
  Define(last_link_, 1, static_cast<uint32_t>(place), 0);
  Define(place, 1, id, 0);
  last_link_ = place + PCI_CAP_LIST_NEXT;
  return place;
}

uint32_t PciConfigSpace::Get(size_t offset, size_t size) const {
  uint32_t value = 0;
  for (size_t i = 0; i < size; ++i) {
    value |= static_cast<uint32_t>(bytes_[offset + i]) << (i * 8);
  }
  return value;
}

void PciConfigSpace::Define(size_t offset, size_t size, uint32_t value,
                            uint32_t writable) {
  for (size_t i = 0; i < size; ++i) {
    initial_[offset + i] = static_cast<uint8_t>(value >> (i * 8));
    writable_[offset + i] = static_cast<uint8_t>(writable >> (i * 8));
    bytes_[offset + i] = initial_[offset + i];
  }
}

}  // namespace ibemu::hca::model

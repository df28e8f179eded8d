#include "hca/model/pci_endpoint.h"

namespace ibemu::hca::model {

PciEndpoint::PciEndpoint(const PciIdentity& identity, const MsixPlace& place,
                         int vectors)
    : place_(place),
      config_(identity),
      msix_(vectors, [this](uint64_t address, uint32_t data) {
        if (config_.bus_master()) host_->SignalMessage(address, data);
      }) {
  config_.AddMsix(place, vectors);
}

uint32_t PciEndpoint::ReadConfig(size_t offset, size_t size) {
  return config_.Read(offset, size);
}

void PciEndpoint::WriteConfig(size_t offset, size_t size, uint32_t value) {
  config_.Write(offset, size, value);
  if (config_.TakeFunctionLevelReset()) {
    Reset();
    return;
  }
  msix_.SetControl(config_.msix_enabled(), config_.msix_all_masked());
}

uint64_t PciEndpoint::ReadBar(int bar, size_t offset, size_t size) {
  if (!Inside(bar, offset, size)) return 0;
  if (InTable(bar, offset)) {
    return msix_.ReadTable(offset - place_.table_offset, size);
  }
  if (InPending(bar, offset)) {
    return msix_.ReadPending(offset - place_.pending_offset, size);
  }
  return ReadRegister(bar, offset, size);
}

void PciEndpoint::WriteBar(int bar, size_t offset, size_t size,
                           uint64_t value) {
  if (!Inside(bar, offset, size)) return;
  if (InTable(bar, offset)) {
    msix_.WriteTable(offset - place_.table_offset, size, value);
  } else if (!InPending(bar, offset)) {
    WriteRegister(bar, offset, size, value);
  }
}

void PciEndpoint::Reset() {
  config_.Reset();
  msix_.Reset();
  ResetRegisters();
}

bool PciEndpoint::ReadMemory(uint64_t address, std::span<std::byte> into) {
  return config_.bus_master() && host_->ReadMemory(address, into);
}

bool PciEndpoint::WriteMemory(uint64_t address,
                              std::span<const std::byte> from) {
  return config_.bus_master() && host_->WriteMemory(address, from);
}

void PciEndpoint::Interrupt(int vector) {
  if (vector >= 0 && vector < msix_.vectors()) msix_.Signal(vector);
}

bool PciEndpoint::InTable(int bar, size_t offset) const {
  return bar == place_.bar && offset >= place_.table_offset &&
         offset < place_.table_offset + msix_.TableSize();
}

bool PciEndpoint::InPending(int bar, size_t offset) const {
  return bar == place_.bar && offset >= place_.pending_offset &&
         offset < place_.pending_offset + msix_.PendingSize();
}

bool PciEndpoint::Inside(int bar, size_t offset, size_t size) const {
  return offset < BarSize(bar) && size <= BarSize(bar) - offset &&
         offset % size == 0;
}

}  // namespace ibemu::hca::model

#include "hca/model/in_process_function.h"

#include <sys/mman.h>
#include <unistd.h>

#include <iterator>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/copy_bytes.h"
#include "base/status_macros.h"
#include "hca/bus/address_space.h"
#include "hca/bus/interrupt_fds.h"
#include "hca/bus/pci_config.h"

namespace ibemu::hca::model {
namespace {

// The address of interrupt messages on a PC.
constexpr uint64_t kInterruptAddress = 0xfee0'0000;

// The range lies above 4 GiB, so that a device that drops the upper half of an
// address is caught.
constexpr AddressSpace::Range kDmaRange{.start = uint64_t{0x77} << 32,
                                        .last = (uint64_t{0x7f} << 32) - 1};

// The MSI-X capability and its table (PCI Local Bus 3.0 section 6.8.2).
constexpr size_t kMsixControl = 2;
constexpr size_t kMsixTablePlace = 4;
constexpr uint32_t kMsixSizeMask = 0x7ff;
constexpr uint32_t kMsixEnable = 0x8000;
constexpr uint32_t kMsixPlaceBarMask = 7;
constexpr size_t kMsixEntry = 16;

}  // namespace

// The mapped memory.  Shared with the Memory objects, which unmap themselves.
class InProcessFunction::Machine {
 public:
  absl::StatusOr<uint64_t> Map(std::span<std::byte> memory) {
    IBEMU_ASSIGN_OR_RETURN(const uint64_t start,
                           addresses_.Take(memory.size()));
    regions_[start] = memory;
    mapped_ += memory.size();
    return start;
  }

  void Unmap(uint64_t iova) {
    const auto region = regions_.find(iova);
    const size_t size = region->second.size();
    addresses_.Return(iova, size);
    mapped_ -= size;
    regions_.erase(region);
  }

  // Returns an empty span unless all of it is mapped.
  std::span<std::byte> Find(uint64_t address, size_t size) const {
    auto region = regions_.upper_bound(address);
    if (region == regions_.begin()) return {};
    region = std::prev(region);
    const uint64_t skipped = address - region->first;
    const std::span<std::byte> memory = region->second;
    if (skipped > memory.size() || memory.size() - skipped < size) return {};
    return memory.subspan(skipped, size);
  }

  size_t mapped() const { return mapped_; }

 private:
  AddressSpace addresses_{{kDmaRange}};
  std::map<uint64_t, std::span<std::byte>> regions_;
  size_t mapped_ = 0;
};

class InProcessFunction::Memory : public DmaMemory {
 public:
  Memory(std::shared_ptr<Machine> machine, std::span<std::byte> bytes,
         uint64_t iova)
      : machine_(std::move(machine)), bytes_(bytes), iova_(iova) {}
  ~Memory() override {
    machine_->Unmap(iova_);
    munmap(bytes_.data(), bytes_.size());
  }

  std::span<std::byte> bytes() override { return bytes_; }
  uint64_t iova() const override { return iova_; }

 private:
  const std::shared_ptr<Machine> machine_;
  const std::span<std::byte> bytes_;
  const uint64_t iova_;
};

class InProcessFunction::ModelBar : public Bar {
 public:
  ModelBar(PciDevice& device, int index) : device_(device), index_(index) {}

  size_t size() const override { return device_.BarSize(index_); }
  uint32_t Read32(size_t offset) override {
    return static_cast<uint32_t>(device_.ReadBar(index_, offset, 4));
  }
  void Write32(size_t offset, uint32_t value) override {
    device_.WriteBar(index_, offset, 4, value);
  }
  void Write64(size_t offset, uint64_t value) override {
    device_.WriteBar(index_, offset, 8, value);
  }

 private:
  PciDevice& device_;
  const int index_;
};

InProcessFunction::InProcessFunction(PciDevice& device)
    : device_(device), machine_(std::make_shared<Machine>()) {
  device_.SetHost(this);
}

// The device outlives its machine, so it is reset as when a machine is switched
// off.
InProcessFunction::~InProcessFunction() { device_.Reset(); }

uint32_t InProcessFunction::ReadConfig(size_t offset, size_t size) {
  return device_.ReadConfig(offset, size);
}

void InProcessFunction::WriteConfig(size_t offset, size_t size,
                                    uint32_t value) {
  device_.WriteConfig(offset, size, value);
}

absl::StatusOr<Bar*> InProcessFunction::OpenBar(int index) {
  if (!IsBar(index) || device_.BarSize(index) == 0) {
    return absl::NotFoundError(
        absl::StrCat("the model has no memory BAR ", index));
  }
  std::unique_ptr<ModelBar>& bar = bars_[static_cast<size_t>(index)];
  if (!bar) bar = std::make_unique<ModelBar>(device_, index);
  return bar.get();
}

absl::StatusOr<std::unique_ptr<DmaMemory>> InProcessFunction::Allocate(
    size_t size) {
  void* const start = mmap(nullptr, size, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (start == MAP_FAILED) {
    return absl::ResourceExhaustedError(
        absl::StrCat("no memory for ", size, " bytes"));
  }
  const std::span<std::byte> memory(static_cast<std::byte*>(start), size);
  auto iova = machine_->Map(memory);
  if (!iova.ok()) {
    munmap(start, size);
    return iova.status();
  }
  return std::make_unique<Memory>(machine_, memory, *iova);
}

absl::Status InProcessFunction::EnableInterrupts(int count) {
  size_t capability = device_.ReadConfig(pci_config::kCapabilities, 1);
  while (capability != 0 &&
         device_.ReadConfig(capability, 1) != pci_config::kMsix) {
    capability = device_.ReadConfig(capability + 1, 1);
  }
  if (capability == 0) {
    return absl::FailedPreconditionError("the model has no MSI-X");
  }
  const uint32_t control = device_.ReadConfig(capability + kMsixControl, 2);
  if (count > static_cast<int>((control & kMsixSizeMask) + 1)) {
    return absl::FailedPreconditionError(
        absl::StrCat("the model has no ", count, " vectors"));
  }
  const uint32_t place = device_.ReadConfig(capability + kMsixTablePlace, 4);
  const int bar = static_cast<int>(place & kMsixPlaceBarMask);
  const size_t table = place & ~kMsixPlaceBarMask;
  IBEMU_ASSIGN_OR_RETURN(interrupts_, MakeInterruptFds(count));
  for (int i = 0; i < count; ++i) {
    const size_t entry = table + kMsixEntry * static_cast<size_t>(i);
    device_.WriteBar(bar, entry, 4, kInterruptAddress);
    device_.WriteBar(bar, entry + 4, 4, 0);
    device_.WriteBar(bar, entry + 8, 4, static_cast<uint32_t>(i));
    device_.WriteBar(bar, entry + 12, 4, 0);
  }
  device_.WriteConfig(capability + kMsixControl, 2, control | kMsixEnable);
  return absl::OkStatus();
}

int InProcessFunction::InterruptFd(int vector) {
  return interrupts_[static_cast<size_t>(vector)].get();
}

size_t InProcessFunction::mapped() const { return machine_->mapped(); }

bool InProcessFunction::ReadMemory(uint64_t address,
                                   std::span<std::byte> into) {
  const std::span<std::byte> memory = machine_->Find(address, into.size());
  if (memory.empty() && !into.empty()) {
    ++faults_;
    return false;
  }
  CopyBytes(memory, into.data());
  return true;
}

bool InProcessFunction::WriteMemory(uint64_t address,
                                    std::span<const std::byte> from) {
  const std::span<std::byte> memory = machine_->Find(address, from.size());
  if (memory.empty() && !from.empty()) {
    ++faults_;
    return false;
  }
  CopyBytes(from, memory.data());
  return true;
}

void InProcessFunction::SignalMessage(uint64_t address, uint32_t data) {
  if (address != kInterruptAddress || data >= interrupts_.size()) return;
  const uint64_t one = 1;
  // This write can fail only when the counter is about to reach 2^64.
  [[maybe_unused]] const ssize_t written =
      write(interrupts_[data].get(), &one, sizeof one);
}

}  // namespace ibemu::hca::model

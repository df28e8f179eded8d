// The machine around a modelled adapter.
#ifndef IBEMU_TESTS_HCA_MODEL_FAKE_PCI_HOST_H_
#define IBEMU_TESTS_HCA_MODEL_FAKE_PCI_HOST_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <memory>
#include <span>

#include "hca/model/pci_device.h"
#include "wire/layout.h"

namespace ibemu::hca::model {

// A FakePciHost has memory from kBase on; the rest of its bus is empty.
class FakePciHost : public PciHost {
 public:
  static constexpr uint64_t kBase = uint64_t{1} << 32;
  static constexpr size_t kBytes = 48 << 20;

  bool ReadMemory(uint64_t address, std::span<std::byte> into) override {
    if (!Mapped(address, into.size())) {
      ++faults;
      return false;
    }
    std::ranges::copy(Bytes(address, into.size()), into.begin());
    return true;
  }
  bool WriteMemory(uint64_t address, std::span<const std::byte> from) override {
    if (!Mapped(address, from.size())) {
      ++faults;
      return false;
    }
    std::ranges::copy(from, Bytes(address, from.size()).begin());
    return true;
  }
  void SignalMessage(uint64_t, uint32_t data) override { ++interrupts[data]; }

  // Zeroed pages.
  uint64_t Allocate(uint64_t bytes) {
    const uint64_t place = kBase + used_;
    used_ += (bytes + 4095) / 4096 * 4096;
    return place;
  }
  template <wire::Structure T>
  T Get(uint64_t address) const {
    return wire::Decode<T>(Bytes(address, wire::kBytes<T>));
  }
  template <wire::Structure T>
  void Put(uint64_t address, const T& value) {
    wire::Encode(value, Bytes(address, wire::kBytes<T>));
  }
  std::span<std::byte> Bytes(uint64_t address, size_t count) const {
    return std::span(memory_.get(), kBytes).subspan(address - kBase, count);
  }
  void PutWord(uint64_t address, uint32_t value) {
    for (size_t i = 0; i < 4; ++i) {
      memory_[address - kBase + i] =
          static_cast<std::byte>(value >> (24 - 8 * i));
    }
  }

  std::map<uint32_t, int> interrupts;  // by vector
  uint64_t unmapped = 0;               // a page that is taken away
  int faults = 0;                      // accesses to what is not there

 private:
  bool Mapped(uint64_t address, size_t bytes) const {
    if (address < kBase || bytes > kBytes || address - kBase > kBytes - bytes) {
      return false;
    }
    return unmapped == 0 || address + bytes <= unmapped ||
           address >= unmapped + 4096;
  }

  struct Free {
    void operator()(std::byte* memory) const { std::free(memory); }
  };
  // Zeros that take no memory until they are written.
  std::unique_ptr<std::byte[], Free> memory_{
      static_cast<std::byte*>(std::calloc(kBytes, 1))};
  uint64_t used_ = 0;
};

}  // namespace ibemu::hca::model

#endif  // IBEMU_TESTS_HCA_MODEL_FAKE_PCI_HOST_H_

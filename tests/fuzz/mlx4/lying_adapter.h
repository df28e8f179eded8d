// An adapter's model between which and its driver a fuzzer has its fingers.
#ifndef IBEMU_TESTS_FUZZ_MLX4_LYING_ADAPTER_H_
#define IBEMU_TESTS_FUZZ_MLX4_LYING_ADAPTER_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "hca/model/pci_device.h"
#include "testing/fuzz_input.h"

namespace ibemu::hca {

// A LyingAdapter is a model whose writes to the host's memory (mailboxes,
// events, completions, messages) and registers the fuzzer changes; and it says
// things that the model never said.
class LyingAdapter : public model::PciDevice, private model::PciHost {
 public:
  // Neither is owned.
  LyingAdapter(model::PciDevice& honest, testing::FuzzInput& input)
      : honest_(honest), input_(input) {
    honest_.SetHost(this);
  }

  // One write to memory, some writes from now, will be another.
  void LieInMemory() {
    lies_.push_back({.wait = input_.Byte(),
                     .offset = input_.Short(),
                     .bytes = Taken(input_.Byte())});
  }
  // So will what one read of a register shows.
  void LieInRegister() {
    const uint8_t wait = input_.Byte();
    register_lies_.push_back(
        {.wait = wait,
         .mask = uint32_t{input_.Short()} << 16 | input_.Short()});
  }
  // The entry of a queue that would come next, as the driver sees it.
  void AddEntry() {
    if (queues_.empty()) return;
    Queue& queue = queues_[input_.Byte() % queues_.size()];
    std::vector<std::byte> entry = Taken(kEntry);
    entry.resize(kEntry);
    const std::byte owner = queue.last & std::byte{0x80};
    entry.back() = (entry.back() & std::byte{0x7f}) | owner;
    queue.address += kEntry;
    host_->WriteMemory(queue.address, entry);
  }
  // Anything, in or behind a place that was written to before.
  void Scribble() {
    if (places_.empty()) return;
    const uint64_t place = places_[input_.Byte() % places_.size()];
    const uint64_t at = place + input_.Byte() * uint64_t{4};
    host_->WriteMemory(at, Taken(input_.Byte()));
  }
  void Interrupt() { host_->SignalMessage(0xfee00000, 0); }

  // model::PciDevice.
  void SetHost(model::PciHost* host) override { host_ = host; }
  uint32_t ReadConfig(size_t offset, size_t size) override {
    return honest_.ReadConfig(offset, size);
  }
  void WriteConfig(size_t offset, size_t size, uint32_t value) override {
    honest_.WriteConfig(offset, size, value);
  }
  size_t BarSize(int bar) const override { return honest_.BarSize(bar); }
  uint64_t ReadBar(int bar, size_t offset, size_t size) override {
    uint64_t value = honest_.ReadBar(bar, offset, size);
    const auto lie = NextOf(register_lies_);
    if (lie) value ^= lie->mask;
    return value;
  }
  void WriteBar(int bar, size_t offset, size_t size, uint64_t value) override {
    honest_.WriteBar(bar, offset, size, value);
  }
  void Reset() override { honest_.Reset(); }

 private:
  static constexpr size_t kEntry = 32;
  static constexpr size_t kMaxPlaces = 64;
  static constexpr uint64_t kPage = 4096;

  struct Lie {
    uint8_t wait = 0;
    uint16_t offset = 0;
    std::vector<std::byte> bytes;
  };
  struct RegisterLie {
    uint8_t wait = 0;
    uint32_t mask = 0;
  };
  // Where its last entry is, and that one's last byte.
  struct Queue {
    uint64_t address = 0;
    std::byte last{};
  };

  std::vector<std::byte> Taken(size_t count) {
    const auto bytes = input_.Take(count);
    return {bytes.begin(), bytes.end()};
  }

  // The first whose time has come; all others come nearer.
  template <class T>
  static std::optional<T> NextOf(std::vector<T>& lies) {
    std::optional<T> next;
    for (auto lie = lies.begin(); lie != lies.end();) {
      if (lie->wait != 0) {
        --lie->wait;
        ++lie;
      } else if (!next) {
        next = *lie;
        lie = lies.erase(lie);
      } else {
        ++lie;
      }
    }
    return next;
  }

  // model::PciHost.
  bool ReadMemory(uint64_t address, std::span<std::byte> into) override {
    return host_->ReadMemory(address, into);
  }
  bool WriteMemory(uint64_t address, std::span<const std::byte> from) override {
    std::vector<std::byte> bytes(from.begin(), from.end());
    const auto lie = NextOf(lies_);
    if (lie && !bytes.empty()) {
      const size_t at = lie->offset % bytes.size();
      const size_t count = std::min(lie->bytes.size(), bytes.size() - at);
      std::copy_n(lie->bytes.begin(), count,
                  bytes.begin() + static_cast<ptrdiff_t>(at));
    }
    const bool written = host_->WriteMemory(address, bytes);
    if (written) Remember(address, bytes);
    return written;
  }
  void SignalMessage(uint64_t address, uint32_t data) override {
    host_->SignalMessage(address, data);
  }

  void Remember(uint64_t address, std::span<const std::byte> bytes) {
    if (places_.size() < kMaxPlaces) places_.push_back(address);
    // Of an entry the owner's byte comes last, by itself.
    if (bytes.size() != 1 || address % kEntry != kEntry - 1) return;
    const Queue entry = {.address = address - (kEntry - 1),
                         .last = bytes.back()};
    const auto queue = std::ranges::find_if(queues_, [&](const Queue& one) {
      return one.address / kPage == address / kPage;
    });
    if (queue != queues_.end()) {
      *queue = entry;
    } else if (queues_.size() < kMaxPlaces) {
      queues_.push_back(entry);
    }
  }

  model::PciDevice& honest_;
  testing::FuzzInput& input_;
  model::PciHost* host_ = nullptr;
  std::vector<Lie> lies_;
  std::vector<RegisterLie> register_lies_;
  std::vector<uint64_t> places_;
  std::vector<Queue> queues_;
};

}  // namespace ibemu::hca

#endif  // IBEMU_TESTS_FUZZ_MLX4_LYING_ADAPTER_H_

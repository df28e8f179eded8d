// A PCI function before another one, with the troubles that a test gives it.
#ifndef IBEMU_TESTS_HCA_MLX4_TROUBLED_FUNCTION_H_
#define IBEMU_TESTS_HCA_MLX4_TROUBLED_FUNCTION_H_

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "hca/bus/pci_config.h"
#include "hca/bus/pci_function.h"

namespace ibemu::hca {

class TroubledFunction : public PciFunction {
 public:
  explicit TroubledFunction(PciFunction& function) : function_(function) {}

  // It was pulled out: it hears nothing, and all reads as ones, but for the ids
  // that vfio-pci knows by heart.
  bool gone = false;
  // As much as there is in one piece, in bytes.
  size_t longest_piece = std::numeric_limits<size_t>::max();
  // A BAR has no more bytes.
  size_t longest_bar = std::numeric_limits<size_t>::max();

  uint32_t ReadConfig(size_t offset, size_t size) override {
    if (!gone || offset < pci_config::kCommand) {
      return function_.ReadConfig(offset, size);
    }
    return kOnes >> (32 - 8 * size);
  }
  void WriteConfig(size_t offset, size_t size, uint32_t value) override {
    if (!gone) function_.WriteConfig(offset, size, value);
  }
  absl::StatusOr<Bar*> OpenBar(int index) override {
    auto opened = function_.OpenBar(index);
    if (!opened.ok()) return opened;
    auto& bar = bars_[static_cast<size_t>(index)];
    if (!bar) bar = std::make_unique<TroubledBar>(*this, **opened);
    return bar.get();
  }
  absl::StatusOr<std::unique_ptr<DmaMemory>> Allocate(size_t size) override {
    if (size > longest_piece) {
      return absl::ResourceExhaustedError("not in one piece");
    }
    return function_.Allocate(size);
  }
  absl::Status EnableInterrupts(int count) override {
    return function_.EnableInterrupts(count);
  }
  int InterruptFd(int vector) override { return function_.InterruptFd(vector); }

 private:
  static constexpr uint32_t kOnes = ~uint32_t{0};

  class TroubledBar : public Bar {
   public:
    TroubledBar(const TroubledFunction& function, Bar& bar)
        : function_(function), bar_(bar) {}

    size_t size() const override {
      return std::min(bar_.size(), function_.longest_bar);
    }
    uint32_t Read32(size_t offset) override {
      return function_.gone ? kOnes : bar_.Read32(offset);
    }
    void Write32(size_t offset, uint32_t value) override {
      if (!function_.gone) bar_.Write32(offset, value);
    }
    void Write64(size_t offset, uint64_t value) override {
      if (!function_.gone) bar_.Write64(offset, value);
    }

   private:
    const TroubledFunction& function_;
    Bar& bar_;
  };

  PciFunction& function_;
  std::array<std::unique_ptr<Bar>, kBars> bars_;
};

}  // namespace ibemu::hca

#endif  // IBEMU_TESTS_HCA_MLX4_TROUBLED_FUNCTION_H_

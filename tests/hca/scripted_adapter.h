// A PCI function whose registers are memory, and whose command register does
// what a test says.
#ifndef IBEMU_TESTS_HCA_SCRIPTED_ADAPTER_H_
#define IBEMU_TESTS_HCA_SCRIPTED_ADAPTER_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "hca/bus/big_endian.h"
#include "hca/bus/pci_function.h"
#include "hca/prm/mlx4_registers.h"

namespace ibemu::hca::mlx4 {

// A command that the driver posted, and how it ends.
struct ScriptedCommand {
  uint64_t in_parameter = 0;
  uint32_t in_modifier = 0;
  uint64_t out_parameter = 0;
  uint32_t status_word = 0;

  int opcode() const {
    return static_cast<int>(status_word & prm::kHcrOpcodeMask);
  }
};

class ScriptedAdapter : public PciFunction, public Bar {
 public:
  // The status word that the driver finds next; none: it stays posted.
  using Script = std::function<std::optional<uint32_t>(const ScriptedCommand&)>;

  static uint32_t Done(const ScriptedCommand& command, uint32_t status = 0) {
    return (command.status_word & ~prm::kHcrGo) | status
                                                      << prm::kHcrStatusShift;
  }

  ScriptedAdapter() : registers_(0x100000 / 4) {
    config_[0] = uint32_t{prm::kConnectX3} << 16 | prm::kMellanoxVendor;
  }

  void SetScript(Script script) { script_ = std::move(script); }
  // Values as the adapter sees them.
  uint32_t Get(size_t offset) const { return registers_[offset / 4]; }
  void Set(size_t offset, uint32_t value) { registers_[offset / 4] = value; }

  std::vector<ScriptedCommand> commands;
  std::function<void(size_t offset, uint32_t value)> on_write = [](size_t,
                                                                   uint32_t) {};

  // Bar.
  size_t size() const override { return registers_.size() * 4; }
  uint32_t Read32(size_t offset) override {
    const uint32_t value = Get(offset);
    // Who reads the semaphore takes it.
    if (offset == prm::kOwner) Set(offset, 1);
    return SwapBytes(value);
  }
  void Write32(size_t offset, uint32_t value) override {
    value = SwapBytes(value);
    Set(offset, value);
    on_write(offset, value);
    if (offset == prm::kHcr + prm::kHcrStatus) Post(value);
  }
  void Write64(size_t, uint64_t) override {}

  // PciFunction.
  uint32_t ReadConfig(size_t offset, size_t size) override {
    const uint32_t word = config_[offset & ~size_t{3}] >> offset % 4 * 8;
    return size == 4 ? word : word & ((1u << size * 8) - 1);
  }
  void WriteConfig(size_t offset, size_t size, uint32_t value) override {
    uint32_t& word = config_[offset & ~size_t{3}];
    const uint32_t mask = size == 4 ? ~uint32_t{0} : (1u << size * 8) - 1;
    const auto shift = static_cast<uint32_t>(offset % 4 * 8);
    word = (word & ~(mask << shift)) | (value & mask) << shift;
  }
  absl::StatusOr<Bar*> OpenBar(int) override { return this; }
  absl::StatusOr<std::unique_ptr<DmaMemory>> Allocate(size_t size) override {
    return std::make_unique<Memory>(size);
  }
  absl::Status EnableInterrupts(int) override {
    return absl::FailedPreconditionError("not scripted");
  }
  int InterruptFd(int) override { return -1; }

 private:
  // Its bus address is its pointer.
  class Memory : public DmaMemory {
   public:
    explicit Memory(size_t size) : bytes_(size) {}
    std::span<std::byte> bytes() override { return bytes_; }
    uint64_t iova() const override {
      return reinterpret_cast<uint64_t>(bytes_.data());
    }

   private:
    std::vector<std::byte> bytes_;
  };

  void Post(uint32_t status_word) {
    const auto pair = [this](size_t offset) {
      return uint64_t{Get(prm::kHcr + offset)} << 32 |
             Get(prm::kHcr + offset + 4);
    };
    commands.push_back({.in_parameter = pair(prm::kHcrInParam),
                        .in_modifier = Get(prm::kHcr + prm::kHcrInModifier),
                        .out_parameter = pair(prm::kHcrOutParam),
                        .status_word = status_word});
    if (const auto answer = script_(commands.back())) {
      Set(prm::kHcr + prm::kHcrStatus, *answer);
    }
  }

  std::vector<uint32_t> registers_;
  std::map<size_t, uint32_t> config_;
  Script script_ = [](const ScriptedCommand& command) {
    return std::optional(Done(command));
  };
};

}  // namespace ibemu::hca::mlx4

#endif  // IBEMU_TESTS_HCA_SCRIPTED_ADAPTER_H_

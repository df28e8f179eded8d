// Hcr: the command register (HCR).
#ifndef IBEMU_HCA_MODEL_MLX4_FIRMWARE_HCR_H_
#define IBEMU_HCA_MODEL_MLX4_FIRMWARE_HCR_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "hca/model/mlx4/core/command.h"
#include "hca/prm/mlx4_registers.h"

namespace ibemu::hca::model::mlx4 {

// The seven dwords of the register.  Software writes six, then the last with
// GO.  The adapter clears GO when the command is done, and leaves the toggle
// bit as it was given.  While GO is set the register is the adapter's, and
// writes by software are ignored.  Each command must have the opposite toggle
// bit of the one before, because that is how software sees that it was done;
// the first after a reset may have either.
class Hcr {
 public:
  struct Posted {
    CommandRequest request;
    uint16_t token = 0;
    bool by_event = false;
  };

  // Returns a dword in host order.  `offset` is in bytes from kHcr.
  uint32_t Read(size_t offset) const { return words_[offset / 4]; }
  // Writes a dword.  Returns the command if this write posted one.
  std::optional<Posted> Write(size_t offset, uint32_t value);

  // Ends the command that Write() returned.  For one that completes by an
  // event, only GO changes in the register.
  void Complete(const CommandReply& reply);

  bool busy() const { return (words_[kStatusWord] & prm::kHcrGo) != 0; }
  // The number of protocol violations by software since power-on: writes to the
  // register while it was the adapter's, and commands with an unchanged toggle
  // bit.
  int violations() const { return violations_; }

  void Reset() {
    words_ = {};
    last_toggle_.reset();
  }

 private:
  static constexpr size_t kStatusWord = prm::kHcrStatus / 4;

  uint64_t Quad(size_t offset) const {
    return uint64_t{words_[offset / 4]} << 32 | words_[offset / 4 + 1];
  }

  std::array<uint32_t, prm::kHcrBytes / 4> words_{};
  std::optional<uint32_t> last_toggle_;  // kHcrToggle or 0
  int violations_ = 0;
};

}  // namespace ibemu::hca::model::mlx4

#endif  // IBEMU_HCA_MODEL_MLX4_FIRMWARE_HCR_H_

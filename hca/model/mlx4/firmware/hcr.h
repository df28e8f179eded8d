// The command register, HCR.
#ifndef IBEMU_HCA_MODEL_MLX4_FIRMWARE_HCR_H_
#define IBEMU_HCA_MODEL_MLX4_FIRMWARE_HCR_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "hca/model/mlx4/core/command.h"
#include "hca/prm/mlx4_registers.h"

namespace ibemu::hca::model::mlx4 {

// Seven dwords.  Software writes six, then the last with GO; the adapter clears
// GO when it is done, and leaves the toggle bit as it was given.  While GO is
// set the register is the adapter's: what software writes is ignored.  Each
// command has the other toggle bit than the one before, for that is how
// software sees that it was done; the first after a reset has either.
class Hcr {
 public:
  struct Posted {
    CommandRequest request;
    uint16_t token = 0;
    bool by_event = false;
  };

  // `offset`: of a dword, from kHcr.  Values are host-order.
  uint32_t Read(size_t offset) const { return words_[offset / 4]; }
  // A command, when this write gave one.
  std::optional<Posted> Write(size_t offset, uint32_t value);

  // The command that Write() gave is done.  One that completes by an event
  // leaves nothing in the register but GO.
  void Complete(const CommandReply& reply);

  bool busy() const { return (words_[kStatusWord] & prm::kHcrGo) != 0; }
  // How often software wrote to it while it was the adapter's, or left the
  // toggle bit as it was; since power-on.
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
  std::optional<uint32_t> last_toggle_;  // kHcrToggle, or 0
  int violations_ = 0;
};

}  // namespace ibemu::hca::model::mlx4

#endif  // IBEMU_HCA_MODEL_MLX4_FIRMWARE_HCR_H_

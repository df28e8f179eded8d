#include "hca/model/mlx4/firmware/hcr.h"

namespace ibemu::hca::model::mlx4 {

std::optional<Hcr::Posted> Hcr::Write(size_t offset, uint32_t value) {
  if (busy()) {
    ++violations_;
    return std::nullopt;
  }
  words_[offset / 4] = value;
  if (offset != prm::kHcrStatus || (value & prm::kHcrGo) == 0) {
    return std::nullopt;
  }
  const uint32_t toggle = value & prm::kHcrToggle;
  if (last_toggle_ == toggle) ++violations_;
  last_toggle_ = toggle;
  constexpr uint32_t kOpModifierMask = 0xf;
  return Posted{
      .request = {.opcode =
                      static_cast<prm::Opcode>(value & prm::kHcrOpcodeMask),
                  .op_modifier = static_cast<uint8_t>(
                      value >> prm::kHcrOpModifierShift & kOpModifierMask),
                  .in_modifier = words_[prm::kHcrInModifier / 4],
                  .in_param = Quad(prm::kHcrInParam),
                  .out_param = Quad(prm::kHcrOutParam)},
      .token = static_cast<uint16_t>(words_[prm::kHcrToken / 4] >> 16),
      .by_event = (value & prm::kHcrEvent) != 0};
}

void Hcr::Complete(const CommandReply& reply) {
  uint32_t& status = words_[kStatusWord];
  const bool by_event = (status & prm::kHcrEvent) != 0;
  status &= ~prm::kHcrGo & 0x00ffffff;
  if (by_event) return;
  status |= uint32_t{static_cast<uint8_t>(reply.status)}
            << prm::kHcrStatusShift;
  words_[prm::kHcrOutParam / 4] = static_cast<uint32_t>(reply.out_param >> 32);
  words_[prm::kHcrOutParam / 4 + 1] = static_cast<uint32_t>(reply.out_param);
}

}  // namespace ibemu::hca::model::mlx4

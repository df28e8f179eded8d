// What a test makes go wrong in an adapter.
#ifndef IBEMU_HCA_MODEL_MLX4_FAULT_PLAN_H_
#define IBEMU_HCA_MODEL_MLX4_FAULT_PLAN_H_

#include <cstdint>
#include <map>
#include <optional>
#include <set>

#include "hca/prm/mlx4_commands.h"

namespace ibemu::hca::model {

class FaultPlan {
 public:
  // The next `times` commands of this kind end with `status`, undone.
  void Refuse(prm::Opcode opcode, prm::CommandStatus status, int times = 1) {
    refused_[opcode] = {status, times};
  }
  // The next command of this kind never ends: GO stays set until a reset.
  void Hang(prm::Opcode opcode) { hanging_.insert(opcode); }
  // The next `count` interrupts are not sent.
  void LoseInterrupts(int count) { lost_interrupts_ += count; }

  // For the adapter: what becomes of this one.
  std::optional<prm::CommandStatus> TakeRefusal(prm::Opcode opcode) {
    const auto refusal = refused_.find(opcode);
    if (refusal == refused_.end()) return std::nullopt;
    const prm::CommandStatus status = refusal->second.status;
    if (--refusal->second.times == 0) refused_.erase(refusal);
    return status;
  }
  bool TakeHang(prm::Opcode opcode) { return hanging_.erase(opcode) != 0; }
  bool TakeInterrupt() {
    if (lost_interrupts_ == 0) return false;
    --lost_interrupts_;
    return true;
  }

 private:
  struct Refusal {
    prm::CommandStatus status{};
    int times = 0;
  };
  std::map<prm::Opcode, Refusal> refused_;
  std::set<prm::Opcode> hanging_;
  int lost_interrupts_ = 0;
};

}  // namespace ibemu::hca::model

#endif  // IBEMU_HCA_MODEL_MLX4_FAULT_PLAN_H_

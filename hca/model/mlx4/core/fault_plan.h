// FaultPlan: faults that a test injects into an adapter.
#ifndef IBEMU_HCA_MODEL_MLX4_CORE_FAULT_PLAN_H_
#define IBEMU_HCA_MODEL_MLX4_CORE_FAULT_PLAN_H_

#include <cstdint>
#include <map>
#include <optional>
#include <set>

#include "hca/prm/mlx4_commands.h"

namespace ibemu::hca::model {

// The faults to come.  A test adds them, and the adapter takes each one when it
// is due.
class FaultPlan {
 public:
  // The next `times` commands of this kind are not executed, and end with
  // `status`.
  void Refuse(prm::Opcode opcode, prm::CommandStatus status, int times = 1) {
    refused_[opcode] = {status, times};
  }
  // The next command of this kind never ends: GO stays set until a reset.
  void Hang(prm::Opcode opcode) { hanging_.insert(opcode); }
  // The next `count` interrupts are not sent.
  void LoseInterrupts(int count) { lost_interrupts_ += count; }
  // The next `count` packets that queue pairs 0 and 1 send fail before they
  // reach the wire.
  void FailSends(int count) { failing_sends_ += count; }
  // From now on firmware denies subnet management to its host.
  void SecureHost() { secure_host_ = true; }

  // For the adapter: take the fault, if any, of the current operation.
  std::optional<prm::CommandStatus> TakeRefusal(prm::Opcode opcode) {
    const auto refusal = refused_.find(opcode);
    if (refusal == refused_.end()) return std::nullopt;
    const prm::CommandStatus status = refusal->second.status;
    if (--refusal->second.times == 0) refused_.erase(refusal);
    return status;
  }
  bool TakeHang(prm::Opcode opcode) { return hanging_.erase(opcode) != 0; }
  bool TakeInterrupt() { return Take(lost_interrupts_); }
  bool TakeSendFailure() { return Take(failing_sends_); }
  bool secure_host() const { return secure_host_; }

 private:
  struct Refusal {
    prm::CommandStatus status{};
    int times = 0;
  };

  static bool Take(int& count) {
    if (count == 0) return false;
    --count;
    return true;
  }

  std::map<prm::Opcode, Refusal> refused_;
  std::set<prm::Opcode> hanging_;
  int lost_interrupts_ = 0;
  int failing_sends_ = 0;
  bool secure_host_ = false;
};

}  // namespace ibemu::hca::model

#endif  // IBEMU_HCA_MODEL_MLX4_CORE_FAULT_PLAN_H_

// Core: the state that all parts of the adapter share.
#ifndef IBEMU_HCA_MODEL_MLX4_CORE_CORE_H_
#define IBEMU_HCA_MODEL_MLX4_CORE_CORE_H_

#include <cstdint>

#include "base/timers.h"
#include "hca/model/mlx4/core/fault_plan.h"
#include "hca/model/mlx4/core/host_memory.h"
#include "hca/model/mlx4/core/icm.h"
#include "hca/model/mlx4/core/queue_use.h"
#include "hca/prm/mlx4_commands.h"
#include "hca/prm/mlx4_dev_cap.h"
#include "hca/prm/mlx4_hca.h"

namespace ibemu::hca::model::mlx4 {

// The limits, the host's memory, and the place of the tables as set by
// INIT_HCA.
struct Core {
  Core(HostMemory& host_memory, Timers& time, FaultPlan& plan,
       const prm::QueryDevCap& limits)
      : host(host_memory),
        timers(time),
        faults(plan),
        cap(limits),
        icm(host_memory) {}

  HostMemory& host;
  Timers& timers;
  FaultPlan& faults;
  prm::QueryDevCap cap;
  Icm icm;
  prm::HcaTables tables;  // valid after INIT_HCA
  QueueUses ended;        // queues that were the adapter's, since power-on

  int qp_count() const { return 1 << prm::TableLog(tables.qpc); }
  int srq_count() const { return 1 << prm::TableLog(tables.srqc); }
  int cq_count() const { return 1 << prm::TableLog(tables.cqc); }
  int eq_count() const { return 1 << prm::TableLog(tables.eqc); }
  uint32_t mpt_count() const { return 1u << tables.log_dmpt_sz; }

  // Check that software may use object `index`, and that the object has its
  // memory in ICM: its context, its cMPT and whatever else belongs to it.  They
  // return BAD_INDEX if there are not that many objects, BAD_RESOURCE if the
  // object is reserved for firmware, and ICM_ERROR if it has no memory.
  prm::CommandStatus CheckQp(uint32_t index) const;
  prm::CommandStatus CheckSrq(uint32_t index) const;
  prm::CommandStatus CheckCq(uint32_t index) const;
  prm::CommandStatus CheckEq(uint32_t index) const;
  prm::CommandStatus CheckMpt(uint32_t index) const;

 private:
  bool HasCmpt(prm::CmptType type, uint32_t index) const;
  bool HasEntry(uint64_t base, uint32_t index, uint64_t bytes) const {
    return icm.Contains(base + index * bytes, bytes);
  }
};

}  // namespace ibemu::hca::model::mlx4

#endif  // IBEMU_HCA_MODEL_MLX4_CORE_CORE_H_

#include "hca/model/mlx4/core/core.h"

#include <algorithm>

namespace ibemu::hca::model::mlx4 {

using Status = prm::CommandStatus;

namespace {

Status CheckNumber(uint32_t index, int count, uint32_t reserved) {
  if (index >= static_cast<uint32_t>(count)) return Status::kBadIndex;
  if (index < reserved) return Status::kBadResource;
  return Status::kOk;
}

}  // namespace

bool Core::HasCmpt(prm::CmptType type, uint32_t index) const {
  const uint64_t size = cap.c_mpt_entry_sz;
  const uint64_t base = tables.cmpt_base +
                        (static_cast<uint64_t>(type) * size << prm::kCmptShift);
  return HasEntry(base, index, size);
}

Status Core::CheckQp(uint32_t index) const {
  const Status status = CheckNumber(index, qp_count(), 1u << cap.log_rsvd_qp);
  if (status != Status::kOk) return status;
  const uint64_t rdmarc = uint64_t{cap.rdmarc_entry_sz}
                          << prm::RdmarcLog(tables.rdmarc);
  const bool mapped =
      HasEntry(prm::TableBase(tables.qpc), index, cap.qpc_entry_sz) &&
      HasEntry(tables.auxc_base, index, cap.aux_entry_sz) &&
      HasEntry(tables.altc_base, index, cap.altc_entry_sz) &&
      HasEntry(prm::TableBase(tables.rdmarc), index, rdmarc) &&
      HasCmpt(prm::CmptType::kQp, index);
  return mapped ? Status::kOk : Status::kIcmError;
}

Status Core::CheckSrq(uint32_t index) const {
  const Status status = CheckNumber(index, srq_count(), 1u << cap.log_rsvd_srq);
  if (status != Status::kOk) return status;
  return HasEntry(prm::TableBase(tables.srqc), index, cap.srqc_entry_sz) &&
                 HasCmpt(prm::CmptType::kSrq, index)
             ? Status::kOk
             : Status::kIcmError;
}

Status Core::CheckCq(uint32_t index) const {
  const Status status = CheckNumber(index, cq_count(), 1u << cap.log_rsvd_cq);
  if (status != Status::kOk) return status;
  return HasEntry(prm::TableBase(tables.cqc), index, cap.cqc_entry_sz) &&
                 HasCmpt(prm::CmptType::kCq, index)
             ? Status::kOk
             : Status::kIcmError;
}

Status Core::CheckEq(uint32_t index) const {
  // An EQ whose doorbell would be on a reserved UAR page is reserved as well.
  constexpr uint32_t kEqsOfUar = 4;
  const uint32_t reserved =
      std::max(1u << cap.log_rsvd_eq, cap.num_rsvd_uar * kEqsOfUar);
  const Status status = CheckNumber(index, eq_count(), reserved);
  if (status != Status::kOk) return status;
  return HasEntry(prm::TableBase(tables.eqc), index, cap.eqc_entry_sz) &&
                 HasCmpt(prm::CmptType::kEq, index)
             ? Status::kOk
             : Status::kIcmError;
}

Status Core::CheckMpt(uint32_t index) const {
  if (index >= mpt_count()) return Status::kBadIndex;
  if (index < 1u << cap.log_rsvd_mrw) return Status::kBadResource;
  return HasEntry(tables.dmpt_base, index, cap.d_mpt_entry_sz)
             ? Status::kOk
             : Status::kIcmError;
}

}  // namespace ibemu::hca::model::mlx4

#include "hca/model/mlx4/core/table_layout.h"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace ibemu::hca::model::mlx4 {

bool TablesOverlap(const prm::QueryDevCap& cap, const prm::HcaTables& tables) {
  struct Extent {
    uint64_t base = 0;
    uint64_t bytes = 0;
  };
  const int log_qps = prm::TableLog(tables.qpc);
  const int log_srqs = prm::TableLog(tables.srqc);
  const int log_cqs = prm::TableLog(tables.cqc);
  const int log_eqs = prm::TableLog(tables.eqc);
  const auto table = [](uint64_t base, uint64_t entry_bytes, int log_entries) {
    return Extent{base, entry_bytes << log_entries};
  };
  const auto cmpts = [&](prm::CmptType type, int log_entries) {
    const uint64_t entry_bytes = cap.c_mpt_entry_sz;
    return table(tables.cmpt_base + (static_cast<uint64_t>(type) * entry_bytes
                                     << prm::kCmptShift),
                 entry_bytes, log_entries);
  };
  std::vector<Extent> extents = {
      table(prm::TableBase(tables.qpc), cap.qpc_entry_sz, log_qps),
      table(prm::TableBase(tables.srqc), cap.srqc_entry_sz, log_srqs),
      table(prm::TableBase(tables.cqc), cap.cqc_entry_sz, log_cqs),
      table(prm::TableBase(tables.eqc), cap.eqc_entry_sz, log_eqs),
      table(tables.altc_base, cap.altc_entry_sz, log_qps),
      table(tables.auxc_base, cap.aux_entry_sz, log_qps),
      table(prm::TableBase(tables.rdmarc),
            uint64_t{cap.rdmarc_entry_sz} << prm::RdmarcLog(tables.rdmarc),
            log_qps),
      table(tables.mc_base, uint64_t{1} << tables.log_mc_entry_sz,
            tables.log_mc_table_sz),
      table(tables.dmpt_base, cap.d_mpt_entry_sz, tables.log_dmpt_sz),
      table(tables.mtt_base, cap.mtt_entry_sz, cap.log_rsvd_mtt),
      cmpts(prm::CmptType::kQp, log_qps),
      cmpts(prm::CmptType::kSrq, log_srqs),
      cmpts(prm::CmptType::kCq, log_cqs),
      cmpts(prm::CmptType::kEq, log_eqs),
  };
  std::ranges::sort(extents, {}, &Extent::base);
  uint64_t end = 0;
  for (const Extent& extent : extents) {
    if (extent.base < end || extent.base + extent.bytes < extent.base) {
      return true;
    }
    end = extent.base + extent.bytes;
  }
  return false;
}

}  // namespace ibemu::hca::model::mlx4

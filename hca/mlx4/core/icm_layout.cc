#include "hca/mlx4/core/icm_layout.h"

#include <algorithm>
#include <bit>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_format.h"
#include "hca/prm/mlx4_registers.h"

namespace ibemu::hca::mlx4 {
namespace {

constexpr uint64_t kIcmPage = 4096;

// Logs of the numbers of entries that ibemu has use for, including those that
// firmware keeps.
constexpr int kLogQps = 12;
constexpr int kLogSrqs = 10;
constexpr int kLogCqs = 12;
constexpr int kLogEqs = 6;
constexpr int kLogMpts = 14;
constexpr int kLogMtts = 20;
constexpr int kLogGroups = 8;

// Returns the log of a table's number of entries: `wanted`, but at least twice
// those that firmware keeps, and no more than `most`.
int LogCount(int wanted, int kept, int most) {
  return std::min(std::max(wanted, kept + 1), most);
}

IcmRegion Region(uint64_t entry_size, int log_entries,
                 uint64_t firmware_entries) {
  return {.entry_size = std::bit_ceil(std::max<uint64_t>(entry_size, 1)),
          .log_entries = log_entries,
          .firmware_entries = firmware_entries};
}

uint64_t Power(int log) { return uint64_t{1} << log; }

}  // namespace

uint32_t ReservedEqs(const prm::QueryDevCap& caps) {
  return std::max(1u << caps.log_rsvd_eq,
                  uint32_t{prm::kEqsPerUar} * caps.num_rsvd_uar);
}

absl::StatusOr<IcmLayout> MakeIcmLayout(const prm::QueryDevCap& caps) {
  using enum IcmTable;
  IcmLayout layout;
  const int log_qps = LogCount(kLogQps, caps.log_rsvd_qp, caps.log_max_qp);
  const int log_srqs = LogCount(kLogSrqs, caps.log_rsvd_srq, caps.log_max_srq);
  const int log_cqs = LogCount(kLogCqs, caps.log_rsvd_cq, caps.log_max_cq);
  const auto log_kept_eqs =
      static_cast<int>(std::bit_width(ReservedEqs(caps) - 1));
  const int log_eqs = LogCount(kLogEqs, log_kept_eqs, caps.log_max_eq);
  const uint64_t kept_qps = Power(caps.log_rsvd_qp);

  layout[kQp] = Region(caps.qpc_entry_sz, log_qps, kept_qps);
  layout[kRdmaReads] = Region(caps.rdmarc_entry_sz, log_qps + kLogRdmaReads,
                              kept_qps << kLogRdmaReads);
  layout[kAlternatePath] = Region(caps.altc_entry_sz, log_qps, kept_qps);
  layout[kAuxiliary] = Region(caps.aux_entry_sz, log_qps, kept_qps);
  layout[kSrq] = Region(caps.srqc_entry_sz, log_srqs, Power(caps.log_rsvd_srq));
  layout[kCq] = Region(caps.cqc_entry_sz, log_cqs, Power(caps.log_rsvd_cq));
  layout[kEq] = Region(caps.eqc_entry_sz, log_eqs, Power(log_eqs));
  layout[kMpt] = Region(caps.d_mpt_entry_sz,
                        LogCount(kLogMpts, caps.log_rsvd_mrw, caps.log_max_mpt),
                        Power(caps.log_rsvd_mrw));
  layout[kMtt] = Region(caps.mtt_entry_sz,
                        LogCount(kLogMtts, caps.log_rsvd_mtt, caps.log_max_mtt),
                        Power(caps.log_rsvd_mtt));
  // Hardware walks the whole hash table, so all of it is mapped from the start.
  layout[kMulticast] =
      Region(Power(kLogMulticastEntry), kLogGroups + 1, Power(kLogGroups + 1));

  // The cMPTs of the four kinds lie at fixed distances in one table.
  IcmRegion object_mpts =
      Region(caps.c_mpt_entry_sz, prm::kCmptShift + 2, /*firmware_entries=*/0);

  std::vector<IcmRegion*> order = {&object_mpts};
  for (const IcmTable table : {kQp, kRdmaReads, kAlternatePath, kAuxiliary,
                               kSrq, kCq, kEq, kMpt, kMtt, kMulticast}) {
    order.push_back(&layout[table]);
  }
  const auto size = [](const IcmRegion* region) {
    return std::max(region->size(), kIcmPage);
  };
  std::ranges::stable_sort(order, std::ranges::greater(), size);
  for (IcmRegion* const region : order) {
    region->start = layout.size;
    layout.size += size(region);
  }
  if (layout.size > caps.max_icm_sz) {
    return absl::FailedPreconditionError(absl::StrFormat(
        "the adapter addresses %d bytes of context memory, and its tables need "
        "%d",
        caps.max_icm_sz, layout.size));
  }

  const auto object_mpt = [&](prm::CmptType type, const IcmRegion& objects) {
    IcmRegion region = objects;
    region.entry_size = object_mpts.entry_size;
    region.start =
        object_mpts.start +
        (static_cast<uint64_t>(type) * region.entry_size << prm::kCmptShift);
    return region;
  };
  layout[kQpMpt] = object_mpt(prm::CmptType::kQp, layout[kQp]);
  layout[kSrqMpt] = object_mpt(prm::CmptType::kSrq, layout[kSrq]);
  layout[kCqMpt] = object_mpt(prm::CmptType::kCq, layout[kCq]);
  layout[kEqMpt] = object_mpt(prm::CmptType::kEq, layout[kEq]);
  return layout;
}

prm::HcaTables TablesOf(const IcmLayout& layout) {
  using enum IcmTable;
  const auto word = [&layout](IcmTable table) {
    return prm::TableWord(layout[table].start, layout[table].log_entries);
  };
  prm::HcaTables tables;
  tables.check_ud_port = true;
  tables.qpc = word(kQp);
  tables.srqc = word(kSrq);
  tables.cqc = word(kCq);
  tables.eqc = word(kEq);
  tables.altc_base = layout[kAlternatePath].start;
  tables.auxc_base = layout[kAuxiliary].start;
  tables.rdmarc = prm::TableWord(layout[kRdmaReads].start, kLogRdmaReads);
  tables.mc_base = layout[kMulticast].start;
  tables.log_mc_entry_sz = kLogMulticastEntry;
  tables.log_mc_table_sz = static_cast<uint8_t>(layout[kMulticast].log_entries);
  tables.log_mc_hash_sz =
      static_cast<uint8_t>(layout[kMulticast].log_entries - 1);
  tables.dmpt_base = layout[kMpt].start;
  tables.log_dmpt_sz = static_cast<uint8_t>(layout[kMpt].log_entries);
  tables.mtt_base = layout[kMtt].start;
  tables.cmpt_base = layout[kQpMpt].start;
  return tables;
}

}  // namespace ibemu::hca::mlx4
